"""Training that was interrupted or killed resumes, and ends with the weights of an uninterrupted run."""

import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
import torch

import eddi as library

from .conftest import Invoke, start

# The command with a checkpoint every tenth of a second instead of every second.
FREQUENT_CHECKPOINTS = """
import eddi.model.training.loop
eddi.model.training.loop.SECONDS_BETWEEN_SAVES = 0.1
from eddi.cli import main
main()
"""
N_STEPS = 800
FIT = ("fit", "people.csv", "-t", "risk", "--recipe", "paper", "--steps", N_STEPS, "-o")


def start_training(folder: Path) -> subprocess.Popen[str]:
    """Start training, and wait for the next checkpoint."""
    checkpoint = folder / "resumed.eddi.partial"
    before = checkpoint.stat().st_mtime_ns if checkpoint.exists() else None
    command = (sys.executable, "-c", FREQUENT_CHECKPOINTS)
    process = start(*FIT, "resumed.eddi", folder=folder, command=command)
    deadline = time.monotonic() + 60
    while not checkpoint.exists() or checkpoint.stat().st_mtime_ns == before:
        assert process.poll() is None, process.communicate()
        assert time.monotonic() < deadline
        time.sleep(0.01)
    return process


@pytest.mark.slow
def test_training_resumes_after_an_interruption_and_after_a_kill(
    people: Path, tmp_path: Path, invoke: Invoke
) -> None:
    process = start_training(people.parent)
    process.send_signal(signal.SIGINT)
    _, messages = process.communicate(timeout=60)
    assert process.returncode == 130
    assert "progress is saved in resumed.eddi.partial. Run the same command to resume." in messages
    assert "Traceback" not in messages

    other = invoke(*FIT, "resumed.eddi", "--seed", 1)
    assert other.exit_code == 1
    assert "belongs to another training run" in other.stderr
    assert "Delete it" in other.stderr

    process = start_training(people.parent)
    process.kill()
    process.communicate()
    assert process.returncode == -signal.SIGKILL
    assert not (tmp_path / "resumed.eddi").exists()

    resumed = invoke(*FIT, "resumed.eddi")
    assert resumed.exit_code == 0, resumed.stderr
    assert "resuming from resumed.eddi.partial" in resumed.stderr
    assert not list(tmp_path.glob("resumed.eddi.*"))

    assert invoke(*FIT, "uninterrupted.eddi").exit_code == 0
    expected, found = (library.load(tmp_path / f"{name}.eddi") for name in ("uninterrupted", "resumed"))
    assert found.history_[-1].step == N_STEPS
    assert found.fingerprint_ == expected.fingerprint_
    weights = found.network_.state_dict()
    for name, tensor in expected.network_.state_dict().items():
        assert torch.equal(tensor, weights[name])
