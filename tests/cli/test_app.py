"""The assembled command line."""

import os
import subprocess
import sys

import pytest
from typer.testing import CliRunner

from eddi.cli import app
from eddi.cli.app import SPIN_COUNT, limit_spinning

COMMANDS = (
    *("schema", "fit", "describe", "impute", "interview", "ask", "simulate", "certify", "export"),
    *("serve", "demo", "keys", "store", "bench"),
)


def test_running_without_arguments_shows_the_help() -> None:
    assert "Usage: eddi" in CliRunner().invoke(app, []).output


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_has_a_help_text(command: str) -> None:
    result = CliRunner().invoke(app, [command, "--help"])
    assert result.exit_code == 0
    assert f"eddi {command}" in result.output


def test_the_version_is_printed() -> None:
    assert CliRunner().invoke(app, ["--version"]).output.startswith("eddi ")


def test_waiting_threads_sleep_soon_unless_the_user_chose_otherwise() -> None:
    environment: dict[str, str] = {}
    limit_spinning(environment)
    assert environment == {"GOMP_SPINCOUNT": SPIN_COUNT}
    for chosen in ({"OMP_WAIT_POLICY": "active"}, {"GOMP_SPINCOUNT": "7"}):
        environment = dict(chosen)
        limit_spinning(environment)
        assert environment == chosen


def test_threads_are_limited_before_torch_is_loaded() -> None:
    code = (
        "import os, sys; from eddi.cli import main; app = sys.modules['eddi.cli.app']; "
        "app.app = lambda: print('torch' in sys.modules, os.environ['GOMP_SPINCOUNT']); main()"
    )
    environment = {name: value for name, value in os.environ.items() if "OMP_" not in name}
    command = [sys.executable, "-c", code]
    result = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    assert result.stdout.split() == ["False", SPIN_COUNT]
