"""Training by the processes of `torchrun`: each takes its part of the same batch.

All draw the same random numbers and step along the same averaged gradient, so that the weights are the
same everywhere, and those of one process but for rounding.
"""

import atexit
import os
from collections.abc import Callable
from dataclasses import dataclass, replace

import torch
from torch import Tensor, distributed

from eddi.model.training.objective import Batch


@dataclass(frozen=True)
class Ranks:
    """Which of how many processes this is."""

    rank: int = 0
    n: int = 1

    @classmethod
    def here(cls, device: torch.device) -> "Ranks":
        """The place `torchrun` gave this process, after meeting the others; alone without it."""
        n = int(os.environ.get("WORLD_SIZE", "1"))
        if n == 1:
            return cls()
        if not distributed.is_initialized():
            distributed.init_process_group("nccl" if device.type == "cuda" else "gloo")
            atexit.register(distributed.destroy_process_group)
        return cls(distributed.get_rank(), n)

    @property
    def is_first(self) -> bool:
        """Whether this process is the one that writes and talks."""
        return self.rank == 0

    def loss(self, batch: Batch, of: Callable[[Batch], Tensor]) -> Tensor:
        """The loss of this process's rows, such that the processes' average is that of all rows."""
        if self.n == 1:
            return of(batch)
        part = self.part(batch)
        return of(part) * (self.n * len(part.values) / len(batch.values))

    def part(self, batch: Batch) -> Batch:
        """This process's rows of a batch: every n-th, so that the first rows are spread as all are."""
        own = slice(self.rank, None, self.n)
        return replace(
            batch,
            values=batch.values[own],
            known=batch.known[own],
            observed=batch.observed[own],
            noise=batch.noise[:, own],
        )

    def average(self, numbers: Tensor) -> Tensor:
        """``numbers`` averaged over all processes, in place."""
        if self.n > 1:
            distributed.all_reduce(numbers)
            numbers /= self.n
        return numbers


ALONE = Ranks()


def own_device(name: str) -> str:
    """The GPU of this process where `torchrun` started several on one machine."""
    several = int(os.environ.get("LOCAL_WORLD_SIZE", "1")) > 1
    if several and name in ("auto", "cuda") and torch.cuda.is_available():
        return f"cuda:{os.environ.get('LOCAL_RANK', '0')}"
    return name
