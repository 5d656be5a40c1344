"""Data-parallel training with `torchrun`: each process takes its share of every batch.

All processes draw the same random numbers and use the same averaged gradient. Their weights are equal,
and those of a single process up to rounding.
"""

import atexit
import os
from collections.abc import Callable
from dataclasses import dataclass, replace

import torch
from torch import Tensor, distributed

from eddi.model.training.objective import Batch


@dataclass(frozen=True)
class DistributedContext:
    """The rank of this process and the number of processes."""

    rank: int = 0
    n_processes: int = 1

    @classmethod
    def from_environment(cls, device: torch.device) -> "DistributedContext":
        """The rank that `torchrun` gave this process; a single process without it."""
        n_processes = int(os.environ.get("WORLD_SIZE", "1"))
        if n_processes == 1:
            return cls()
        if not distributed.is_initialized():
            distributed.init_process_group("nccl" if device.type == "cuda" else "gloo")
            atexit.register(distributed.destroy_process_group)
        return cls(distributed.get_rank(), n_processes)

    @property
    def is_first(self) -> bool:
        """Whether this process writes files and reports progress."""
        return self.rank == 0

    def loss(self, batch: Batch, compute: Callable[[Batch], Tensor]) -> Tensor:
        """The loss of this process's rows, scaled such that the average over processes is that of all."""
        if self.n_processes == 1:
            return compute(batch)
        part = self.part(batch)
        return compute(part) * (self.n_processes * len(part.values) / len(batch.values))

    def part(self, batch: Batch) -> Batch:
        """This process's rows of a batch: every n-th, so that the first rows are distributed evenly."""
        own = slice(self.rank, None, self.n_processes)
        return replace(
            batch,
            values=batch.values[own],
            weights=batch.weights[own],
            observed=batch.observed[own],
            noise=batch.noise[:, own],
        )

    def average(self, numbers: Tensor) -> Tensor:
        """Average ``numbers`` over all processes in place."""
        if self.n_processes > 1:
            distributed.all_reduce(numbers)
            numbers /= self.n_processes
        return numbers


SINGLE_PROCESS = DistributedContext()


def local_device(name: str) -> str:
    """The GPU of this process if `torchrun` started several processes on one machine."""
    has_several = int(os.environ.get("LOCAL_WORLD_SIZE", "1")) > 1
    if has_several and name in ("auto", "cuda") and torch.cuda.is_available():
        return f"cuda:{os.environ.get('LOCAL_RANK', '0')}"
    return name
