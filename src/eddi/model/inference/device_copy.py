"""Copies of arrays to the device of a network."""

from typing import Any

import torch
from numpy.typing import NDArray
from torch import Tensor


def copy_to(array: NDArray[Any], device: torch.device) -> Tensor:
    """An array as a tensor on a device; not copied on a CPU, and without waiting for a GPU."""
    tensor = torch.from_numpy(array)
    return tensor if device.type == "cpu" else tensor.pin_memory().to(device, non_blocking=True)
