"""`eddi demo`: what the command passes on."""

from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from eddi.cli import app, demo_comparison, demo_interview, demo_model
from eddi.service.settings import Settings


@pytest.fixture
def calls(monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """The arguments with which the steps of the demonstration were called, by step."""
    called: dict[str, Any] = {}
    steps = (
        (demo_model, "prepare_model"),
        (demo_interview, "interview_person"),
        (demo_comparison, "compare_strategies"),
    )
    for module, name in steps:
        monkeypatch.setattr(module, name, lambda *arguments, name=name: called.update({name: arguments}))
    monkeypatch.setattr("eddi.cli.demo.run_server", lambda settings: called.update(run_server=settings))
    return called


def test_it_runs_in_the_given_folder_with_the_given_person(calls: dict[str, Any]) -> None:
    result = CliRunner().invoke(app, ["demo", "-o", "here", "--person", "3"])
    assert result.exit_code == 0
    assert calls["prepare_model"][0] == Path("here")
    assert calls["interview_person"][2] == 3
    assert calls["compare_strategies"][2] == Path("here")
    assert "run_server" not in calls
    assert f"eddi interview {Path('here', demo_model.MODEL_FILE)}" in result.output


def test_with_serve_it_prepares_the_model_and_starts_a_server(calls: dict[str, Any]) -> None:
    assert CliRunner().invoke(app, ["demo", "-o", "here", "--serve"]).exit_code == 0
    assert calls["prepare_model"][0] == Path("here")
    assert isinstance(calls["run_server"], Settings)
    assert calls["run_server"].model == str(Path("here") / demo_model.MODEL_FILE)
    assert "interview_person" not in calls


def test_a_wrong_setting_is_an_error_before_training(
    calls: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("EDDI_PORT", "none")
    result = CliRunner().invoke(app, ["demo", "--serve"])
    assert result.exit_code != 0
    assert "EDDI_PORT must be a whole number" in result.output
    assert calls == {}


def test_a_person_who_does_not_exist_is_an_error_before_training(calls: dict[str, Any]) -> None:
    result = CliRunner().invoke(app, ["demo", "--person", "100000"])
    assert result.exit_code != 0
    assert "--person must be between 1 and 859, got 100000." in result.output
    assert calls == {}


def test_the_help_says_that_it_is_not_medical_advice() -> None:
    assert "not medical advice" in " ".join(CliRunner().invoke(app, ["demo", "--help"]).output.split())
