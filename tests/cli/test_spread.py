"""Verbs whose work can be spread, and tables that stay on disk, at the command line."""

import json

import pyarrow.parquet as pq
import pytest
from typer.testing import CliRunner

from eddi.cli.app import app
from eddi.table import formats, streaming


@pytest.fixture
def folder(model, people, tmp_path, monkeypatch):
    """A model and a table, as CSV and as Parquet."""
    monkeypatch.chdir(tmp_path)
    model.save("people.eddi")
    table = people(40, seed=3)
    table.to_csv("people.csv", index=False)
    pq.write_table(formats.read(table), "people.parquet", row_group_size=9)
    return tmp_path


@pytest.fixture
def streamed(monkeypatch):
    """Every Parquet file counts as large."""
    monkeypatch.setattr(streaming, "MAX_CELLS_IN_MEMORY", 10)


def eddi(*words):
    return CliRunner().invoke(app, list(words))


@pytest.mark.usefixtures("folder", "streamed")
def test_a_large_file_is_filled_into_parquet(model, folder):
    assert eddi("impute", "people.eddi", "people.parquet", "-o", "filled.parquet").exit_code == 0
    expected = model.transform(formats.read(folder / "people.parquet"))
    assert formats.read(folder / "filled.parquet").equals(expected)


@pytest.mark.usefixtures("folder", "streamed")
def test_a_large_file_is_filled_into_nothing_else():
    done = eddi("impute", "people.eddi", "people.parquet", "-o", "filled.csv")
    assert done.exit_code == 1
    assert "-o filled.parquet" in done.stderr


@pytest.mark.usefixtures("folder")
def test_a_simulation_of_a_large_file_is_a_tally(monkeypatch):
    words = ("simulate", "people.eddi", "people.parquet", "-t", "pain", "--steps", "2", "--json")
    whole = json.loads(eddi(*words).stdout)
    monkeypatch.setattr(streaming, "MAX_CELLS_IN_MEMORY", 10)
    tally = json.loads(eddi(*words).stdout)
    assert tally["rmse"] == pytest.approx(whole["rmse"])
    assert tally["n_rows"] == len(whole["truth"])
    shown = eddi(*words[:-1], "--plot", "curve.png")
    assert shown.exit_code == 0
    assert "asked most" in shown.stdout


@pytest.mark.usefixtures("folder")
def test_an_engine_that_is_none_is_wrong_usage():
    assert eddi("impute", "people.eddi", "people.csv", "--engine", "dask").exit_code == 2


@pytest.mark.usefixtures("folder")
def test_an_export_needs_its_format():
    done = eddi("export", "people.eddi", "-o", "out")
    assert done.exit_code == 1
    assert "--onnx" in done.stderr
