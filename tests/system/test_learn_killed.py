"""Learning that was killed resumes, and ends with the weights of an uninterrupted run."""

import shutil
import signal
import subprocess
import sys
import time
import zipfile
from pathlib import Path

import pytest

from .conftest import start
from .test_fit_killed import FREQUENT_CHECKPOINTS

N_STEPS = 600
TIMEOUT = 120  # seconds


@pytest.fixture
def folder(interviewed_folder: Path, tmp_path: Path) -> Path:
    """A copy of a store with interviews, and of its workshop."""
    return shutil.copytree(interviewed_folder, tmp_path / "copy")


def start_learning(folder: Path, output: str) -> subprocess.Popen[str]:
    arguments = ("learn", "sqlite:///answers.db", "-q", "people", "--workshop", "workshop")
    command = (sys.executable, "-c", FREQUENT_CHECKPOINTS)
    options = ("--steps", N_STEPS, "-o", output)
    return start(*arguments, *options, folder=folder, command=command)


def kill_after_checkpoint(folder: Path, output: str, n_checkpoints: int) -> None:
    """Start learning, and kill it with SIGKILL once it has written this many checkpoints."""
    process = start_learning(folder, output)
    checkpoint, deadline, seen = folder / f"{output}.partial", time.monotonic() + TIMEOUT, set()
    while len(seen) < n_checkpoints:
        assert process.poll() is None, process.communicate()
        assert time.monotonic() < deadline
        if checkpoint.exists():
            seen.add(checkpoint.stat().st_mtime_ns)
        time.sleep(0.005)
    process.kill()
    process.communicate()
    assert process.returncode == -signal.SIGKILL
    assert not (folder / output).exists()


def read_weights(folder: Path, output: str) -> bytes:
    with zipfile.ZipFile(folder / output) as archive:
        return archive.read("weights.safetensors")


@pytest.mark.slow
def test_learning_ends_with_the_same_weights_after_two_kills(folder: Path) -> None:
    before = (folder / "answers.db").read_bytes()
    for n_checkpoints in (1, 2):
        kill_after_checkpoint(folder, "killed.eddi", n_checkpoints)
    for output in ("killed.eddi", "whole.eddi"):
        process = start_learning(folder, output)
        _, messages = process.communicate(timeout=TIMEOUT)
        assert process.returncode == 0, messages
        assert "not published" in messages
    assert read_weights(folder, "killed.eddi") == read_weights(folder, "whole.eddi")
    assert not list(folder.glob("*.partial"))
    assert (folder / "answers.db").read_bytes() == before
