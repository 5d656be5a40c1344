"""Marginal heads: p(x_d | x_O) of every variable directly from the hidden features."""

from collections.abc import Sequence

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from eddi.model.network.atoms import Atoms
from eddi.model.network.factors.discriminant import LevelDiscriminant
from eddi.model.network.factors.factor_head import FactorHead
from eddi.model.network.factors.factor_model import Factors, PackedFactors
from eddi.model.network.factors.hazard_regression import (
    HazardRegression,
    find_directions,
    fit_hazard_regression,
)
from eddi.model.network.factors.level_regression import (
    LevelRegression,
    LevelRegressions,
    find_variance_factor,
)
from eddi.model.network.factors.quantities import QuantityPrediction
from eddi.model.network.hazards import DiscreteHazard
from eddi.model.network.heads import Head, Heads, LikelihoodFactory
from eddi.model.network.heteroscedastic import HeteroscedasticCount, HeteroscedasticGaussian
from eddi.model.network.likelihood import Bernoulli, Categorical, VariableSpec
from eddi.model.network.mlp import Weights
from eddi.model.prediction import COVERAGE
from eddi.model.recipe import Recipe
from eddi.table.evidence import Evidence
from eddi.table.variable import Kind

N_SCALE_GROUPS = 5  # groups of predictions, by their scale, whose intervals are calibrated separately


