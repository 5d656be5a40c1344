"""Errors are readable messages on standard error, with the right exit code and without a traceback."""

from collections.abc import Callable
from pathlib import Path

import pytest

from .conftest import Eddi, Invoke

MakeArgument = Callable[[Path, Path], str]  # from the model file and the folder of the test


def damaged_model(fitted: Path, folder: Path) -> str:
    content = bytearray(fitted.read_bytes())
    content[len(content) // 2] ^= 0xFF
    (folder / "damaged.eddi").write_bytes(content)
    return "damaged.eddi"


def schema_file(text: str) -> MakeArgument:
    def write(_: Path, folder: Path) -> str:
        (folder / "odd.toml").write_text(text, encoding="utf-8")
        return "odd.toml"

    return write


def empty_table(_: Path, folder: Path) -> str:
    (folder / "empty.csv").write_text("")
    return "empty.csv"


def table_with_unknown_level(_: Path, folder: Path) -> str:
    (folder / "odd.csv").write_text("patient_id,Größe,体重,smoker,city,risk\n1,1,1,perhaps,,\n", "utf-8")
    return "odd.csv"


def model_file(fitted: Path, _: Path) -> str:
    return str(fitted)


FIT = ("fit", "people.csv", "-o", "m.eddi")
IDENTIFIER = '[variables]\nrisk = { kind = "real" }\n[identifiers]\npatient_id = "names the row"\n'
CASES = [
    (["schema", "absent.csv"], 1, "there is no file 'absent.csv'"),
    (["schema", empty_table], 1, "'empty.csv' is empty. Expected a line of column names"),
    (["schema", "."], 1, "is a folder, not a table"),
    (["schema", "people.csv", "--target", "luck"], 1, "the target 'luck' is not a column"),
    (["schema", "people.csv", "--frobnicate"], 2, "frobnicate"),
    (["schema"], 2, "Missing argument"),
    (["fit", "absent.csv", "-o", "m.eddi"], 1, "there is no file 'absent.csv'"),
    (["fit", "people.csv"], 2, "Missing option"),
    ([*FIT, "--target", "luck"], 1, "the target 'luck' is not"),
    ([*FIT, "-t", "patient_id", "-s", schema_file(IDENTIFIER)], 1, "'patient_id' is"),
    ([*FIT, "--schema", "absent.toml"], 1, "cannot read the schema file"),
    ([*FIT, "-s", schema_file("targets = [\n")], 1, "not valid TOML"),
    ([*FIT, "-s", schema_file("[variables]\na = 1\n")], 1, "variable 'a'"),
    (["fit", "people.csv", "-o", "no/such/m.eddi"], 1, "there is no folder 'no/such'. Create it first"),
    (["fit", "people.csv", "-o", "."], 1, "is a folder. Name a file in it"),
    (["fit", "people.csv", "-o", "/dev/null/m.eddi"], 1, "cannot write '/dev/null/m.eddi'"),
    ([*FIT, "--recipe", "soup"], 2, "soup"),
    ([*FIT, "--steps", "0"], 2, "steps"),
    ([*FIT, "--device", "abacus"], 1, "device 'abacus'"),
    (["describe", "absent.eddi"], 1, "there is no model file 'absent.eddi'"),
    (["describe", "absent.csv"], 1, "there is no file 'absent.csv'"),
    (["describe", damaged_model], 1, "damaged.eddi"),
    (["impute", damaged_model, "people.csv"], 1, "damaged.eddi"),
    (["impute", "people.csv", "people.csv"], 1, "not a complete EDDI model file"),
    (["impute", model_file, "absent.csv"], 1, "there is no file 'absent.csv'"),
    (
        ["impute", model_file, table_with_unknown_level, "--unknown", "error"],
        1,
        "'smoker' has the level 'perhaps'",
    ),
    (
        ["impute", model_file, "people.csv", "--draws", "3"],
        1,
        "cannot print 3 tables to standard output",
    ),
    (["impute", model_file, "people.csv", "-o", "filled.docx"], 1, "written as .csv, .tsv or .parquet"),
    (["impute", model_file, "people.csv", "-o", "no/filled.csv"], 1, "there is no folder 'no'"),
    (["conjure"], 2, "No such command"),
]


@pytest.mark.parametrize(("arguments", "code", "message"), CASES)
@pytest.mark.usefixtures("people")
def test_an_error_states_what_is_wrong(
    invoke: Invoke, fitted: Path, tmp_path: Path, arguments: list[object], code: int, message: str
) -> None:
    result = invoke(*(a(fitted, tmp_path) if callable(a) else a for a in arguments))
    assert result.exit_code == code, result.stderr
    assert result.stdout == ""
    assert message in " ".join(result.stderr.replace("│", " ").split())
    assert "Traceback" not in result.stderr
    assert not list(tmp_path.glob("m.eddi*"))


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (("schema", "absent.csv"), 1, "error: there is no file 'absent.csv'"),
        (("schema",), 2, "Missing argument"),
    ],
)
def test_the_process_of_the_command_ends_with_the_exit_code(
    eddi: Eddi, arguments: tuple[str, ...], code: int, message: str
) -> None:
    result = eddi(*arguments)
    assert result.returncode == code, result.stderr
    assert result.stdout == ""
    assert message in result.stderr
    assert "Traceback" not in result.stderr


def test_a_traceback_is_shown_on_request(eddi: Eddi) -> None:
    assert "Traceback" in eddi("--debug", "schema", "absent.csv").stderr
    result = eddi("schema", "absent.csv", EDDI_DEBUG="1")
    assert "Traceback" in result.stderr
    assert result.returncode == 1


def test_a_warning_is_one_line_without_a_path(eddi: Eddi, tmp_path: Path) -> None:
    rows = "a,a\n" + "".join(f"{n},{n % 7 + 0.5}\n" for n in range(30))
    (tmp_path / "duplicate.csv").write_text(rows)
    result = eddi("schema", "duplicate.csv")
    assert result.returncode == 0
    assert "note: the table has two columns 'a'; the later one is now 'a (2)'.\n" in result.stderr
    assert ".py" not in result.stderr
