"""What direct beliefs offer to a reward: possible answers with their chances, and what each tells."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import torch
import torch.nn.functional as F
from torch import Tensor

from eddi.model.inference.answer_support import Possible
from eddi.model.inference.frozen import Settled
from eddi.model.network.atoms import N_ATOMS
from eddi.model.network.heads import Heads
from eddi.model.network.mlp import Weights
from eddi.model.network.network import Marginals, Network


@dataclass(frozen=True)
class Told:
    """The direct beliefs about a target alone: its rows of the layer, and its likelihoods."""

    heads: Heads
    layer: Weights

    def __call__(self, hidden: Tensor) -> Tensor:
        """Outputs [..., outputs of the target] for what the tail made of a code."""
        return F.linear(hidden, *self.layer)

    def kl(self, after: Tensor, before: Tensor) -> Tensor:
        """KL(after || before) in nats, summed over the target's variables."""
        return self.kl_each(after, before).sum(-1)

    def kl_each(self, after: Tensor, before: Tensor) -> Tensor:
        """The same of each variable [..., target], those of a kind together as the heads have them."""
        parts = [
            head.likelihood.kl(after[..., head.outputs], before[..., head.outputs])  # type: ignore[attr-defined]
            for head in self.heads.heads()
        ]
        return torch.cat(parts, dim=-1)


@dataclass(frozen=True, eq=False)  # one is itself: it is a key by which things are kept
class Direct:
    """The direct beliefs of a network at rest."""

    marginals: Marginals
    settled: Settled

    @classmethod
    def of(cls, network: Network, settled: Settled) -> "Direct | None":
        return None if network.marginals is None else cls(network.marginals, settled)

    def hidden(self, entered: Tensor) -> Tensor:
        """What the tail makes of a code that has entered it [..., last hidden width]."""
        return self.settled.onward(entered)

    def told(self, target: Sequence[int]) -> Told:
        """The beliefs about these variables alone."""
        return _told(self, tuple(target))

    def possible(self, n_points: int = N_ATOMS) -> Possible:
        """The answers that may come, with at most so many for a quantity."""
        return _possible(self, n_points)


@lru_cache(64)
def _possible(direct: Direct, n_points: int) -> Possible:
    return Possible.of(direct.marginals, direct.settled, n_points)


@lru_cache(64)
def _told(direct: Direct, target: tuple[int, ...]) -> Told:
    marginals = direct.marginals
    heads = marginals.alone(target).to(direct.settled.device)
    rows: list[int] = []
    for head in heads.heads():
        wanted = [target[place] for place in head.variables.tolist()]
        rows += marginals.rows_of(wanted)
    weight, bias = direct.settled.marginal  # type: ignore[misc]
    chosen = torch.tensor(rows, device=weight.device)
    return Told(heads, (weight[chosen], bias[chosen]))
