"""The environment of a run."""

import subprocess

import pytest
import torch

from eddi_benchmarks.harness import environment


def test_the_environment_states_versions_machine_and_commit():
    described = environment.describe_environment()
    assert {"python", "torch", "numpy", "eddi-ml"} <= set(described["versions"])
    assert described["machine"]
    if (environment.CHECKOUT / ".git").exists():
        command = ["git", "-C", str(environment.CHECKOUT), "rev-parse", "HEAD"]
        head = subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()
        assert described["commit"].removesuffix("-dirty") == head


def test_the_number_of_threads_is_restored_after_an_error():
    def fail():
        with environment.torch_threads(2):
            assert torch.get_num_threads() == 2
            raise RuntimeError("stop")

    with pytest.raises(RuntimeError, match="stop"):
        fail()
    assert torch.get_num_threads() == 1
