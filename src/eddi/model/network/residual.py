"""A residual tail: blocks that each add to what they were given, so that depth costs little."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import cast

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from eddi.model.network.mlp import Weights


class Block(nn.Module):
    """h + W2 relu(W1 norm(h)): where it has nothing to add, it passes h on."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.norm = nn.LayerNorm(width)
        self.inner, self.outer = nn.Linear(width, width), nn.Linear(width, width)

    def forward(self, h: Tensor) -> Tensor:
        normed = F.layer_norm(h, h.shape[-1:], self.norm.weight, self.norm.bias)
        inner = torch.relu_(F.linear(normed, self.inner.weight, self.inner.bias))
        return h + F.linear(inner, self.outer.weight, self.outer.bias)


class Residual(nn.Module):
    """The tail as residual blocks (He et al. 2016; normalised first, Xiong et al. 2020), then a belief.

    ``widths`` are those of the code, of every block (all the same), and of the belief.
    """

    def __init__(self, widths: Sequence[int], *, relu_first: bool = False) -> None:
        super().__init__()
        before, *inner, after = widths
        self.relu_first = relu_first
        self.first = nn.Linear(before, inner[0])
        self.blocks = nn.ModuleList(Block(width) for width in inner)
        self.norm = nn.LayerNorm(inner[-1])
        self.last = nn.Linear(inner[-1], after)

    def forward(self, x: Tensor) -> Tensor:
        """[..., code width] to [..., belief width]."""
        return F.linear(self.hidden(x), *self.belief())

    def hidden(self, x: Tensor) -> Tensor:
        """[..., code width] to [..., block width]."""
        h = F.linear(torch.relu(x) if self.relu_first else x, self.first.weight, self.first.bias)
        for block in cast("Iterable[Block]", self.blocks):
            h = block(h)
        return torch.relu_(F.layer_norm(h, h.shape[-1:], self.norm.weight, self.norm.bias))

    def belief(self) -> Weights:
        """The last layer, which says what is believed of z."""
        return self.last.weight, self.last.bias

    def settled(self) -> "Settled":
        """The same passes, for as long as the weights stand still."""
        blocks = cast("Iterable[Block]", self.blocks)
        return Settled(
            relu_first=self.relu_first,
            first=(self.first.weight, self.first.bias),
            blocks=tuple((_after_norm(b.norm, b.inner), (b.outer.weight, b.outer.bias)) for b in blocks),
            norm=(self.norm.weight, self.norm.bias),
        )


@dataclass(frozen=True)
class Settled:
    """The blocks with all looked up, and their norms' own scales made part of the layer after them."""

    relu_first: bool
    first: Weights
    blocks: tuple[tuple[Weights, Weights], ...]
    norm: Weights

    def entered(self, code: Tensor) -> Tensor:
        """A code as the blocks take it in: after the first layer, where no relu stands before that."""
        return code if self.relu_first else F.linear(code, *self.first)

    def added(self, terms: Tensor) -> Tensor:
        """What terms add to an entered code: through a linear layer they may go alone."""
        return terms if self.relu_first else F.linear(terms, self.first[0])

    def onward(self, entered: Tensor) -> Tensor:
        """What comes of an entered code, which stays as it is [..., block width]."""
        h = F.linear(torch.relu(entered), *self.first) if self.relu_first else entered
        wide = h.shape[-1:]
        for inner, outer in self.blocks:
            more = F.linear(torch.relu_(F.linear(torch.layer_norm(h, wide), *inner)), *outer)
            h = more.add_(h)
        return torch.relu_(torch.layer_norm(h, wide, *self.norm))


def _after_norm(norm: nn.LayerNorm, layer: nn.Linear) -> Weights:
    """A layer that does to normalised numbers what both do: W (g n + b) + c = (W g) n + (W b + c)."""
    return layer.weight * norm.weight, layer.bias + layer.weight @ norm.bias