class Marginals(Heads):
    """p(x_d | x_O) of every variable, without drawing z.

    Most uses of a model need one variable given some others. Learned directly, this is sharper than a
    mixture over z, and takes one pass instead of a hundred draws. z remains for joint draws.
    """

    quantities: Tensor  # positions of the variables without levels, which have atoms
    group_edges: Tensor  # [groups - 1, variables] scales that separate the groups, rising
    tail_mass: Tensor  # [groups, variables] probability left on either side of a 90% interval
    factor_share: Tensor | None  # [outputs] factor of the factor model's outputs; None without factors
    log_shares: Tensor | None  # [outputs] log shares of levels, constants of hazards; else 0
    level_regressions: LevelRegressions | None  # a part of calibrated predictions; None without factors

    def __init__(
        self, specs: Sequence[VariableSpec], recipe: Recipe, width: int, *, n_factors: int = 0
    ) -> None:
        super().__init__(specs, marginal_likelihoods(recipe.noise_floor))
        self.layer = nn.Linear(width, self.n_outputs)
        for name in ("factor_share", "log_shares"):
            self.register_buffer(name, torch.zeros(self.n_outputs) if n_factors else None)
        self.level_regressions = (
            LevelRegressions(self._find_variance_factors(), n_factors) if n_factors else None
        )
        self.floor = recipe.noise_floor
        quantities = [place for place, spec in enumerate(specs) if not spec.kind.is_discrete]
        self.register_buffer("quantities", torch.tensor(quantities), persistent=False)
        self.atoms = Atoms(len(quantities), width) if quantities else None
        edges = torch.full((N_SCALE_GROUPS - 1, len(specs)), torch.inf)
        self.register_buffer("group_edges", edges)
        tail_mass = torch.full((N_SCALE_GROUPS, len(specs)), (1 - COVERAGE) / 2)
        self.register_buffer("tail_mass", tail_mass)

    def forward(self, inputs: Tensor) -> Tensor:
        """The network's part of the likelihood parameters [..., outputs] for hidden features.

        Training adds those of the factor model (`Network.marginal_outputs`). Calibrated predictions use
        `output_weights` and `factor_head`, which contain the regressions, too.
        """
        return self.layer(inputs)  # type: ignore[no-any-return]

    def output_weights(self) -> Weights:
        """Weights and bias of the network's part of calibrated predictions."""
        weight, bias = self.layer.weight, self.layer.bias
        if self.level_regressions is None or not self.level_regressions.mixing_weight.any():
            return weight, bias
        remaining = 1 - self.level_regressions.mixing_weight
        return weight * remaining[:, None], bias * remaining

    def set_level_regression(self, variable: int, regression: LevelRegression | None) -> None:
        """Mix a regression of a variable's levels into calibrated predictions; None removes it."""
        assert self.level_regressions is not None  # noqa: S101  # there are factors
        self.level_regressions.set(self.output_rows([variable]), regression)

    def remove_level_regressions(self) -> None:
        """Remove all regressions, which are not valid after further training."""
        if self.level_regressions is not None:
            self.level_regressions.remove_all()

    def _find_variance_factors(self) -> Tensor:
        """The factor of the variance of each output's logit [outputs]; 1 for outputs that are no logit."""
        factors = torch.ones(self.n_outputs)
        for head in self.heads():
            if head.likelihood.has_levels:
                for place in range(len(head.variables)):
                    rows = [head.outputs.start + row for row in head.likelihood.output_rows([place])]
                    factors[rows] = find_variance_factor(len(rows))
        return factors

    def init_from_data(self, evidence: Evidence) -> None:
        """Place the atoms at the values of a table."""
        if self.atoms is not None:
            quantities = self.quantities.cpu().numpy()
            self.atoms.init_from_data(evidence.values[:, quantities], evidence.observed[:, quantities])

    def init_from_factors(
        self, factors: Factors, evidence: Evidence, weights: NDArray[np.float32]
    ) -> None:
        """Start from the predictions of the factor model, so that the network learns the remainder.

        A category with so many levels that the factor model cannot tell them all apart starts from the
        shares of its levels.
        """
        assert self.factor_share is not None  # noqa: S101  # there are factors
        assert self.log_shares is not None  # noqa: S101
        self.layer.weight.data.zero_()
        self.layer.bias.data.zero_()
        self.factor_share.fill_(1.0)
        for head in self.heads():
            for place, variable in enumerate(head.variables.tolist()):
                rows = [head.outputs.start + row for row in head.likelihood.output_rows([place])]
                if isinstance(head.likelihood, DiscreteHazard):
                    self.log_shares[rows] = _fit_hazards(head, place, factors, evidence)
                elif head.likelihood.has_levels:
                    spec = self.specs[variable]
                    self.log_shares[rows] = log_level_shares(variable, spec, evidence, weights)
                    if not factors.separates_levels(variable, spec):
                        self.layer.bias.data[rows] = self.log_shares[rows]
                        self.factor_share[rows] = 0.0

    def atom_score(self, features: Tensor, values: Tensor, weights: Tensor) -> Tensor:
        """Weighted sum of the log probabilities of the atoms that values [rows, variables] belong to.

        Atoms learn from the hidden features, but no gradient flows back into them.
        """
        if self.atoms is None:
            return weights.new_zeros(())
        values = values.index_select(1, self.quantities)
        weights = weights.index_select(1, self.quantities)
        return (self.atoms.training_score(features.detach(), values) * weights).sum()

    def interval_tail_mass(self, outputs: Tensor) -> Tensor:
        """Calibrated probability left on either side of a 90% interval [rows, variables]."""
        scale = self.predictive_scale(outputs[0])
        return self.calibrated_tail_mass(scale, range(len(self.specs)))

    def calibrated_tail_mass(self, scale: Tensor, variables: Sequence[int]) -> Tensor:
        """Probability left on either side of a 90% interval [rows, n] of variables with this scale."""
        columns = list(variables)
        group = group_by_scale(scale, self.group_edges[:, columns])
        return self.tail_mass[:, columns].gather(0, group)

    def subset(self, variables: Sequence[int]) -> Heads:
        """The calibrated likelihoods of some variables alone."""
        heads = Heads([self.specs[variable] for variable in variables], marginal_likelihoods(self.floor))
        for head in heads.heads():
            own = [variables[place] for place in head.variables.tolist()]
            places = [self.head_of(variable)[1] for variable in own]
            head.likelihood.copy_data(self.head_of(own[0])[0].likelihood, places)
        return heads

    def factor_head(self, packed: PackedFactors | None, variables: Sequence[int]) -> "FactorHead | None":
        """What the factor model adds to the outputs of `subset`; None without factors."""
        if packed is None or self.factor_share is None or self.log_shares is None:
            return None
        heads = self.subset(variables).to(self.log_shares.device)
        parts = (
            LevelDiscriminant.from_heads(heads, variables, packed),
            QuantityPrediction.from_heads(heads, variables, packed),
            HazardRegression.from_heads(heads, variables, packed),
        )
        assert self.level_regressions is not None  # noqa: S101  # there are factors
        rows = torch.tensor(self.subset_rows(heads, variables), device=self.log_shares.device)
        return FactorHead(
            tuple(part for part in parts if part is not None),
            self.factor_share[rows] * (1 - self.level_regressions.mixing_weight[rows]),
            self.log_shares[rows],
            self.level_regressions.select(rows),
        )

    def subset_rows(self, heads: Heads, variables: Sequence[int]) -> list[int]:
        """The outputs that those of ``heads``, the `subset` of some variables, are among all outputs."""
        rows: list[int] = []
        for head in heads.heads():
            rows += self.output_rows([variables[place] for place in head.variables.tolist()])
        return rows

    def output_rows(self, variables: Sequence[int]) -> list[int]:
        """The outputs of these variables of one kind, in the order of their likelihood."""
        head = self.head_of(variables[0])[0]
        places = [self.head_of(variable)[1] for variable in variables]
        return [head.outputs.start + row for row in head.likelihood.output_rows(places)]


