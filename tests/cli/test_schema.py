"""`eddi schema` prints a schema that can be edited and read back."""

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from eddi import Schema
from eddi.cli import app


@pytest.fixture
def table_file(people, tmp_path):
    path = tmp_path / "people.csv"
    people(60, seed=0).to_csv(path, index=False)
    return path


def run(*arguments):
    result = CliRunner().invoke(app, ["schema", *map(str, arguments)])
    assert result.exit_code == 0, result.stderr
    return result


def test_the_output_is_the_inferred_schema_as_toml(table_file: Path, tmp_path: Path) -> None:
    result = run(table_file, "--target", "stage")
    (tmp_path / "people.toml").write_text(result.stdout, encoding="utf-8")
    expected = Schema.infer(table_file, targets=("stage",))
    assert Schema.from_toml(tmp_path / "people.toml") == expected
    assert "smoker" in result.stderr  # a table of the columns, for the user


def test_the_output_may_be_json(table_file: Path) -> None:
    document = json.loads(run(table_file, "--json").stdout)
    assert Schema.from_document(document) == Schema.infer(table_file)


def test_uncertain_guesses_are_listed_first_with_the_line_to_use_instead(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text("x,cp\n" + "".join(f"{n}.5,{n % 4}\n" for n in range(40)))
    result = run(path)
    assert result.stderr.startswith("check  cp")
    assert 'cp = { kind = "category", levels = [0, 1, 2, 3] }' in result.stderr
    assert '#   cp = { kind = "category", levels = [0, 1, 2, 3] }' in result.stdout


def test_codes_for_missing_values_are_applied_only_if_they_are_named(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text("x\n" + "".join(f"{n}.5\n-99\n" for n in range(40)))
    assert "-99 (40 cells) may mean that the value is missing" in run(path).stderr
    document = json.loads(run(path, "--missing", "-99", "--json").stdout)
    assert (document["missing"], document["variables"]["x"]["low"]) == ([-99], 0)


def test_a_damaged_table_is_one_line_without_a_traceback(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_bytes(b"a,b\n" + b"x" * 140_000 + b",1\n")
    result = CliRunner().invoke(app, ["schema", str(path)])
    assert result.exit_code == 1
    assert result.stderr.startswith("error: 't.csv' has a cell of more than 131,072 characters.")
    assert "Traceback" not in result.output


def test_a_codebook_gives_texts_and_lists_what_is_lost(tmp_path: Path) -> None:
    table, codebook = tmp_path / "t.csv", tmp_path / "c.csv"
    table.write_text("x,y\n" + "1,3\n2,4\n" * 20)
    codebook.write_text("variable,label,codes,editor\nx,Are you well?,1=no; 2=yes,me\n")
    result = run(table, "--codebook", codebook)
    assert 'x = { text = "Are you well?" }' in result.stdout
    assert "'editor' has no equivalent in a schema" in result.stderr


def test_a_file_that_is_not_a_codebook_is_one_line_without_a_traceback(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text("x\n" + "1\n2\n" * 20)
    result = CliRunner().invoke(app, ["schema", str(path), "--codebook", str(path)])
    assert result.exit_code == 1
    assert "is not a codebook that can be read" in result.stderr


def test_repeated_measurements_have_a_section_for_time(series, tmp_path: Path) -> None:
    series(20, seed=0).measurements.to_csv(tmp_path / "long.csv", index=False)
    columns = ["--person", "id", "--time", "hour", "--long", "what:value"]
    schema = Schema.from_toml(run(tmp_path / "long.csv", *columns).stdout)
    assert schema.time is not None
    assert list(schema.time.repeats) == ["pulse", "fever"]


def test_repeated_measurements_may_have_a_survival_target(series, tmp_path: Path) -> None:
    series(20, seed=0).measurements.to_csv(tmp_path / "long.csv", index=False)
    columns = [
        "--person",
        "id",
        "--time",
        "hour",
        "--long",
        "what:value",
        "--survival",
        "death=seen:died",
    ]
    schema = Schema.from_toml(run(tmp_path / "long.csv", *columns).stdout)
    assert schema.targets == ("death",)
    assert schema["death"].survival.columns == ("seen", "died")


def test_repeated_measurements_need_person_and_time(table_file: Path) -> None:
    result = CliRunner().invoke(app, ["schema", str(table_file), "--person", "name"])
    assert result.exit_code == 2
    assert "need --person and --time" in result.stderr


def test_two_columns_become_a_survival_target(patients, tmp_path: Path) -> None:
    path = tmp_path / "patients.csv"
    patients(60, seed=0).to_csv(path, index=False)
    schema = Schema.from_toml(run(path, "--survival", "death=days:died").stdout)
    assert schema.targets == ("death",)
    assert schema["death"].survival.columns == ("days", "died")


def test_the_event_names_a_survival_target_without_a_name(patients, tmp_path: Path) -> None:
    path = tmp_path / "patients.csv"
    patients(60, seed=0).to_csv(path, index=False)
    assert Schema.from_toml(run(path, "--survival", "days:died").stdout).targets == ("died",)


def test_a_survival_target_without_an_event_is_wrong_usage(table_file: Path) -> None:
    result = CliRunner().invoke(app, ["schema", str(table_file), "--survival", "death=days"])
    assert result.exit_code == 2
    assert "NAME=TIME:EVENT" in result.stderr
