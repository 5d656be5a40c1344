"""Arrays on the device of a network."""

import numpy as np
import torch

from eddi.model.inference.device_copy import copy_to


def test_an_array_on_a_cpu_shares_its_memory() -> None:
    array = np.zeros(2, np.float32)
    tensor = copy_to(array, torch.device("cpu"))
    array[0] = 1.0
    assert tensor.tolist() == [1.0, 0.0]
