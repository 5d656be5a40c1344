"""Marginal predictions p(x_d | x_O) of a frozen network: answer probabilities and target heads."""

from collections.abc import Sequence
from dataclasses import dataclass, field

import torch
import torch.nn.functional as F
from torch import Tensor

from eddi.model.cache import Cache
from eddi.model.inference.answer_support import AnswerSupport
from eddi.model.inference.frozen import FrozenNetwork
from eddi.model.network.atoms import N_ATOMS
from eddi.model.network.heads import Heads
from eddi.model.network.marginals import Marginals
from eddi.model.network.mlp import Weights
from eddi.model.network.network import Network


@dataclass(frozen=True)
class TargetHead:
    """The marginal heads of the target variables alone: their rows of the output layer."""

    heads: Heads
    weights: Weights

    def __call__(self, features: Tensor) -> Tensor:
        """Likelihood parameters [..., outputs of the target] for hidden features."""
        return F.linear(features, *self.weights)

    def kl(self, after: Tensor, before: Tensor) -> Tensor:
        """KL(after || before) in nats, summed over the target variables."""
        return self.kl_by_variable(after, before).sum(-1)

    @property
    def order(self) -> Tensor:
        """The target variables (places in the target) in the order of `kl_by_variable`."""
        return torch.cat([head.variables for head in self.heads.heads()])

    def kl_by_variable(self, after: Tensor, before: Tensor) -> Tensor:
        """KL(after || before) of each variable [..., target], in the order of the heads."""
        parts = [
            head.likelihood.kl(after[..., head.outputs], before[..., head.outputs])
            for head in self.heads.heads()
        ]
        return torch.cat(parts, dim=-1)


@dataclass(frozen=True, eq=False)
class MarginalPredictor:
    """The marginal heads of a frozen network."""

    marginals: Marginals
    frozen: FrozenNetwork
    _cache: Cache = field(default_factory=Cache, repr=False)

    @classmethod
    def from_network(cls, network: Network, frozen: FrozenNetwork) -> "MarginalPredictor | None":
        """The predictor of a network; None if it has no marginal heads."""
        return None if network.marginals is None else cls(network.marginals, frozen)

    def target_head(self, target: Sequence[int]) -> TargetHead:
        """The heads of these variables (positions) alone."""
        key = tuple(target)
        return self._cache.get(("target_head", key), lambda: self._build_target_head(key))

    def answer_support(self, n_points: int = N_ATOMS) -> AnswerSupport:
        """The possible answers to every variable, at most ``n_points`` for a quantity."""
        return self._cache.get(
            ("answer_support", n_points),
            lambda: AnswerSupport.from_marginals(self.marginals, self.frozen, n_points),
        )

    def _build_target_head(self, target: tuple[int, ...]) -> TargetHead:
        heads = self.marginals.subset(target).to(self.frozen.device)
        rows: list[int] = []
        for head in heads.heads():
            rows += self.marginals.output_rows([target[place] for place in head.variables.tolist()])
        assert self.frozen.marginal_layer is not None  # noqa: S101  # it comes with the marginal heads
        weight, bias = self.frozen.marginal_layer
        chosen = torch.tensor(rows, device=weight.device)
        return TargetHead(heads, (weight[chosen], bias[chosen]))
