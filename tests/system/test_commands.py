"""The commands that a new user runs, from a table to a model to a filled table."""

import csv
import io
import json
import subprocess
import sys
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from .conftest import COMMAND, ENVIRONMENT, Eddi, Invoke

MISSING = {"", "?", "NA"}


def read_cells(text: str) -> list[list[str]]:
    return list(csv.reader(io.StringIO(text)))


@pytest.mark.slow
def test_a_schema_is_inferred_edited_and_used_to_train_a_model_that_fills_a_table(
    eddi: Eddi, invoke: Invoke, people: Path, tmp_path: Path
) -> None:
    inferred = eddi("schema", people, "--target", "risk", PYTHONIOENCODING="ascii")  # data is UTF-8
    assert inferred.returncode == 0
    assert 'targets = ["risk"]' in inferred.stdout
    assert "patient_id: every value is different" in inferred.stderr
    edited = inferred.stdout.replace('"体重" = { kind = "real"', '"体重" = { unit = "kg", kind = "real"')
    assert edited != inferred.stdout
    (tmp_path / "people.toml").write_text(edited, encoding="utf-8")

    fit = ("fit", people, "--schema", "people.toml", "--target", "risk", "-o", "people.eddi")
    fitted = eddi(*fit, "--steps", 100, "--encoder", "zi", "--json")
    assert fitted.returncode == 0, fitted.stderr
    report = json.loads(fitted.stdout)
    assert report["rows"] == 120
    assert report["target"] == ["risk"]
    assert report["bytes"] == (tmp_path / "people.eddi").stat().st_size
    assert "120 rows that the model was not trained on" in fitted.stderr
    assert not list(tmp_path.glob("*.partial*"))

    described = invoke("describe", "people.eddi").stdout
    assert described.startswith("# An EDDI model")
    assert "kg" in described
    assert "Größe" in described

    filled = invoke("impute", "people.eddi", people)
    assert filled.exit_code == 0, filled.stderr
    before, after = read_cells(people.read_text(encoding="utf-8")), read_cells(filled.stdout)
    assert len(after) == 121
    for old_row, new_row in zip(before, after, strict=True):
        for old, new in zip(old_row, new_row, strict=True):
            assert new == old if old not in MISSING else new not in MISSING


def test_observed_cells_keep_their_text(invoke: Invoke, fitted: Path, tmp_path: Path) -> None:
    rows = (
        "patient_id;Größe;体重;smoker;city;risk\n007;170.50; 71.0;YES;Zürich;\n008;;80;;São Paulo;1.10\n"
    )
    (tmp_path / "incomplete.csv").write_text(rows, encoding="utf-8-sig")
    header, first, second = read_cells(invoke("impute", fitted, "incomplete.csv").stdout)
    assert header == ["patient_id", "Größe", "体重", "smoker", "city", "risk"]
    assert first[:5] == ["007", "170.50", " 71.0", "YES", "Zürich"]
    assert float(first[5])
    assert [second[0], second[2], *second[4:]] == ["008", "80", "São Paulo", "1.10"]
    assert second[3] in ("YES", "no")


def test_draws_are_written_to_numbered_files_and_depend_on_the_seed_alone(
    invoke: Invoke, fitted: Path, people: Path, tmp_path: Path
) -> None:
    def draw(name: str) -> list[str]:
        result = invoke("impute", fitted, people, "-o", f"{name}.csv", "--draws", 2, "--seed", 3)
        assert result.exit_code == 0, result.stderr
        assert result.stdout == ""
        return [(tmp_path / f"{name}-{n}.csv").read_text(encoding="utf-8") for n in (1, 2)]

    first, second = draw("filled")
    assert first != second
    assert not (tmp_path / "filled.csv").exists()
    assert draw("repeated") == [first, second]


def test_the_suffix_of_the_output_file_selects_the_format(
    invoke: Invoke, fitted: Path, people: Path, tmp_path: Path
) -> None:
    assert invoke("impute", fitted, people, "-o", "filled.parquet").exit_code == 0
    table = pq.read_table(tmp_path / "filled.parquet")
    assert table.num_rows == 120
    assert table.column("Größe").null_count == 0


def test_paths_may_contain_spaces_and_non_ascii_letters(
    invoke: Invoke, people_csv: str, tmp_path: Path
) -> None:
    folder = tmp_path / "mes données"
    folder.mkdir()
    (folder / "les gens.csv").write_text(people_csv, encoding="utf-8")
    fit = ("fit", "mes données/les gens.csv", "-o", "mes données/modèle.eddi", "--steps", 100)
    assert invoke(*fit, "--recipe", "paper").exit_code == 0
    described = invoke("describe", "mes données/modèle.eddi", "--json")
    assert json.loads(described.stdout)["rows"] == 120


def test_the_json_description_of_a_model_is_complete_and_standard(invoke: Invoke, fitted: Path) -> None:
    description = json.loads(invoke("describe", fitted, "--json").stdout, parse_constant=pytest.fail)
    assert description["target"] == ["risk"]
    assert description["kinds"]["binary"] == 1
    assert description["recipe"]["clip"] is None  # the paper does not clip; JSON has no infinity
    assert description["training"]["step"] == 100
    assert len(description["fingerprint"]) == 64
    assert "Größe" in description["schema"]["variables"]


def test_a_table_is_described_column_by_column(invoke: Invoke, people: Path) -> None:
    text = invoke("describe", people).stdout
    assert "120 rows, 6 columns" in text
    assert "every value is different" in text
    document = json.loads(invoke("describe", people, "--json").stdout)
    columns = {column["name"]: column for column in document["columns"]}
    assert columns["smoker"]["values"] == "no, yes"
    assert 0.05 < columns["体重"]["missing"] < 0.3
    assert columns["patient_id"]["kind"] == "set aside"


def test_a_schema_may_be_printed_as_json(invoke: Invoke, people: Path) -> None:
    document = json.loads(invoke("schema", people, "--json").stdout)
    assert document["variables"]["smoker"] == {"kind": "binary", "levels": ["no", "yes"]}


def test_the_package_can_be_run_as_a_module(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "eddi", "--version"]
    result = subprocess.run(
        command, cwd=tmp_path, env=ENVIRONMENT, capture_output=True, text=True, check=True
    )
    assert result.stdout.startswith("eddi ")


def test_a_closed_pipe_is_not_an_error(fitted: Path, tmp_path: Path, people_csv: str) -> None:
    """The output is larger than the buffer of a pipe, 64 KiB."""
    header, *rows = people_csv.splitlines(keepends=True)
    (tmp_path / "long.csv").write_text(header + "".join(rows * 30), encoding="utf-8")
    command = [COMMAND, "impute", str(fitted), "long.csv"]
    with subprocess.Popen(
        command, cwd=tmp_path, env=ENVIRONMENT, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        assert process.stdout.readline().decode().strip() == header.strip()
        process.stdout.close()
        assert process.stderr.read() == b""
    assert process.returncode == 0
