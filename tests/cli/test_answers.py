"""`eddi store answers`: formats, files and errors."""

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from eddi.cli import app
from eddi.service.interviews.history import name_person
from eddi.store.factory import open_store

from .conftest import KEY


@pytest.fixture
def folder(stored_folder: Path) -> Path:
    """The folder, with one answer."""
    store = open_store(f"sqlite:///{stored_folder}/answers.db")
    told = {"question": "smoker", "values": {"smoker": "yes"}, "without": {}}
    store.append(f"interview/{KEY}", "told", told, after=1)
    store.close()
    return stored_folder


def run(folder: Path, *options: str) -> Result:
    return CliRunner().invoke(app, ["store", "answers", f"sqlite:///{folder}/answers.db", *options])


def test_answers_are_printed_in_the_format_of_redcap(folder: Path) -> None:
    result = run(folder, "-q", "people", "-f", "redcap")
    assert result.exit_code == 0, result.stderr
    assert result.stdout == f"record_id,smoker\n{name_person(KEY)},yes\n"


def test_answers_are_written_to_a_new_file(folder: Path) -> None:
    result = run(folder, "-q", "people", "-f", "fhir", "-o", str(folder / "answers.json"))
    assert "1 people" in result.stderr
    bundle = json.loads((folder / "answers.json").read_text(encoding="utf-8"))
    assert bundle["entry"][0]["resource"]["item"][0]["linkId"] == "smoker"
    assert KEY not in json.dumps(bundle)


def test_a_questionnaire_that_does_not_exist_is_named(folder: Path) -> None:
    result = run(folder, "-q", "other", "-f", "xlsform")
    assert result.exit_code == 1
    assert "other" in result.stderr
