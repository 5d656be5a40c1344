"""`eddi store outcomes`: output and exit codes."""

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from eddi.cli import app
from eddi.service.interviews.history import name_person
from eddi.service.interviews.outcomes.outcome import read_outcome
from eddi.store.factory import open_store

from .conftest import KEY


@pytest.fixture
def folder(stored_folder: Path) -> Path:
    return stored_folder


def run(folder: Path, text: str, *options: str) -> Result:
    (folder / "lab.csv").write_text(text, encoding="utf-8")
    arguments = ["store", "outcomes", f"sqlite:///{folder}/answers.db", str(folder / "lab.csv")]
    return CliRunner().invoke(app, [*arguments, *options])


def test_outcomes_are_stored_once(folder: Path) -> None:
    text = f"interview,value\n{name_person(KEY)},late\n"
    first = run(folder, text, "-q", "people")
    again = run(folder, text, "-q", "people", "--json")
    assert (first.exit_code, again.exit_code) == (0, 0)
    assert "stored 1 outcomes" in first.stderr
    assert json.loads(again.stdout) == {"stored": 0, "unchanged": 1, "empty": 0, "errors": []}
    store = open_store(f"sqlite:///{folder}/answers.db")
    outcome = read_outcome(store.read(f"interview/{KEY}"))
    store.close()
    assert outcome is not None
    assert (outcome.values, outcome.by) == ({"stage": "late"}, "command line")


def test_a_line_that_was_not_stored_is_printed_with_its_number(folder: Path) -> None:
    result = run(folder, "interview,value\nx,late\n", "-q", "people")
    assert result.exit_code == 1
    assert "line 2: nobody called 'x' has answered this questionnaire" in result.stderr


def test_a_questionnaire_that_does_not_exist_is_named(folder: Path) -> None:
    result = run(folder, "interview,value\n", "-q", "other")
    assert result.exit_code == 1
    assert "nothing is published as 'other'" in result.stderr
