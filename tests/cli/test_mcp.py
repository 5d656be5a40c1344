"""`eddi mcp` as far as it needs no client."""

import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from eddi import PartialVAE
from eddi.cli import app


def run(*arguments: object) -> Result:
    return CliRunner().invoke(app, ["mcp", *map(str, arguments)])


@pytest.fixture
def model_file(tmp_path: Path, model: PartialVAE) -> Path:
    path = tmp_path / "people.eddi"
    model.save(path)
    return path


def test_a_model_or_a_store_is_needed() -> None:
    result = run()
    assert result.exit_code == 1
    assert "Name a model file, or give --store" in result.stderr


def test_invalid_options_are_reported(model_file: Path) -> None:
    cases: list[tuple[list[object], str]] = [
        (["nothing.eddi"], "nothing.eddi"),
        ([model_file], "was trained without a target. Give --target"),
        ([model_file, "-t", "stage", "--store", "mongo://x"], "a store URL cannot start with 'mongo'"),
    ]
    for arguments, message in cases:
        result = run(*arguments)
        assert result.exit_code == 1
        assert message in result.stderr.replace("\n", " ")
        assert result.stdout == ""


def test_a_missing_package_is_named(model_file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "mcp.server.mcpserver", None)
    monkeypatch.delitem(sys.modules, "eddi.service.agents.mcp_server", raising=False)
    result = run(model_file, "-t", "stage")
    assert result.exit_code == 1
    assert "pip install 'eddi-ml[mcp]'" in result.stderr.replace("\n", " ")
