"""A limit on the size of the tensors that are created."""

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import torch
from torch.utils._python_dispatch import TorchDispatchMode


class AllocationLimit(TorchDispatchMode):  # type: ignore[no-untyped-call]
    """Inside this context, an error is raised before more numbers are created than allowed.

    A recipe from a file may describe a network of any size. Its weights are in the file, too, so their
    number tells how large the network can be.

    Args:
        max_numbers: total number of elements of new tensors.
    """

    def __init__(self, max_numbers: int) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.max_numbers = max_numbers
        self.n_numbers = 0

    def __torch_dispatch__(
        self,
        function: Callable[..., Any],
        _types: Sequence[type],
        args: Sequence[Any] = (),
        kwargs: Mapping[str, Any] | None = None,
    ) -> Any:
        self._check(_count_requested(args))  # before the tensor exists
        result = function(*args, **(kwargs or {}))
        if isinstance(result, torch.Tensor):
            self.n_numbers += result.numel()
            self._check(0)
        return result

    def _check(self, n_more: int) -> None:
        if self.n_numbers + n_more > self.max_numbers:
            raise ValueError(
                f"the recipe describes a network of more than {self.max_numbers:,} numbers, "
                "which is far more than the file contains."
            )


def _count_requested(args: Sequence[Any]) -> int:
    """Return the number of elements of a shape among the arguments of a function."""
    shapes = [arg for arg in args[:2] if isinstance(arg, list | tuple | torch.Size)]
    whole = [shape for shape in shapes if shape and all(isinstance(size, int) for size in shape)]
    return max((math.prod(abs(size) for size in shape) for shape in whole), default=0)
