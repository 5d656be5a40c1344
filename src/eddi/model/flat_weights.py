"""All weights of a network in one tensor, so that a step of the optimiser is one kernel."""

import math

import torch
from torch import Tensor

from eddi.model.network import Network
from eddi.model.recipe import Recipe


class FlatWeights:
    """All trainable weights of a network as one flat tensor, and Adam over it.

    The network's own parameters become views into the flat tensor, and their gradients views into its
    gradient: a step costs one fused kernel instead of a dozen small ones for each parameter.
    """

    def __init__(self, network: Network, recipe: Recipe) -> None:
        trained = [parameter for parameter in network.parameters() if parameter.requires_grad]
        ordered = sorted(trained, key=lambda parameter: parameter.dim() <= 1)  # matrices first
        n_matrix = sum(parameter.numel() for parameter in trained if parameter.dim() > 1)
        self.flat, self._gradient = _flatten(ordered)
        self.best = self.flat.detach().clone()
        self.optimiser = torch.optim.Adam([self.flat], lr=recipe.learning_rate, fused=True)
        self._matrices = self.flat.data[:n_matrix]
        self._clip, self._decay = recipe.clip, recipe.weight_decay

    def descend(self, loss: Tensor, rate: float) -> None:
        """One step down ``loss``: clipped, decayed as AdamW does, biases and noises left alone."""
        self._gradient.zero_()
        loss.backward()  # type: ignore[no-untyped-call]
        if math.isfinite(self._clip):
            shrink = self._clip / (torch.linalg.vector_norm(self._gradient) + 1e-6)
            self._gradient.mul_(shrink.clamp(max=1.0))
        if self._decay:
            self._matrices.mul_(1 - rate * self._decay)
        self.optimiser.param_groups[0]["lr"] = rate
        self.optimiser.step()

    def keep_best(self) -> None:
        """Remember the weights as they are now."""
        self.best.copy_(self.flat.detach())

    def use_best(self) -> None:
        """Go back to the remembered weights."""
        self.flat.data.copy_(self.best)


def _flatten(parameters: list[torch.nn.Parameter]) -> tuple[torch.nn.Parameter, Tensor]:
    flat = torch.nn.Parameter(torch.cat([p.detach().flatten() for p in parameters]))
    gradient = flat.grad = torch.zeros_like(flat)
    start = 0
    for parameter in parameters:
        part = slice(start, start + parameter.numel())
        parameter.data = flat.data[part].view_as(parameter)
        parameter.grad = gradient[part].view_as(parameter)
        start = part.stop
    return flat, gradient
