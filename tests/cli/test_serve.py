"""`eddi serve` and `eddi keys`, as far as they need no server."""

import socket
from collections.abc import Iterator
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from eddi import PartialVAE
from eddi.cli.app import app
from eddi.service.settings import Settings


@pytest.fixture
def model_file(tmp_path: Path, model: PartialVAE) -> Path:
    path = tmp_path / "people.eddi"
    model.save(path)
    return path


@pytest.fixture
def taken_port() -> Iterator[int]:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        yield taken.getsockname()[1]


def run(*words: object, **environment: str) -> Result:
    return CliRunner().invoke(app, [str(word) for word in words], env=environment)


def test_what_cannot_be_served_is_told_in_words(model_file: Path, taken_port: int) -> None:
    wrong: list[tuple[list[object], str]] = [
        (["nothing.eddi"], "nothing.eddi"),
        ([model_file], "has no target of its own. Give --target"),
        ([model_file, "--target", "mood"], "the target 'mood' is not a variable"),
        ([model_file, "-t", "stage", "--store", "mongo://x"], "a store cannot be opened"),
        ([model_file, "-t", "stage", "--port", taken_port], "Choose another --host or --port"),
        ([model_file, "-t", "stage", "--budget", "-1"], "EDDI_BUDGET must be 0 or more, got -1"),
    ]
    for words, said in wrong:
        port = [] if "--port" in words else ["--port", 0]
        result = run("serve", *words, *port)
        assert result.exit_code == 1, words
        assert said in result.stderr


def test_a_setting_that_cannot_be_is_told_in_words(model_file: Path) -> None:
    result = run("serve", model_file, EDDI_RATE="often")
    assert result.exit_code == 1
    assert "EDDI_RATE must be a number, got 'often'" in result.stderr


def test_keys_are_made_listed_and_revoked(tmp_path: Path) -> None:
    store = ("--store", f"sqlite:///{tmp_path}/answers.db")
    key = run("keys", "issue", "respondent", "--days", 2, *store).stdout.strip()
    name = key.split("_")[1]
    listed = run("keys", "list", *store).stdout
    assert name in listed
    assert "respondent" in listed
    assert key not in listed
    assert run("keys", "revoke", name, *store).exit_code == 0
    assert "yes" in run("keys", "list", *store).stdout
    refused = run("keys", "issue", "boss", *store)
    assert refused.exit_code == 1
    assert "there is no role 'boss'. Roles are: respondent, analyst, operator." in refused.stderr


def test_every_option_has_a_setting() -> None:
    options = {"target", "store", "host", "port", "after", "budget"}
    assert options <= set(Settings.__dataclass_fields__)
