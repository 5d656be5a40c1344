"""All weights of a network in one tensor, so that an optimiser step is one kernel."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Protocol

import torch
from torch import Tensor
from torch.optim.adam import adam

from eddi.model.network.network import Network
from eddi.model.recipe import Recipe
from eddi.model.training.distributed import SINGLE_PROCESS, DistributedContext

BETAS = (0.9, 0.999)  # Adam's own defaults, as in the paper
EPSILON = 1e-8


class BestWeights(Protocol):
    """Weights that can remember their best state."""

    def store_best(self) -> None:
        """Remember the present weights, or their average."""


class FlatWeights:
    """All trainable weights of a network as one flat tensor, with Adam.

    The network's parameters become views of the flat tensor, and their gradients views of its gradient.
    A step is one fused kernel instead of a dozen small ones per parameter.
    """

    def __init__(self, network: Network, recipe: Recipe) -> None:
        trained = [parameter for parameter in network.parameters() if parameter.requires_grad]
        ordered = sorted(trained, key=lambda parameter: parameter.dim() <= 1)  # matrices first
        n_matrix = sum(parameter.numel() for parameter in trained if parameter.dim() > 1)
        self.flat, self._gradient = _flatten(ordered)
        self.mean = self.flat.clone()
        self.best = self.flat.clone()
        self.moments = (torch.zeros_like(self.flat), torch.zeros_like(self.flat))
        self.steps = torch.zeros((), device=self.flat.device)
        self._matrices = self.flat[:n_matrix]
        self._clip, self._decay, self._average_steps = recipe.clip, recipe.weight_decay, recipe.average

    def step(
        self, loss: Tensor, rate: float | Tensor, context: DistributedContext = SINGLE_PROCESS
    ) -> None:
        """One step of AdamW with gradient clipping; biases and noise parameters do not decay."""
        self._gradient.zero_()
        loss.backward()  # type: ignore[no-untyped-call]
        context.average(self._gradient)
        if self._clip is not None:
            shrink = self._clip / (torch.linalg.vector_norm(self._gradient) + 1e-6)
            self._gradient.mul_(shrink.clamp(max=1.0))
        if self._decay:
            self._matrices.mul_(1 - rate * self._decay)
        adam_step(self.flat, self._gradient, self.moments, self.steps, rate)
        if self._average_steps:
            self.mean.lerp_(self.flat, 1 / self._average_steps)

    @contextmanager
    def averaged(self) -> Iterator[None]:
        """Use the average of the last weights inside this context, if the recipe has one."""
        current = self.flat.clone()
        if self._average_steps:
            self.flat.copy_(self.mean)
        yield
        self.flat.copy_(current)

    def store_best(self) -> None:
        """Remember the present weights, or their average."""
        self.best.copy_(self.mean if self._average_steps else self.flat)

    def use_best(self) -> None:
        """Restore the remembered weights."""
        self.flat.copy_(self.best)

    def state(self) -> dict[str, Tensor]:
        """Every tensor that a resumed run needs; to restore it, write into them."""
        first, second = self.moments
        return {
            "weights": self.flat,
            "mean": self.mean,
            "best": self.best,
            "first_moment": first,
            "second_moment": second,
            "steps": self.steps,
        }


def adam_step(
    flat: Tensor, gradient: Tensor, moments: tuple[Tensor, Tensor], steps: Tensor, rate: float | Tensor
) -> None:
    """One step of Adam; updates the weights, the moments and the number of steps in place."""
    # The function behind torch.optim.Adam; for a small network the class costs 5% of a step.
    adam(
        *([flat], [gradient], [moments[0]], [moments[1]], [], [steps]),
        fused=True,
        amsgrad=False,
        beta1=BETAS[0],
        beta2=BETAS[1],
        lr=rate,
        weight_decay=0.0,
        eps=EPSILON,
        maximize=False,
    )


def _flatten(parameters: list[torch.nn.Parameter]) -> tuple[Tensor, Tensor]:
    flat = torch.cat([parameter.detach().flatten() for parameter in parameters])
    gradient = torch.zeros_like(flat)
    start = 0
    for parameter in parameters:
        part = slice(start, start + parameter.numel())
        parameter.data = flat[part].view_as(parameter)
        parameter.grad = gradient[part].view_as(parameter)
        start = part.stop
    return flat, gradient
