"""`.ci/run` gets a browser first where it can, and runs the tests either way."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[2] / ".ci" / "run"
NEEDED = ("bash", "dirname", "timeout", "cp", "env")


@pytest.fixture
def machine(tmp_path):
    """A machine whose only commands are a few real ones, a `make` that tells, and what is added."""
    tools = tmp_path / "bin"
    tools.mkdir()
    for name in NEEDED:
        (tools / name).symlink_to(str(shutil.which(name)))

    def add(name, line):
        (tools / name).write_text(f"#!/usr/bin/env bash\n{line}\n", encoding="utf-8")
        (tools / name).chmod(0o755)

    def run():
        words = [str(tools / "bash"), str(SCRIPT)]
        return subprocess.run(
            words, env={**os.environ, "PATH": str(tools)}, capture_output=True, text=True, check=False
        )

    add("make", 'echo "make $*"')
    add("id", "echo 0")
    return add, run, tools


def test_a_browser_that_is_there_is_used(machine):
    add, run, _ = machine
    add("chromium", "exit 0")
    add("apt-get", "echo apt-get was asked >&2; exit 1")
    done = run()
    assert (done.returncode, done.stdout, done.stderr) == (0, "make test\n", "")


def test_a_browser_that_is_missing_is_installed_first(machine):
    add, run, tools = machine
    add("apt-get", f'[ "$1" != install ] || cp {tools}/make {tools}/chromium; echo chatter')
    done = run()
    assert (done.returncode, done.stdout, done.stderr) == (0, "make test\n", "")
    assert (tools / "chromium").exists()


@pytest.mark.parametrize("apt", ["exit 100", None])
def test_where_no_browser_can_be_had_the_tests_run_all_the_same(machine, apt):
    add, run, _ = machine
    if apt:
        add("apt-get", apt)
    done = run()
    assert (done.returncode, done.stdout) == (0, "make test\n")
    assert "its tests are skipped" in done.stderr


def test_who_is_not_root_installs_nothing(machine):
    add, run, _ = machine
    add("id", "echo 1000")
    add("apt-get", "touch asked-all-the-same")
    assert "its tests are skipped" in run().stderr
    assert not (SCRIPT.parents[1] / "asked-all-the-same").exists()


def test_tests_that_fail_fail_the_whole(machine):
    add, run, _ = machine
    add("chromium", "exit 0")
    add("make", "exit 2")
    assert run().returncode == 2
