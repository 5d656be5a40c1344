"""A multilayer perceptron with little overhead per call."""

from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import cast

import torch
import torch.nn.functional as F
from torch import Tensor, nn

Weights = tuple[Tensor, Tensor]  # weight [out, in] and bias [out]


class MLP(nn.Module):
    """Linear layers with a relu between them, and before the first one if ``relu_first``.

    In networks this small, overhead outweighs arithmetic. This does what ``nn.Sequential`` would do with
    fewer calls and in-place activations.
    """

    def __init__(self, widths: Sequence[int], *, relu_first: bool = False) -> None:
        super().__init__()
        self.layers = nn.ModuleList(nn.Linear(before, after) for before, after in pairwise(widths))
        self.relu_first = relu_first

    def forward(self, x: Tensor) -> Tensor:
        """[..., first width] to [..., last width]."""
        return forward_layers(torch.relu(x) if self.relu_first else x, self.weights())

    def features(self, x: Tensor) -> Tensor:
        """Hidden features before the last layer: [..., first width] to [..., last but one width]."""
        *layers, _ = self.weights()
        return torch.relu_(forward_layers(torch.relu(x) if self.relu_first else x, layers))

    def output_weights(self) -> Weights:
        """The last layer."""
        return self.weights()[-1]

    def weights(self) -> list[Weights]:
        """Weight and bias of every layer, first to last."""
        layers = cast("Iterable[nn.Linear]", self.layers)
        return [(layer.weight, layer.bias) for layer in layers]


def forward_layers(x: Tensor, layers: Sequence[Weights]) -> Tensor:
    """Linear layers with an in-place relu between them."""
    first, *rest = layers
    out = F.linear(x, *first)
    for layer in rest:
        out = F.linear(torch.relu_(out), *layer)
    return out
