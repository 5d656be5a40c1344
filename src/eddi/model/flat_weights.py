"""All weights of a network in one place, so that a step of the optimiser is one kernel."""

import math

import torch
from torch import Tensor

from eddi.model.network import Network
from eddi.model.recipe import Recipe


class FlatWeights:
    """All trainable weights of a network as two flat tensors, and the optimiser over them.

    The network's own parameters become views into the flat tensors, and their gradients views into
    flat gradients, so a step of the optimiser is one kernel instead of one for each parameter.
    """

    def __init__(self, network: Network, recipe: Recipe) -> None:
        parameters = [p for p in network.parameters() if p.requires_grad]
        matrices = [p for p in parameters if p.dim() > 1]
        vectors = [p for p in parameters if p.dim() <= 1]
        self.network, self.clip = network, recipe.clip
        self.flat = [_flatten(group) for group in (matrices, vectors) if group]
        decay = [recipe.weight_decay, 0.0]  # biases and noises are not shrunk
        groups = [
            {"params": [flat], "weight_decay": rate}
            for flat, rate in zip(self.flat, decay, strict=False)
        ]
        self.optimiser = torch.optim.AdamW(groups, lr=recipe.learning_rate, fused=True)
        self.best = [flat.detach().clone() for flat in self.flat]

    def descend(self, loss: Tensor, rate: float) -> None:
        """One optimiser step down ``loss``."""
        gradients = [flat.grad for flat in self.flat if flat.grad is not None]
        for gradient in gradients:
            gradient.zero_()
        loss.backward()  # type: ignore[no-untyped-call]
        if math.isfinite(self.clip):
            norm = torch.linalg.vector_norm(torch.stack([g.norm() for g in gradients]))
            torch._foreach_mul_(gradients, torch.clamp(self.clip / (norm + 1e-6), max=1.0))
        for group in self.optimiser.param_groups:
            group["lr"] = rate
        self.optimiser.step()

    def keep_best(self) -> None:
        for best, flat in zip(self.best, self.flat, strict=True):
            best.copy_(flat.detach())

    def use_best(self) -> None:
        for best, flat in zip(self.best, self.flat, strict=True):
            flat.data.copy_(best)


def _flatten(parameters: list[torch.nn.Parameter]) -> torch.nn.Parameter:
    flat = torch.nn.Parameter(torch.cat([p.detach().flatten() for p in parameters]))
    flat.grad = torch.zeros_like(flat)
    start = 0
    for parameter in parameters:
        part = slice(start, start + parameter.numel())
        parameter.data = flat.data[part].view_as(parameter)
        parameter.grad = flat.grad[part].view_as(parameter)
        start = part.stop
    return flat