def _fit_hazards(head: Head, place: int, factors: Factors, evidence: Evidence) -> Tensor:
    """Fit a proportional-hazards regression on the factors; returns the constant outputs [N_EFFECTS]."""
    assert isinstance(head.likelihood, DiscreteHazard)  # noqa: S101  # callers check
    variable = int(head.variables[place])
    known = evidence[evidence.observed[:, variable]]
    weights, covariance, constants = fit_hazard_regression(
        head.likelihood,
        place,
        torch.from_numpy(known.values[:, variable]),
        factors.posterior_of(known),
        directions=find_directions(factors.pack()),
        groups=known.groups,
    )
    factors.set_regression(variable, weights, covariance)
    return constants


def log_level_shares(
    variable: int, spec: VariableSpec, evidence: Evidence, weights: NDArray[np.float32]
) -> Tensor:
    """Log share of each level of a variable in some rows [outputs].

    A binary variable has one output: the difference between its second and first level.
    """
    observed = evidence.observed[:, variable]
    levels = torch.from_numpy(evidence.values[observed, variable]).long()
    own_weights = torch.from_numpy(weights[observed])
    counts = torch.bincount(levels, own_weights, minlength=spec.n_levels).float() + 0.5
    log_shares = (counts / counts.sum()).log()
    return log_shares[1:] - log_shares[:1] if spec.kind is Kind.BINARY else log_shares


def group_by_scale(scale: Tensor, group_edges: Tensor) -> Tensor:
    """The group [rows, variables] of predictions with this scale; group 0 has the smallest scales."""
    return (scale > group_edges[:, None]).sum(0)


def marginal_likelihoods(floor: float) -> dict[Kind, LikelihoodFactory]:
    """The likelihood p(x_d | x_O) of each kind; that of a quantity has a scale of its own per row."""
    return {
        Kind.REAL: lambda specs: HeteroscedasticGaussian(specs, floor=floor),
        Kind.COUNT: lambda specs: HeteroscedasticCount(specs, floor=floor),
        Kind.BINARY: Bernoulli,
        Kind.ORDINAL: Categorical,
        Kind.CATEGORY: Categorical,
        Kind.SURVIVAL: DiscreteHazard,
    }
