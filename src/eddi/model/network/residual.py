"""A residual tail between the code and the posterior."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import cast

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from eddi.model.network.mlp import Weights


class ResidualBlock(nn.Module):
    """h + W2 relu(W1 norm(h))."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.norm = nn.LayerNorm(width)
        self.inner, self.outer = nn.Linear(width, width), nn.Linear(width, width)

    def forward(self, h: Tensor) -> Tensor:
        normed = F.layer_norm(h, h.shape[-1:], self.norm.weight, self.norm.bias)
        inner = torch.relu_(F.linear(normed, self.inner.weight, self.inner.bias))
        return h + F.linear(inner, self.outer.weight, self.outer.bias)


class ResidualTail(nn.Module):
    """Pre-norm residual blocks (He et al. 2016; Xiong et al. 2020), then a linear output layer.

    ``widths`` are those of the code, of every block (all equal), and of the output.
    """

    def __init__(self, widths: Sequence[int], *, relu_first: bool = False) -> None:
        super().__init__()
        code_width, *block_widths, output_width = widths
        self.relu_first = relu_first
        self.first = nn.Linear(code_width, block_widths[0])
        self.blocks = nn.ModuleList(ResidualBlock(width) for width in block_widths)
        self.norm = nn.LayerNorm(block_widths[-1])
        self.last = nn.Linear(block_widths[-1], output_width)

    def forward(self, x: Tensor) -> Tensor:
        """[..., code width] to [..., output width]."""
        return F.linear(self.features(x), *self.output_weights())

    def features(self, x: Tensor) -> Tensor:
        """Hidden features before the output layer: [..., code width] to [..., block width]."""
        h = F.linear(torch.relu(x) if self.relu_first else x, self.first.weight, self.first.bias)
        for block in cast("Iterable[ResidualBlock]", self.blocks):
            h = block(h)
        return torch.relu_(F.layer_norm(h, h.shape[-1:], self.norm.weight, self.norm.bias))

    def output_weights(self) -> Weights:
        """The output layer."""
        return self.last.weight, self.last.bias

    def freeze(self, n_factor_features: int = 0) -> "FrozenResidual":
        """The same layers with packed weights; valid while the weights do not change.

        The last ``n_factor_features`` inputs are not part of the additive code.
        """
        code_width = self.first.in_features - n_factor_features
        blocks = cast("Iterable[ResidualBlock]", self.blocks)
        return FrozenResidual(
            relu_first=self.relu_first,
            first=(self.first.weight[:, :code_width], self.first.bias),
            factor_weight=self.first.weight[:, code_width:],
            blocks=tuple((_fold_norm(b.norm, b.inner), (b.outer.weight, b.outer.bias)) for b in blocks),
            norm=(self.norm.weight, self.norm.bias),
        )


@dataclass(frozen=True)
class FrozenResidual:
    """Residual blocks with each norm's scale and shift folded into the layer after it."""

    relu_first: bool
    first: Weights  # of the additive code
    factor_weight: Tensor  # [block width, 2 K] of the factors' features
    blocks: tuple[tuple[Weights, Weights], ...]
    norm: Weights

    def first_layer(self, code: Tensor) -> Tensor:
        """The linear first layer; the code itself if a relu comes before that layer."""
        return code if self.relu_first else F.linear(code, *self.first)

    def first_layer_delta(self, terms: Tensor) -> Tensor:
        """What terms of the code add to the output of `first_layer`, which is linear."""
        return terms if self.relu_first else F.linear(terms, self.first[0])

    def add_factors(self, first: Tensor, factor_features: Tensor) -> Tensor:
        """The output of the first layer for the code and the factors' features [..., 2 K]."""
        if first.dim() == 2:
            return torch.addmm(first, factor_features, self.factor_weight.T)
        return first + F.linear(factor_features, self.factor_weight)

    def remaining_layers(self, first: Tensor) -> Tensor:
        """Hidden features [..., block width] for the output of `first_layer`, which is not changed."""
        h = F.linear(torch.relu(first), *self.first) if self.relu_first else first
        shape = h.shape[-1:]
        for inner, outer in self.blocks:
            delta = F.linear(torch.relu_(F.linear(torch.layer_norm(h, shape), *inner)), *outer)
            h = delta.add_(h)
        return torch.relu_(torch.layer_norm(h, shape, *self.norm))


def _fold_norm(norm: nn.LayerNorm, layer: nn.Linear) -> Weights:
    """A layer equal to norm scaling followed by ``layer``: W (g n + b) + c = (W g) n + (W b + c)."""
    return layer.weight * norm.weight, layer.bias + layer.weight @ norm.bias
