"""`eddi serve` as far as it needs no running server."""

import socket
from collections.abc import Iterator
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from eddi import PartialVAE
from eddi.cli import app
from eddi.cli.serve import with_free_port
from eddi.service.settings import Settings


@pytest.fixture
def model_file(tmp_path: Path, model: PartialVAE) -> Path:
    path = tmp_path / "people.eddi"
    model.save(path)
    return path


@pytest.fixture
def used_port() -> Iterator[int]:
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield server.getsockname()[1]


def run(*arguments: object, **environment: str) -> Result:
    return CliRunner().invoke(app, ["serve", *map(str, arguments)], env=environment)


def test_invalid_options_are_reported(model_file: Path, used_port: int) -> None:
    cases: list[tuple[list[object], str]] = [
        (["nothing.eddi"], "nothing.eddi"),
        ([model_file], "was trained without a target. Give --target"),
        ([model_file, "--target", "mood"], "the target 'mood' is not a variable"),
        ([model_file, "-t", "stage", "--store", "mongo://x"], "a store URL cannot start with 'mongo'"),
        ([model_file, "-t", "stage", "--port", used_port], "Choose another --host or --port"),
        ([model_file, "-t", "stage", "--budget", "-1"], "EDDI_BUDGET must be 0 or more, got -1"),
    ]
    for arguments, message in cases:
        port = [] if "--port" in arguments else ["--port", 0]
        result = run(*arguments, *port)
        assert result.exit_code == 1, arguments
        assert message in result.stderr


def test_an_invalid_environment_variable_is_reported(model_file: Path) -> None:
    result = run(model_file, EDDI_RATE="often")
    assert result.exit_code == 1
    assert "EDDI_RATE must be a number, got 'often'" in result.stderr


def test_a_port_in_use_is_replaced_by_a_free_one(used_port: int) -> None:
    used = Settings(port=used_port)
    assert with_free_port(used).port == 0


def test_every_option_is_a_setting() -> None:
    options = {"target", "store", "host", "port", "after", "budget", "risk", "within"}
    assert options <= set(Settings.model_fields)
