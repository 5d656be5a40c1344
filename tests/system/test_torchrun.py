"""Training with two processes of torchrun equals training with one."""

import subprocess
import sys

import numpy as np
import pytest

import eddi

from .conftest import ENVIRONMENT

pytestmark = pytest.mark.slow

FIT = ("fit", "people.csv", "--recipe", "paper", "--steps", "200")
TORCHRUN = ("-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2", "-m", "eddi")


def test_two_processes_have_the_loss_curve_of_one(tmp_path, people, invoke):
    distributed = subprocess.run(
        [sys.executable, *TORCHRUN, *FIT, "-o", "two.eddi"],
        cwd=people.parent,
        env=ENVIRONMENT,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert distributed.returncode == 0, distributed.stderr
    assert distributed.stderr.count("two.eddi (") == 1  # only the first process prints messages
    assert not (tmp_path / "two.eddi.partial").exists()
    assert invoke(*FIT, "-o", "one.eddi").exit_code == 0
    models = [eddi.load(tmp_path / name) for name in ("one.eddi", "two.eddi")]
    one, two = ([progress.loss for progress in model.history_] for model in models)
    assert len(one) == 2
    np.testing.assert_allclose(two, one, rtol=1e-4)
