"""Help is instant: large packages are imported only when a command needs them."""

import resource
import subprocess
import sys
from pathlib import Path

import pytest
import typer

from eddi.cli import app
from eddi.cli.options import STOP_PANEL

from .conftest import ENVIRONMENT, Invoke

LARGE_PACKAGES = ("torch", "numpy", "sklearn", "pyarrow", "pandas", "matplotlib")
# Runs the command and prints which of some packages were imported.
PROBE = """
import sys
sys.argv = ["eddi", *{arguments}]
try:
    from eddi.cli import main
    main()
finally:
    print("IMPORTED", *[name for name in {packages} if name in sys.modules], file=sys.stderr)
"""
COMMANDS = ("schema", "fit", "impute", "describe", "demo", "interview", "ask", "simulate")
MAX_OPTIONS = 9  # of a command, besides --help and those that are required
MAX_SECONDS = 0.5  # of processor time


def run(code: str, stdin: str = "") -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", code]
    return subprocess.run(
        command, input=stdin, capture_output=True, text=True, env=ENVIRONMENT, check=False
    )


def find_imported(*arguments: str, packages: tuple[str, ...] = LARGE_PACKAGES) -> list[str]:
    """Those of some packages that a command imports."""
    result = run(PROBE.format(arguments=list(arguments), packages=packages), stdin="{}")
    label, *imported = result.stderr.splitlines()[-1].split()
    assert label == "IMPORTED"
    return imported


@pytest.mark.parametrize(
    "arguments", [["--help"], ["fit", "--help"], ["--version"], ["fit", "--nonsense"]]
)
def test_help_imports_no_large_package(arguments: list[str]) -> None:
    assert find_imported(*arguments) == []


def test_importing_eddi_imports_no_large_package() -> None:
    code = f"import eddi, sys; print([name for name in {LARGE_PACKAGES} if name in sys.modules])"
    assert run(code).stdout.strip() == "[]"


def test_inferring_a_schema_imports_neither_torch_nor_scikit_learn(people: Path) -> None:
    assert find_imported("schema", str(people), packages=("torch", "sklearn")) == []


def test_a_command_that_does_not_train_does_not_import_scikit_learn(fitted: Path) -> None:
    imported = find_imported("ask", str(fitted), packages=("torch", "sklearn", "pandas", "matplotlib"))
    assert imported == ["torch"]


def test_help_takes_little_processor_time() -> None:
    def measure(code: str) -> float:
        """Processor time, which does not depend on the load of the machine."""
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        run(code)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime

    baseline = min(measure("pass") for _ in range(3))
    help_text = PROBE.format(arguments=["fit", "--help"], packages=LARGE_PACKAGES)
    assert min(measure(help_text) for _ in range(3)) - baseline < MAX_SECONDS


def test_the_help_lists_the_exit_codes(invoke: Invoke) -> None:
    assert "Exit codes: 0" in invoke("--help").stdout


@pytest.mark.parametrize("command", COMMANDS)
def test_a_command_has_few_options_and_lists_the_exit_codes(invoke: Invoke, command: str) -> None:
    assert "130" in invoke(command, "--help").stdout
    parameters = typer.main.get_command(app).commands[command].params
    options = [
        p.name
        for p in parameters
        if p.param_type_name == "option" and not p.required and p.rich_help_panel != STOP_PANEL
    ]
    assert 0 < len(options) <= MAX_OPTIONS, options
