"""Whether Triton's kernels can run."""

import importlib.util
from shutil import which

import torch

HOPPER = (9, 0)  # older GPUs may lack the shared memory
COMPILERS = ("cc", "gcc", "clang")  # Triton compiles its launcher with one of these


def can_run_kernels(device: torch.device) -> bool:
    """Whether kernels run on a device: a recent GPU, with Triton and a compiler."""
    if device.type != "cuda" or torch.cuda.get_device_capability(device) < HOPPER:
        return False
    return importlib.util.find_spec("triton") is not None and any(map(which, COMPILERS))
