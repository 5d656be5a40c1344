"""`eddi demo`: what the command passes on."""

from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from eddi.cli import app, demo_run
from eddi.service.settings import Settings


@pytest.fixture
def calls(monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """The arguments with which the steps of the demonstration were called, by step."""
    called: dict[str, Any] = {}
    for name in ("run_demo", "prepare_model"):

        def step(folder: Path, _: object, *, seed: int, name: str = name) -> None:
            called[name] = (folder, seed)

        monkeypatch.setattr(demo_run, name, step)
    monkeypatch.setattr("eddi.cli.demo.run_server", lambda settings: called.update(run_server=settings))
    return called


def test_it_runs_in_the_given_folder_with_the_given_seed(calls: dict[str, Any]) -> None:
    assert CliRunner().invoke(app, ["demo", "-o", "here", "--seed", "3"]).exit_code == 0
    assert calls == {"run_demo": (Path("here"), 3)}


def test_with_serve_it_prepares_the_model_and_starts_a_server(calls: dict[str, Any]) -> None:
    assert CliRunner().invoke(app, ["demo", "-o", "here", "--serve"]).exit_code == 0
    assert calls["prepare_model"] == (Path("here"), 0)
    settings = calls["run_server"]
    assert isinstance(settings, Settings)
    assert settings.model == str(Path("here") / demo_run.MODEL_FILE)
    assert "run_demo" not in calls
