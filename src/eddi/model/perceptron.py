"""A stack of linear layers with a relu between: the only deep part of the network, made lean."""

from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import cast

import torch
import torch.nn.functional as F
from torch import Tensor, nn


class Perceptron(nn.Module):
    """Linear layers of these widths with a relu between, and before the first if ``relu_first``.

    For networks as small as ours bookkeeping outweighs arithmetic, so this does what
    ``nn.Sequential`` would with fewer calls: rows are flattened once, activations overwrite.
    """

    def __init__(self, widths: Sequence[int], *, relu_first: bool = False) -> None:
        super().__init__()
        self.layers = nn.ModuleList(nn.Linear(before, after) for before, after in pairwise(widths))
        self.relu_first = relu_first

    def forward(self, x: Tensor) -> Tensor:
        """[..., first width] to [..., last width]."""
        out = x.reshape(-1, x.shape[-1])  # [rows, width]
        if self.relu_first:
            out = torch.relu(out)
        first, *rest = cast("Iterable[nn.Linear]", self.layers)
        out = F.linear(out, first.weight, first.bias)
        for layer in rest:
            out = F.linear(torch.relu_(out), layer.weight, layer.bias)
        return out.view(*x.shape[:-1], out.shape[-1])
