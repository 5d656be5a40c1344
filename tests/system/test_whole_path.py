"""From a file to a model to a filled table, as a new user walks it."""

import csv
import io
import json
import subprocess
import sys
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from .conftest import COMMAND, ENVIRONMENT, Eddi

HOLES = {"", "?", "NA"}


def cells(text: str) -> list[list[str]]:
    return list(csv.reader(io.StringIO(text)))


def test_schema_edit_fit_describe_impute(eddi: Eddi, people: Path, tmp_path: Path) -> None:
    inferred = eddi("schema", people, "--target", "risk")
    assert inferred.returncode == 0
    assert 'targets = ["risk"]' in inferred.stdout
    assert "patient_id: named like an identifier" in inferred.stderr
    edited = inferred.stdout.replace('"体重" = { kind = "real"', '"体重" = { unit = "kg", kind = "real"')
    assert edited != inferred.stdout
    (tmp_path / "people.toml").write_text(edited, encoding="utf-8")

    words = ("fit", people, "--schema", "people.toml", "--target", "risk", "-o", "people.eddi")
    fitted = eddi(*words, "--steps", 200, "--encoder", "zi", "--json")
    assert fitted.returncode == 0, fitted.stderr
    facts = json.loads(fitted.stdout)
    assert facts["rows"] == 120
    assert facts["target"] == ["risk"]
    assert facts["bytes"] == (tmp_path / "people.eddi").stat().st_size
    assert "held-out score" in fitted.stderr
    assert not list(tmp_path.glob("*.partial*"))

    described = eddi("describe", "people.eddi")
    assert described.stdout.startswith("# An EDDI model")
    assert "kg" in described.stdout
    assert "Größe" in described.stdout

    filled = eddi("impute", "people.eddi", people)
    assert filled.returncode == 0, filled.stderr
    before, after = cells(people.read_text(encoding="utf-8")), cells(filled.stdout)
    assert len(after) == 121
    for old_row, new_row in zip(before, after, strict=True):
        for old, new in zip(old_row, new_row, strict=True):
            assert new == old if old not in HOLES else new not in HOLES


def test_observed_cells_keep_every_letter(eddi: Eddi, fitted: Path, tmp_path: Path) -> None:
    rows = (
        "patient_id;Größe;体重;smoker;city;risk\n007;170.50; 71.0;YES;Zürich;\n008;;80;;São Paulo;1.10\n"
    )
    (tmp_path / "holes.csv").write_text(rows, encoding="utf-8-sig")
    result = eddi("impute", fitted, "holes.csv")
    header, first, second = cells(result.stdout)
    assert header == ["patient_id", "Größe", "体重", "smoker", "city", "risk"]
    assert first[:5] == ["007", "170.50", " 71.0", "YES", "Zürich"]
    assert float(first[5])
    assert [second[0], second[2], *second[4:]] == ["008", "80", "São Paulo", "1.10"]
    assert second[3] in ("YES", "no")


def test_draws_go_to_numbered_files_and_a_seed_repeats_them(
    eddi: Eddi, fitted: Path, people: Path, tmp_path: Path
) -> None:
    result = eddi("impute", fitted, people, "-o", "filled.csv", "--draws", 2, "--seed", 3)
    assert result.returncode == 0, result.stderr
    assert result.stdout == ""
    first, second = ((tmp_path / f"filled-{k}.csv").read_text(encoding="utf-8") for k in (1, 2))
    assert first != second
    assert not (tmp_path / "filled.csv").exists()
    eddi("impute", fitted, people, "-o", "again.csv", "--draws", 2, "--seed", 3)
    assert (tmp_path / "again-1.csv").read_text(encoding="utf-8") == first


def test_the_ending_of_the_output_chooses_the_format(
    eddi: Eddi, fitted: Path, people: Path, tmp_path: Path
) -> None:
    assert eddi("impute", fitted, people, "-o", "filled.parquet").returncode == 0
    table = pq.read_table(tmp_path / "filled.parquet")
    assert table.num_rows == 120
    assert table.column("Größe").null_count == 0


def test_a_folder_with_a_space_and_a_unicode_name(eddi: Eddi, people_csv: str, tmp_path: Path) -> None:
    folder = tmp_path / "mes données"
    folder.mkdir()
    (folder / "les gens.csv").write_text(people_csv, encoding="utf-8")
    words = ("fit", "mes données/les gens.csv", "-o", "mes données/modèle.eddi", "--steps", 100)
    assert eddi(*words, "--recipe", "paper").returncode == 0
    result = eddi("describe", "mes données/modèle.eddi", "--json")
    assert json.loads(result.stdout)["rows"] == 120


def test_a_model_described_as_json_says_all(eddi: Eddi, fitted: Path) -> None:
    facts = json.loads(eddi("describe", fitted, "--json").stdout, parse_constant=pytest.fail)
    assert facts["target"] == ["risk"]
    assert facts["kinds"]["binary"] == 1
    assert facts["recipe"]["clip"] is None  # the paper does not clip; JSON knows no infinity
    assert facts["training"]["step"] == 100
    assert len(facts["fingerprint"]) == 64
    assert "Größe" in facts["schema"]["variables"]


def test_a_table_is_described_column_by_column(eddi: Eddi, people: Path) -> None:
    plain = eddi("describe", people)
    assert "120 rows, 6 columns" in plain.stdout
    assert "named like an identifier" in plain.stdout
    columns = {c["name"]: c for c in json.loads(eddi("describe", people, "--json").stdout)["columns"]}
    assert columns["smoker"]["values"] == "no, yes"
    assert 0.05 < columns["体重"]["missing"] < 0.3
    assert columns["patient_id"]["kind"] == "set aside"


def test_a_schema_as_json_reads_back(eddi: Eddi, people: Path) -> None:
    document = json.loads(eddi("schema", people, "--json").stdout)
    assert document["variables"]["smoker"] == {"kind": "binary", "levels": ["no", "yes"]}


def test_data_is_utf8_whatever_the_terminal(eddi: Eddi, people: Path) -> None:
    result = eddi("schema", people, PYTHONIOENCODING="ascii")
    assert result.returncode == 0
    assert "体重" in result.stdout


def test_python_m_eddi_is_the_command(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "eddi", "--version"]
    result = subprocess.run(
        command, cwd=tmp_path, env=ENVIRONMENT, capture_output=True, text=True, check=True
    )
    assert result.stdout.startswith("eddi ")


def test_a_closed_pipe_is_no_error(fitted: Path, tmp_path: Path, people_csv: str) -> None:
    header, *rows = people_csv.splitlines(keepends=True)
    (tmp_path / "long.csv").write_text(header + "".join(rows * 100), encoding="utf-8")
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
