"""A stack of linear layers with a relu between: the only deep part of the network, made lean."""

from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import cast

import torch
import torch.nn.functional as F
from torch import Tensor, nn

Weights = tuple[Tensor, Tensor]  # weight [after, before] and bias [after]


class Perceptron(nn.Module):
    """Linear layers of these widths with a relu between, and before the first if ``relu_first``.

    For networks as small as ours bookkeeping outweighs arithmetic, so this does what
    ``nn.Sequential`` would with fewer calls, and activations overwrite.
    """

    def __init__(self, widths: Sequence[int], *, relu_first: bool = False) -> None:
        super().__init__()
        self.layers = nn.ModuleList(nn.Linear(before, after) for before, after in pairwise(widths))
        self.relu_first = relu_first

    def forward(self, x: Tensor) -> Tensor:
        """[..., first width] to [..., last width]."""
        return through(torch.relu(x) if self.relu_first else x, self.weights())

    def hidden(self, x: Tensor) -> Tensor:
        """[..., first width] to [..., last but one width], its relu taken."""
        *layers, _ = self.weights()
        return torch.relu_(through(torch.relu(x) if self.relu_first else x, layers))

    def belief(self) -> Weights:
        """The last layer, which says what comes of the hidden ones."""
        return self.weights()[-1]

    def weights(self) -> list[Weights]:
        """Weight and bias of every layer, first to last."""
        layers = cast("Iterable[nn.Linear]", self.layers)
        return [(layer.weight, layer.bias) for layer in layers]


def through(x: Tensor, layers: Sequence[Weights]) -> Tensor:
    """Linear layers with a relu between, which overwrites."""
    first, *rest = layers
    out = F.linear(x, *first)
    for layer in rest:
        out = F.linear(torch.relu_(out), *layer)
    return out
