"""Two processes of torchrun train what one trains."""

import subprocess
import sys

import numpy as np

import eddi


def test_two_processes_have_the_loss_curve_of_one(tmp_path, people):
    alone = ["-m", "eddi"]
    two = ["-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2", "-m", "eddi"]
    talk = []
    for command, output in ((alone, "one.eddi"), (two, "two.eddi")):
        verb = ["fit", str(people), "--recipe", "paper", "--steps", "200", "-o", str(tmp_path / output)]
        done = subprocess.run(
            [sys.executable, *command, *verb], capture_output=True, text=True, timeout=300, check=False
        )
        assert done.returncode == 0, done.stderr
        talk.append(done.stderr)
    models = [eddi.load(tmp_path / name) for name in ("one.eddi", "two.eddi")]
    one, both = ([progress.loss for progress in model.history_] for model in models)
    assert len(one) == 2
    np.testing.assert_allclose(both, one, rtol=1e-4)
    assert talk[1].count("two.eddi (") == 1  # only the first process talks
    assert not (tmp_path / "two.eddi.partial").exists()
