"""Linear discriminant analysis for any observed subset, in closed form from the factors' posterior.

The inputs t of a variable with levels are a part of the factor model (`factor_model`), which has loadings
W and noise variances N for them, and the posterior mean z and covariance V of the factors:

    t | x_O ~ N(W z, W V W^T + N)
    t       ~ N(0,   W W^T + N)

By Bayes' rule p(x_O | t) is proportional to the ratio of the two densities. With t_c the input of level c,

    log p(c | x_O) = log share_c + log N(t_c; W z, W V W^T + N) - log N(t_c; 0, W W^T + N) + constant.

These are the classes with equal covariance of linear discriminant analysis (Fisher 1936), with the
covariance of the factor model. A network needs many rows to learn these probabilities where classes differ
within the noise of collinear variables.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import torch
from torch import Tensor

from eddi.model.network.factors.factor_model import FactorMoments, FactorPosterior, PackedFactors
from eddi.model.network.hazards import DiscreteHazard
from eddi.model.network.heads import Heads

MAX_LOG_RATIO = 20.0  # nats; larger ratios are due to values outside the range of the factor model


@dataclass(frozen=True)
class LevelDiscriminant:
    """Logits of the levels of some variables, each compared with the first level of its variable."""

    invert: Callable[[Tensor], Tensor]
    variables: Tensor  # [variables] their positions
    loadings: Tensor  # [variables, inputs, K]
    noise: Tensor  # [variables, inputs, inputs] noise variances of the inputs
    rows: Tensor  # [levels] the outputs of the heads that get these logits
    owner: Tensor  # [levels] place of the variable
    difference: Tensor  # [levels, inputs] input of the level minus that of the first level
    middle: Tensor  # [levels, inputs] their mean
    prior_term: Tensor  # [levels] what the density of t without evidence contributes

    @classmethod
    def from_heads(
        cls, heads: Heads, variables: Sequence[int], packed: PackedFactors
    ) -> "LevelDiscriminant | None":
        """The logits for the outputs of ``heads``, which describe ``variables``; None without levels."""
        chosen: list[int] = []
        rows, owner, inputs, first = [], [], [], []
        for head in heads.heads():
            if not head.likelihood.has_levels or isinstance(head.likelihood, DiscreteHazard):
                continue
            for place, own in enumerate(head.variables.tolist()):
                by_level = packed.factors.level_inputs_of(variables[own], heads.specs[own].n_levels)
                own_rows = head.likelihood.output_rows([place])
                rows += [head.outputs.start + row for row in own_rows]
                owner += [len(chosen)] * len(own_rows)
                inputs.append(by_level[-len(own_rows) :])
                first.append(by_level[:1].expand(len(own_rows), -1))
                chosen.append(variables[own])
        if not chosen:
            return None
        device = packed.loadings.device
        index, places = torch.tensor(chosen, device=device), torch.tensor(owner, device=device)
        levels, reference = torch.cat(inputs), torch.cat(first)
        discriminant = cls(
            invert=packed.factors.invert,
            variables=index,
            loadings=packed.loadings[index],
            noise=packed.noise_matrix(index),
            rows=torch.tensor(rows, device=device),
            owner=places,
            difference=levels - reference,
            middle=(levels + reference) / 2,
            prior_term=levels.new_zeros(len(levels)),
        )
        return discriminant.with_factors(packed)

    def with_factors(self, packed: PackedFactors) -> "LevelDiscriminant":
        """The same with other loadings and noise variances, as after a step of training."""
        loadings, noise = packed.loadings[self.variables], packed.noise_matrix(self.variables)
        prior = self.invert(loadings @ loadings.mT + noise)[self.owner]
        prior_term = (self.difference[:, None] @ prior @ self.middle[..., None])[:, 0, 0]
        return replace(self, loadings=loadings, noise=noise, prior_term=prior_term)

    def __call__(self, factors: FactorPosterior | FactorMoments) -> Tensor:
        """Logits without the levels' shares [..., levels]."""
        ratio = self._single_ratio(factors) if self.middle.shape[1] == 1 else self._ratio(factors)
        return (ratio + self.prior_term).clamp(-MAX_LOG_RATIO, MAX_LOG_RATIO)

    def _ratio(self, factors: FactorPosterior | FactorMoments) -> Tensor:
        """What the density of t given the evidence contributes [..., levels]."""
        mean, covariance = factors.project(self.loadings)
        precision = self.invert(covariance + self.noise).index_select(-3, self.owner)
        shift = mean.index_select(-2, self.owner) - self.middle  # [..., levels, inputs]
        return ((precision @ shift[..., None])[..., 0] * self.difference).sum(-1)

    def _single_ratio(self, factors: FactorPosterior | FactorMoments) -> Tensor:
        """The same if every variable has one input."""
        mean, variance = factors.project_vectors(self.loadings[:, 0])
        shift = mean.index_select(-1, self.owner) - self.middle[:, 0]
        matrix = (variance + self.noise[:, 0, 0]).index_select(-1, self.owner)
        return self.difference[:, 0] * shift / matrix
