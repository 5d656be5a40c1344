"""`eddi describe` summarizes a model or a table."""

import json
import shutil
from pathlib import Path

import pytest
from typer.testing import CliRunner

from eddi.cli import app
from eddi.model.files.model_card import model_card


@pytest.fixture
def model_file(model, tmp_path):
    path = tmp_path / "people.eddi"
    model.save(path)
    return path


def describe(path, *options):
    result = CliRunner().invoke(app, ["describe", str(path), *options])
    assert result.exit_code == 0, result.stderr
    return result.stdout


def test_the_description_of_a_model_is_its_card(model, model_file: Path) -> None:
    assert describe(model_file).strip() == model_card(model.fitted()).strip()


def test_a_model_is_recognized_by_its_content(model_file: Path, tmp_path: Path) -> None:
    shutil.copy(model_file, tmp_path / "renamed.zip")
    assert describe(tmp_path / "renamed.zip") == describe(model_file)


def test_a_model_is_described_as_json(model, model_file: Path) -> None:
    document = json.loads(describe(model_file, "--json"), parse_constant=pytest.fail)
    assert document["target"] == list(model.target_)
    assert document["rows"] == model.n_rows_
    assert document["fingerprint"] == model.fingerprint_
    assert document["kinds"]["ordinal"] == 2
    assert document["training"]["step"] == model.history_[-1].step
    assert document["schema"] == model.schema_.to_document()


def test_a_table_is_described_column_by_column(people, tmp_path: Path) -> None:
    people(50, seed=0).to_csv(tmp_path / "people.csv", index=False)
    assert "people.csv: 50 rows, 9 columns" in describe(tmp_path / "people.csv")
    document = json.loads(describe(tmp_path / "people.csv", "--json"))
    assert document["rows"] == 50
    columns = {column["name"]: column for column in document["columns"]}
    assert columns["smoker"]["values"] == "no, yes"
    assert 0.05 < columns["age"]["missing"] < 0.4
    assert columns["name"]["kind"] == "set aside"


def test_a_column_that_lists_options_is_described_by_them(tmp_path: Path) -> None:
    tools = ["R", "Excel; R", "Excel", "Stata; R"]
    lines = [f"{tools[n % 4]},{n}.5" for n in range(40)]
    (tmp_path / "t.csv").write_text("\n".join(["tools,x", *lines]))
    columns = json.loads(describe(tmp_path / "t.csv", "--json"))["columns"]
    assert (columns[0]["kind"], columns[0]["values"]) == ("options", "Excel, R, Stata")
