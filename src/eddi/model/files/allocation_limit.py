"""A limit on the size of the tensors that are created."""

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import torch
from torch.overrides import TorchFunctionMode

FROM_VALUES = (torch.tensor, torch.as_tensor)  # their first argument is not a shape


class AllocationLimit(TorchFunctionMode):
    """Inside this context, an error is raised before more numbers are created than allowed.

    A recipe from a file may describe a network of any size. Its weights are in the file, too, so their
    number tells how large the network can be.

    Args:
        max_numbers: total number of elements of new tensors.
    """

    def __init__(self, max_numbers: int) -> None:
        super().__init__()
        self.max_numbers = max_numbers
        self.n_numbers = 0

    def __torch_function__(
        self,
        function: Callable[..., Any],
        _types: Sequence[type],
        args: Sequence[Any] = (),
        kwargs: Mapping[str, Any] | None = None,
    ) -> Any:
        if function not in FROM_VALUES:
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
    """Return the number of elements of the shape that is the first argument of a function.

    It is a sequence, as in ``torch.full((3, 4), 1.0)``, or single numbers, as in ``torch.zeros(3, 4)``.
    """
    shape = args[0] if args and isinstance(args[0], list | tuple | torch.Size) else args
    is_shape = len(shape) > 0 and all(isinstance(size, int) for size in shape)
    return math.prod(map(abs, shape)) if is_shape else 0
