"""Predictions of quantities by the factor model, in closed form from the factors' posterior.

With the loadings w and noise variance n of a quantity, and the posterior mean z and covariance V of the
factors (`factor_model`), the quantity is normal with mean w z + its own mean, and variance w V w^T + n.
A network learns such a mean easily. The scale is harder: where variables are collinear, it falls by
orders of magnitude with the answer to one other variable.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import torch
from torch import Tensor

from eddi.model.network.factors.factor_model import FactorMoments, FactorPosterior, PackedFactors
from eddi.model.network.heads import Heads
from eddi.model.network.heteroscedastic import HasScaleOutput


@dataclass(frozen=True)
class QuantityPrediction:
    """Means and scales of some quantities, as outputs of their likelihoods."""

    variables: Tensor  # [quantities] their positions
    loadings: Tensor  # [quantities, 1, K]
    mean: Tensor  # [quantities] without evidence
    noise: Tensor  # [quantities] noise variance
    rows: Tensor  # [2 * quantities] outputs of the heads that get these means, then those of the scales
    likelihoods: tuple[tuple[HasScaleOutput, slice], ...]  # with their places among the quantities

    @classmethod
    def from_heads(
        cls, heads: Heads, variables: Sequence[int], packed: PackedFactors
    ) -> "QuantityPrediction | None":
        """Predictions for the outputs of ``heads``, which describe ``variables``; None without quantities."""
        chosen: list[int] = []
        mean_rows, scale_rows, likelihoods = [], [], []
        for head in heads.heads():
            if not isinstance(head.likelihood, HasScaleOutput):
                continue
            n_own = len(head.variables)
            rows = [head.outputs.start + row for row in head.likelihood.output_rows(range(n_own))]
            mean_rows += rows[:n_own]
            scale_rows += rows[n_own:]
            likelihoods.append((head.likelihood, slice(len(chosen), len(chosen) + n_own)))
            chosen += [variables[own] for own in head.variables.tolist()]
        if not chosen:
            return None
        index = torch.tensor(chosen, device=packed.loadings.device)
        return cls(
            variables=index,
            loadings=packed.loadings[index][:, :1],
            mean=packed.factors.mean[index],
            noise=1 / packed.precision[index, 0],
            rows=torch.tensor(mean_rows + scale_rows, device=index.device),
            likelihoods=tuple(likelihoods),
        )

    def with_factors(self, packed: PackedFactors) -> "QuantityPrediction":
        """The same with other loadings and noise variances, as after a step of training."""
        loadings = packed.loadings[self.variables][:, :1]
        return replace(self, loadings=loadings, noise=1 / packed.precision[self.variables, 0])

    def __call__(self, factors: FactorPosterior | FactorMoments) -> Tensor:
        """The outputs [..., 2 * quantities]: means, then scales."""
        mean, variance = factors.project_vectors(self.loadings[:, 0])
        sd = (variance + self.noise).clamp(min=0).sqrt()
        if len(self.likelihoods) == 1:
            return torch.cat([mean + self.mean, self.likelihoods[0][0].scale_output(sd)], dim=-1)
        scales = [likelihood.scale_output(sd[..., own]) for likelihood, own in self.likelihoods]
        return torch.cat([mean + self.mean, *scales], dim=-1)
