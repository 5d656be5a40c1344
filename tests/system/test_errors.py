"""What goes wrong is said in words, on standard error, with the right exit code and no traceback."""

from collections.abc import Callable
from pathlib import Path

import pytest

from .conftest import Eddi


def damaged(fitted: Path, folder: Path) -> str:
    content = bytearray(fitted.read_bytes())
    content[len(content) // 2] ^= 0xFF
    (folder / "damaged.eddi").write_bytes(content)
    return "damaged.eddi"


def written(text: str) -> Callable[[Path, Path], str]:
    def write(_: Path, folder: Path) -> str:
        (folder / "odd.toml").write_text(text, encoding="utf-8")
        return "odd.toml"

    return write


def empty(_: Path, folder: Path) -> str:
    (folder / "empty.csv").write_text("")
    return "empty.csv"


def unknown_level(_: Path, folder: Path) -> str:
    (folder / "odd.csv").write_text("patient_id,Größe,体重,smoker,city,risk\n1,1,1,perhaps,,\n", "utf-8")
    return "odd.csv"


def aside(_: Path, folder: Path) -> str:
    text = '[variables]\nrisk = { kind = "real" }\n[identifiers]\npatient_id = "names the row"\n'
    return written(text)(_, folder)


def model(fitted: Path, _: Path) -> str:
    return str(fitted)


CASES = [
    (["schema", "absent.csv"], 1, "there is no file 'absent.csv'"),
    (["schema", empty], 1, "'empty.csv' is empty. Expected a line of column names"),
    (["schema", "."], 1, "is a folder, not a table"),
    (["schema", "people.csv", "--target", "luck"], 1, "the target 'luck' is not a column"),
    (["schema", "people.csv", "--frobnicate"], 2, "frobnicate"),
    (["schema"], 2, "Missing argument"),
    (["fit", "absent.csv", "-o", "m.eddi"], 1, "there is no file 'absent.csv'"),
    (["fit", "people.csv"], 2, "Missing option"),
    (["fit", "people.csv", "-o", "m.eddi", "--target", "luck"], 1, "the target 'luck' is not"),
    (["fit", "people.csv", "-o", "m.eddi", "-t", "patient_id", "-s", aside], 1, "'patient_id' is"),
    (["fit", "people.csv", "-o", "m.eddi", "--schema", "absent.toml"], 1, "cannot read the schema file"),
    (["fit", "people.csv", "-o", "m.eddi", "-s", written("targets = [\n")], 1, "not valid TOML"),
    (["fit", "people.csv", "-o", "m.eddi", "-s", written("[variables]\na = 1\n")], 1, "variable 'a'"),
    (["fit", "people.csv", "-o", "no/such/m.eddi"], 1, "there is no folder 'no/such'. Create it first"),
    (["fit", "people.csv", "-o", "."], 1, "is a folder. Name a file in it"),
    (["fit", "people.csv", "-o", "/dev/null/m.eddi"], 1, "cannot write '/dev/null/m.eddi'"),
    (["fit", "people.csv", "-o", "m.eddi", "--recipe", "soup"], 2, "soup"),
    (["fit", "people.csv", "-o", "m.eddi", "--steps", "0"], 2, "steps"),
    (["fit", "people.csv", "-o", "m.eddi", "--device", "abacus"], 1, "the device 'abacus'"),
    (["describe", "absent.eddi"], 1, "there is no model file 'absent.eddi'"),
    (["describe", "absent.csv"], 1, "there is no file 'absent.csv'"),
    (["describe", damaged], 1, "damaged.eddi"),
    (["impute", damaged, "people.csv"], 1, "damaged.eddi"),
    (["impute", "people.csv", "people.csv"], 1, "not a whole EDDI model file"),
    (["impute", model, "absent.csv"], 1, "there is no file 'absent.csv'"),
    (["impute", model, unknown_level], 1, "'smoker' has the level 'perhaps'"),
    (["impute", model, "people.csv", "--draws", "3"], 1, "cannot print 3 tables to standard output"),
    (["impute", model, "people.csv", "-o", "filled.docx"], 1, "written as .csv, .tsv or .parquet"),
    (["impute", model, "people.csv", "-o", "no/filled.csv"], 1, "there is no folder 'no'"),
    (["conjure"], 2, "No such command"),
]


@pytest.mark.parametrize(("words", "code", "message"), CASES)
@pytest.mark.usefixtures("people")
def test_an_error_says_what_is_wrong(
    eddi: Eddi, fitted: Path, tmp_path: Path, words: list[object], code: int, message: str
) -> None:
    result = eddi(*(word(fitted, tmp_path) if callable(word) else word for word in words))
    assert result.returncode == code, result.stderr
    assert result.stdout == ""
    assert message in " ".join(result.stderr.replace("│", " ").split())
    assert "Traceback" not in result.stderr
    assert not list(tmp_path.glob("m.eddi*"))


@pytest.mark.usefixtures("people")
def test_a_traceback_is_shown_to_those_who_ask(eddi: Eddi) -> None:
    assert "Traceback" in eddi("--debug", "schema", "absent.csv").stderr
    asked = eddi("schema", "absent.csv", EDDI_DEBUG="1")
    assert "Traceback" in asked.stderr
    assert asked.returncode == 1


def test_a_warning_is_one_line_without_a_path(eddi: Eddi, tmp_path: Path) -> None:
    rows = "a,a\n" + "".join(f"{n},{n % 7 + 0.5}\n" for n in range(30))
    (tmp_path / "twice.csv").write_text(rows)
    result = eddi("schema", "twice.csv")
    assert result.returncode == 0
    assert "note: the table has two columns 'a'; the later one is now 'a (2)'.\n" in result.stderr
    assert ".py" not in result.stderr
