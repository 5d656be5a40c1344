"""Training that was killed goes on where it stood, and ends where it would have ended."""

import signal
import subprocess
import sys
import time
from pathlib import Path

import torch

import eddi as library

from .conftest import Eddi, start

# The command as installed, but looking after its checkpoint ten times a second rather than every 5 s.
EAGER = """
import eddi.model.training.loop
eddi.model.training.loop.SECONDS_BETWEEN_SAVES = 0.1
from eddi.cli import main
main()
"""
STEPS = 1500
FIT = ("fit", "people.csv", "-t", "risk", "--recipe", "paper", "--steps", STEPS, "-o")


def start_and_wait_for_checkpoint(folder: Path) -> subprocess.Popen[str]:
    process = start(*FIT, "killed.eddi", folder=folder, command=(sys.executable, "-c", EAGER))
    deadline = time.monotonic() + 60
    while not (folder / "killed.eddi.partial").exists():
        assert process.poll() is None, process.communicate()
        assert time.monotonic() < deadline
        time.sleep(0.01)
    return process


def test_a_killed_fit_resumes_to_the_very_same_model(eddi: Eddi, people: Path, tmp_path: Path) -> None:
    process = start_and_wait_for_checkpoint(people.parent)
    process.kill()
    process.communicate()
    assert process.returncode == -signal.SIGKILL
    assert not (tmp_path / "killed.eddi").exists()

    resumed = eddi(*FIT, "killed.eddi")
    assert resumed.returncode == 0, resumed.stderr
    assert "resuming from killed.eddi.partial" in resumed.stderr
    assert not list(tmp_path.glob("killed.eddi.*"))

    assert eddi(*FIT, "whole.eddi").returncode == 0
    whole, killed = (library.load(tmp_path / f"{name}.eddi") for name in ("whole", "killed"))
    assert killed.history_[-1].step == STEPS
    assert killed.fingerprint_ == whole.fingerprint_
    weights = killed.network_.state_dict()
    for name, tensor in whole.network_.state_dict().items():
        assert torch.equal(tensor, weights[name])


def test_an_interrupted_fit_can_go_on_but_not_with_other_settings(eddi: Eddi, people: Path) -> None:
    process = start_and_wait_for_checkpoint(people.parent)
    process.send_signal(signal.SIGINT)
    _, talk = process.communicate(timeout=60)
    assert process.returncode == 130
    assert "progress is saved in killed.eddi.partial. Run the same command to resume." in talk
    assert "Traceback" not in talk
    assert (people.parent / "killed.eddi.partial").exists()

    result = eddi(*FIT, "killed.eddi", "--seed", 1)
    assert result.returncode == 1
    assert "belongs to another training run" in result.stderr
    assert "Delete it" in result.stderr
