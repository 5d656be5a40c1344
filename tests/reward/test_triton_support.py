"""Whether kernels can run on this machine."""

import torch

from eddi.reward.triton_support import can_run_kernels


def test_kernels_do_not_run_on_a_cpu() -> None:
    assert not can_run_kernels(torch.device("cpu"))
