"""`eddi bench` runs the benchmarks package, or explains how to install it."""

from types import SimpleNamespace

import pytest
import typer
from typer.testing import CliRunner, Result

from eddi.cli import bench


def run(*arguments: str) -> Result:
    """Run a command line that has `bench` as one of two commands."""
    app = typer.Typer()
    app.command("other")(lambda: None)
    bench.register(app)
    return CliRunner().invoke(app, arguments)


@pytest.mark.parametrize("arguments", [("run", "x"), ("list", "--json"), ()])
def test_without_the_package_it_explains_how_to_install_it(
    arguments: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bench, "find_spec", lambda _: None)
    result = run("bench", *arguments)
    assert result.exit_code == 1
    assert result.stdout == ""
    assert "pip install ./benchmarks" in result.stderr


def test_with_the_package_it_runs_the_commands_of_the_package(monkeypatch: pytest.MonkeyPatch) -> None:
    package_app = typer.Typer(name="bench")
    package_app.command("list")(lambda: None)
    package_app.command("run")(lambda suite: typer.echo(f"running {suite}"))
    imported: list[str] = []

    def import_module(name: str) -> SimpleNamespace:
        imported.append(name)
        return SimpleNamespace(app=package_app)

    monkeypatch.setattr(bench, "find_spec", lambda _: object())
    monkeypatch.setattr(bench, "import_module", import_module)
    result = run("bench", "run", "x")
    assert result.exit_code == 0
    assert result.stdout == "running x\n"
    assert imported == ["eddi_benchmarks.cli"]
