"""`eddi impute`: output files, large tables and engines."""

from pathlib import Path

import pyarrow.parquet as pq
import pytest
from typer.testing import CliRunner

from eddi.cli import app
from eddi.cli.impute import number_path
from eddi.table import formats, streaming


@pytest.fixture
def folder(model, people, tmp_path, monkeypatch):
    """The working folder, with a model and a table as CSV and as Parquet."""
    monkeypatch.chdir(tmp_path)
    model.save("people.eddi")
    table = people(40, seed=3)
    table.to_csv("people.csv", index=False)
    pq.write_table(formats.read(table), "people.parquet", row_group_size=9)
    return tmp_path


@pytest.fixture
def stream_all_files(monkeypatch):
    """Treat every Parquet file as too large for memory."""
    monkeypatch.setattr(streaming, "MAX_CELLS_IN_MEMORY", 10)


def impute(*arguments):
    return CliRunner().invoke(app, ["impute", "people.eddi", *arguments])


def test_draws_are_numbered_before_all_suffixes():
    assert number_path(Path("a b/filled.csv.gz"), 3) == Path("a b/filled-3.csv.gz")
    assert number_path(Path("filled"), 1) == Path("filled-1")


@pytest.mark.usefixtures("stream_all_files")
def test_a_large_file_is_imputed_into_parquet(model, folder):
    assert impute("people.parquet", "-o", "filled.parquet").exit_code == 0
    expected = model.transform(formats.read(folder / "people.parquet"))
    assert formats.read(folder / "filled.parquet").equals(expected)


@pytest.mark.usefixtures("folder", "stream_all_files")
def test_a_large_file_cannot_be_imputed_into_another_format():
    result = impute("people.parquet", "-o", "filled.csv")
    assert result.exit_code == 1
    assert "-o filled.parquet" in result.stderr


@pytest.mark.usefixtures("folder")
def test_an_unknown_engine_is_wrong_usage():
    assert impute("people.csv", "--engine", "dask").exit_code == 2
