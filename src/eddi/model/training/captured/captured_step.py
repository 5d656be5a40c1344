"""Training steps on a GPU as a graph that is captured once and replayed.

A step of a small network is several hundred short kernels. Launching them one by one takes longer than
computing them.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import torch
from torch import Tensor

from eddi.model.network.network import Network
from eddi.model.recipe import Recipe
from eddi.model.training.distributed import DistributedContext
from eddi.model.training.flat_weights import FlatWeights
from eddi.model.training.objective import Batch, loss

WARM_UP_STEPS = 3  # before a capture, so that all memory is allocated


def capture(take_step: Callable[[], None], state: Mapping[str, Tensor]) -> Callable[[], None]:
    """A function that replays ``take_step``; ``state``, which a step changes, is as before."""
    before = {name: part.clone() for name, part in state.items()}
    side_stream = torch.cuda.Stream()  # type: ignore[no-untyped-call]
    side_stream.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side_stream):
        for _ in range(WARM_UP_STEPS):
            take_step()
    torch.cuda.current_stream().wait_stream(side_stream)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        take_step()
    for name, part in state.items():
        part.copy_(before[name])
    return graph.replay


@dataclass
class StepQueue:
    """The drawn numbers of the next steps, on the device; each step takes the next ones."""

    parts: tuple[Tensor, ...]  # [steps, ...]
    position: Tensor  # [1] of the next step
    losses: Tensor  # [steps, ...]

    @classmethod
    def for_steps(cls, parts: tuple[Tensor, ...], device: torch.device, *loss_shape: int) -> "StepQueue":
        """A queue of as many steps as ``parts`` have; it contains their numbers."""
        buffers = tuple(part.to(device, copy=True) for part in parts)
        position = torch.zeros(1, dtype=torch.long, device=device)
        return cls(buffers, position, torch.zeros((len(parts[0]), *loss_shape), device=device))

    def fill(self, parts: tuple[Tensor, ...]) -> None:
        """Replace the numbers by those of at most as many steps."""
        for buffer, values in zip(self.parts, parts, strict=True):
            buffer[: len(values)].copy_(values, non_blocking=True)
        self.position.zero_()

    def take(self) -> list[Tensor]:
        """The numbers of the next step."""
        at = self.position.clamp(max=len(self.losses) - 1)  # a warm-up may take more steps
        return [part.index_select(0, at)[0] for part in self.parts]

    def finish(self, losses: Tensor) -> None:
        """Record the losses of the step, and go on to the next one."""
        at = self.position.clamp(max=len(self.losses) - 1)
        self.losses.index_copy_(0, at, losses.detach()[None])
        self.position += 1


class CapturedStep:
    """Steps of one network on a GPU."""

    def __init__(self, network: Network, weights: FlatWeights, recipe: Recipe) -> None:
        self.network, self.weights, self.recipe = network, weights, recipe
        self._queue: StepQueue | None = None
        self._replay: Callable[[], None] | None = None

    @classmethod
    def if_possible(
        cls, network: Network, weights: FlatWeights, recipe: Recipe, context: DistributedContext
    ) -> "CapturedStep | None":
        """Captured steps of a network on a GPU; None on a CPU, and if several processes share batches."""
        is_alone = context.n_processes == 1
        return cls(network, weights, recipe) if weights.flat.is_cuda and is_alone else None

    def __call__(self, block: Batch, rates: Tensor) -> Tensor:
        """The losses [steps] of the steps of a block [steps, ...] with these learning rates [steps]."""
        parts = (block.values, block.weights, block.observed, block.noise, rates)
        if self._queue is None or len(rates) > len(self._queue.losses):
            self._queue = StepQueue.for_steps(parts, self.weights.flat.device)
            self._replay = capture(lambda: self._take_step(block.loss_weights), self.weights.state())
        self._queue.fill(parts)
        assert self._replay is not None  # noqa: S101  # captured above
        for _ in range(len(rates)):
            self._replay()
        return self._queue.losses[: len(rates)].clone()

    def _take_step(self, loss_weights: Tensor | float) -> None:
        assert self._queue is not None  # noqa: S101  # filled before
        values, weights, observed, noise, rate = self._queue.take()
        batch = Batch(values, weights, observed, noise, loss_weights)
        batch_loss = loss(self.network, self.recipe.objective, batch)
        self.weights.step(batch_loss, rate)
        self._queue.finish(batch_loss)
