"""`.ci/run` installs a browser if it can, and runs the tests in any case."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[2] / ".ci" / "run"
REAL_COMMANDS = ("bash", "dirname", "timeout", "cp", "env")


@pytest.fixture
def machine(tmp_path):
    """A machine with a few real commands, a `make` that prints its arguments, and those added."""
    tools = tmp_path / "bin"
    tools.mkdir()
    for name in REAL_COMMANDS:
        (tools / name).symlink_to(str(shutil.which(name)))

    def add(name, line):
        (tools / name).write_text(f"#!/usr/bin/env bash\n{line}\n", encoding="utf-8")
        (tools / name).chmod(0o755)

    def run():
        command = [str(tools / "bash"), str(SCRIPT)]
        return subprocess.run(
            command, env={**os.environ, "PATH": str(tools)}, capture_output=True, text=True, check=False
        )

    add("make", 'echo "make $*"')
    add("id", "echo 0")
    return add, run, tools


def test_an_installed_browser_is_used(machine):
    add, run, _ = machine
    add("chromium", "exit 0")
    add("apt-get", "echo apt-get was called >&2; exit 1")
    result = run()
    assert (result.returncode, result.stdout, result.stderr) == (0, "make test\n", "")


def test_a_missing_browser_is_installed_first(machine):
    add, run, tools = machine
    add("apt-get", f'[ "$1" != install ] || cp {tools}/make {tools}/chromium; echo output')
    result = run()
    assert (result.returncode, result.stdout, result.stderr) == (0, "make test\n", "")
    assert (tools / "chromium").exists()


@pytest.mark.parametrize("apt", ["exit 100", None])
def test_the_tests_run_even_if_no_browser_can_be_installed(machine, apt):
    add, run, _ = machine
    if apt:
        add("apt-get", apt)
    result = run()
    assert (result.returncode, result.stdout) == (0, "make test\n")
    assert "its tests are skipped" in result.stderr


def test_nothing_is_installed_without_root_permissions(machine):
    add, run, _ = machine
    add("id", "echo 1000")
    add("apt-get", "touch apt-get-was-called")
    assert "its tests are skipped" in run().stderr
    assert not (SCRIPT.parents[1] / "apt-get-was-called").exists()


def test_failing_tests_make_the_script_fail(machine):
    add, run, _ = machine
    add("chromium", "exit 0")
    add("make", "exit 2")
    assert run().returncode == 2
