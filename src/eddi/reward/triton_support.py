"""Whether Triton's kernels can run."""

import importlib.util
from shutil import which
from typing import Any

import torch

HOPPER = (9, 0)  # older GPUs may lack the shared memory
COMPILERS = ("cc", "gcc", "clang")  # Triton compiles its launcher with one of these


def can_run_kernels(device: torch.device, *, shared_memory: int = 0) -> bool:
    """Whether kernels run on a device: a recent NVIDIA GPU, with Triton and a compiler.

    ``shared_memory`` is what a block of the kernels needs, in bytes.
    """
    if device.type != "cuda" or torch.version.cuda is None:
        return False
    if torch.cuda.get_device_capability(device) < HOPPER:
        return False
    properties: Any = torch.cuda.get_device_properties(device)  # its type lacks some of its fields
    if properties.shared_memory_per_block_optin < shared_memory:
        return False
    return importlib.util.find_spec("triton") is not None and any(map(which, COMPILERS))
