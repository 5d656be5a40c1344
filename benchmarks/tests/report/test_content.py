"""Numeric columns are distinguished from text columns."""

import pytest

from eddi_benchmarks.report.content import ReportTable


@pytest.mark.parametrize(
    ("cells", "is_numeric"),
    [
        (("5.1", "-3", "+0.2", "\N{MINUS SIGN}0.5"), True),
        (("5.10 ± 0.02", "1,200", "12%", "(3)"), True),
        (("< 0.001", "<0.01", "≈ 5", ".5"), True),
        (("5.1", "\N{EN DASH}", "", "n/a"), True),
        (("\N{EN DASH}", ""), False),
        (("5.1", "none"), False),
        (("EDDI", "RAND"), False),
    ],
)
def test_a_column_is_numeric_if_every_cell_is_a_number_or_empty(cells, is_numeric):
    table = ReportTable("", ("name", "value"), tuple(("row", cell) for cell in cells))
    assert table.is_numeric(1) is is_numeric


def test_the_first_column_names_the_rows_even_if_it_holds_numbers():
    assert not ReportTable("", ("step",), (("1",), ("2",))).is_numeric(0)
