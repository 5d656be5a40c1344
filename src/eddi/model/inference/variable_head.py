"""The marginal heads of some variables alone, such as the target."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import torch
import torch.nn.functional as F
from torch import Tensor

from eddi.model.inference.frozen import FrozenNetwork
from eddi.model.network.factors.factor_head import FactorHead
from eddi.model.network.factors.factor_model import FactorMoments, FactorPosterior
from eddi.model.network.factors.hazard_regression import HazardRegression
from eddi.model.network.features import Features
from eddi.model.network.hazards import DiscreteHazard
from eddi.model.network.heads import Head, Heads
from eddi.model.network.marginals import Marginals
from eddi.model.network.mlp import Weights


@dataclass(frozen=True)
class VariableHead:
    """The marginal heads of some variables alone: their rows of the output layer."""

    heads: Heads
    weights: Weights
    rows: Tensor  # [outputs] the same outputs among those of all variables
    factor_head: FactorHead | None  # outputs of the factor model; None if they are not used
    regression: HazardRegression | None  # of survival variables on the factors; None without either

    @classmethod
    def from_marginals(
        cls, marginals: Marginals, frozen: FrozenNetwork, variables: Sequence[int]
    ) -> "VariableHead":
        """The heads of these variables (positions)."""
        heads = marginals.subset(variables).to(frozen.device)
        assert frozen.marginal_layer is not None  # noqa: S101  # it comes with the marginal heads
        weight, bias = frozen.marginal_layer
        chosen = torch.tensor(marginals.subset_rows(heads, variables), device=weight.device)
        factor_head = marginals.factor_head(frozen.factors, variables)
        used = None if factor_head is None else factor_head.only_used()
        regression = None
        if frozen.factors is not None:
            regression = HazardRegression.from_heads(heads, variables, frozen.factors)
        return cls(heads, (weight[chosen], bias[chosen]), chosen, used, regression)

    def __call__(self, features: Features) -> Tensor:
        """Likelihood parameters [..., outputs of the variables] for hidden features."""
        return self.add_factors(F.linear(features.inputs, *self.weights), features.factors)

    def predict(self, features: Features) -> Tensor:
        """The same, with sums in double precision.

        In single precision, the rounding of so narrow a product depends on a row's place in its batch.
        """
        weight, bias = self.weights
        outputs = F.linear(features.inputs.double(), weight.double(), bias.double())
        return self.add_factors(outputs.to(features.inputs.dtype), features.factors)

    def add_factors(self, outputs: Tensor, factors: FactorPosterior | FactorMoments | None) -> Tensor:
        """The network's ``outputs`` [..., outputs] with those of the factor model."""
        return outputs if self.factor_head is None else self.factor_head.add_to(outputs, factors)

    def log_hazard_sd(self, features: Features) -> dict[int, Tensor]:
        """Standard deviations of the log hazard of survival variables [rows], by place."""
        if self.regression is None or not isinstance(features.factors, FactorPosterior):
            return {}
        by_variable = self.regression.log_hazard_sd(features.factors).unbind(-1)
        heads = (head for head in self.heads.heads() if isinstance(head.likelihood, DiscreteHazard))
        places = [place for head in heads for place in head.variables.tolist()]
        return dict(zip(places, by_variable, strict=True))

    @cached_property
    def groups(self) -> tuple[Head, ...]:
        """The groups of variables that share a likelihood, in the order of the outputs."""
        return tuple(self.heads.heads())

    @property
    def order(self) -> Tensor:
        """The variables (places among the chosen ones) in the order of `kl_by_variable`."""
        return torch.cat([head.variables for head in self.groups])

    def kl_by_variable(self, after: Tensor, before: Tensor) -> Tensor:
        """KL(after || before) of each variable [..., variables], in the order of the heads."""
        if len(self.groups) == 1:
            return self.groups[0].likelihood.kl(after, before)
        parts = [
            head.likelihood.kl(after[..., head.outputs], before[..., head.outputs])
            for head in self.groups
        ]
        return torch.cat(parts, dim=-1)

    def divergence_terms(self, after: Tensor, before: Tensor) -> list[Tensor]:
        """`Likelihood.divergence_terms` of predictions [..., variables, 1 + moments], for each head."""
        if len(self.groups) == 1:
            return [self.groups[0].likelihood.divergence_terms(after, before)]
        return [
            head.likelihood.divergence_terms(after[..., head.outputs], before[..., head.outputs])
            for head in self.groups
        ]

    def information_by_variable(self, mean_terms: Sequence[Tensor], before: Tensor) -> Tensor:
        """Mutual information [..., variables], in the order of the heads, for mean `divergence_terms`.

        It is the mean divergence from ``before``, less the divergence of the mixture.
        """
        parts = [
            terms[..., 0] - head.likelihood.mixture_kl(terms[..., 1:], before[..., head.outputs])
            for head, terms in zip(self.groups, mean_terms, strict=True)
        ]
        return parts[0] if len(parts) == 1 else torch.cat(parts, dim=-1)
