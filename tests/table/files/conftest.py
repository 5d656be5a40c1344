"""Excel files built cell by cell, with content that no program would write."""

import pytest

from eddi_benchmarks.faults.workbooks import write_xls, write_xlsx


@pytest.fixture
def xlsx(tmp_path):
    """A function that writes a workbook whose only sheet has these rows, as XML, and returns its path."""

    def write(rows, **members):
        path = tmp_path / "t.xlsx"
        path.write_bytes(write_xlsx(rows, members))
        return path

    return write


@pytest.fixture
def xls(tmp_path):
    """A function that writes an old workbook with these cells, as {(row, column): number}."""

    def write(cells, n_padding=0):
        path = tmp_path / "t.xls"
        path.write_bytes(write_xls(cells, n_padding))
        return path

    return write
