"""Precision-weighted factors: an additive code that represents collinear variables exactly.

A sum of per-variable terms cannot represent differences of nearly equal variables for all subsets at
once. A Gaussian factor model can, and its sufficient statistics are sums, too. Each variable i has
loadings w_i in R^K (one row per input), a precision p_i > 0, and an input f_i(x_i), its value minus its
mean. For the observed set O,

    L_O = I + sum over i in O of p_i w_i w_i^T        (precision matrix, K x K)
    h_O = sum over i in O of p_i w_i f_i(x_i)         (information vector, K)
    z = L_O^-1 h_O,  V = L_O^-1                       (posterior mean and covariance of the factors)

With f the identity this is the exact posterior of the factor model x_i = mean_i + w_i z + noise of
variance 1 / p_i (Rubin and Thayer 1982). In general it is a product of Gaussian experts with full
covariance (cf. Wu and Goodman 2018). The tail of the network sees (z, diag V) next to the additive code,
and the marginal heads see z directly, so that the linear-Gaussian prediction w_d z is available to them.

The code contains h_O and the upper triangle of sum p_i w_i w_i^T, so it stays additive. A candidate
answer to one variable is a low-rank update of V that does not depend on the value: with the gain
A = V W^T (P^-1 + W V W^T)^-1, the factors become z + A (f(x) - W z), and V becomes V - A W V. So A is
computed once for each row and variable (`FactorUpdates`), whatever the number of candidate answers.

Loadings, precisions and means start from a factor analysis of the training rows (`factor_analysis`). Loadings
and precisions are trained with the network, unless there are few rows. The predictions that follow from
them in closed form (`factor_head`) need few rows, and the network learns the remainder. A category has a
few inputs per level.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from eddi.model.network.factors.factor_analysis import FactorAnalysis, fit_factors
from eddi.model.network.factors.inverses import invert_positive_definite
from eddi.model.network.factors.level_contrasts import find_level_inputs
from eddi.model.network.factors.products import look_up, multiply, project, soft_clip, sum_inputs
from eddi.model.network.likelihood import VariableSpec
from eddi.table.evidence import Evidence
from eddi.table.variable import Kind

MAX_CATEGORY_INPUTS = 3  # per category; more make an update more expensive
LOG_PRECISION_RANGE = (-6.0, 7.0)  # keeps the precision matrix well-conditioned in float32


class Factors(nn.Module):
    """Loadings, precisions and inputs of all variables."""

    level_inputs: Tensor  # [variables, max levels, inputs] input of each level of a category
    mean: Tensor  # [variables] 0 for categories
    is_input: Tensor  # [variables, inputs] False for padding
    is_category: Tensor  # [variables]
    is_evidence: Tensor  # [variables] False for survival variables, which are never observed
    regression_covariance: Tensor | None  # [survival variables, K, K] of the regression weights
    unit: Tensor  # [variables] factor of a coded value before it enters
    triangle: Tensor  # [2, K (K + 1) / 2] rows and columns of the upper triangle
    unpack: Tensor  # [K * K] position of each matrix entry in the triangle

    def __init__(self, specs: Sequence[VariableSpec], n_factors: int) -> None:
        super().__init__()
        n_inputs = [_count_inputs(spec) for spec in specs]
        self.n_factors, self.n_inputs = n_factors, max(n_inputs)
        max_levels = max([spec.n_levels for spec in specs if spec.kind is Kind.CATEGORY], default=1)
        shape = (len(specs), self.n_inputs)
        triangle = torch.triu_indices(n_factors, n_factors)
        position = torch.zeros((n_factors, n_factors), dtype=torch.long)
        position[triangle[0], triangle[1]] = torch.arange(triangle.shape[1])
        position = torch.maximum(position, position.T)
        units = [1.0 / (s.n_levels - 1) if s.kind is Kind.ORDINAL else 1.0 for s in specs]
        self.has_units = any(unit != 1 for unit in units)
        buffers = {
            "is_input": torch.arange(self.n_inputs) < torch.tensor(n_inputs)[:, None],
            "is_category": torch.tensor([spec.kind is Kind.CATEGORY for spec in specs]),
            "is_evidence": torch.tensor([spec.kind is not Kind.SURVIVAL for spec in specs]),
            "unit": torch.tensor(units),
            "triangle": triangle,
            "unpack": position.flatten(),
        }
        for name, buffer in buffers.items():
            self.register_buffer(name, buffer, persistent=False)
        n_survival = int((~buffers["is_evidence"]).sum())
        shape_of_regressions = (n_survival, n_factors, n_factors)
        self.register_buffer(
            "regression_covariance", torch.zeros(shape_of_regressions) if n_survival else None
        )
        self.register_buffer("level_inputs", torch.zeros(len(specs), max_levels, self.n_inputs))
        n_loadings = len(specs) * self.n_inputs * n_factors
        # One-dimensional, since weight decay applies to matrices only.
        self.flat_loadings = nn.Parameter(torch.randn(n_loadings) * 0.1)
        self.log_precision = nn.Parameter(torch.zeros(shape).flatten())
        self.register_buffer("mean", torch.zeros(len(specs)))
        self.invert = invert_positive_definite  # replaced for an export

    @property
    def n_statistics(self) -> int:
        """Width of the factors' part of the code: h and the upper triangle of L - I."""
        return self.n_factors + self.triangle.shape[1]

    def pack(self) -> "PackedFactors":
        """The present parameters in the form that codes are computed with."""
        loadings = self.flat_loadings.view(*self.is_input.shape, self.n_factors)
        bounded = self.log_precision.view(self.is_input.shape).clamp(*LOG_PRECISION_RANGE)
        precision = bounded.exp() * self.is_input * self.is_evidence[:, None]
        return PackedFactors(self, loadings, precision)

    def inputs(self, values: Tensor, variables: Tensor) -> Tensor:
        """f(x) for coded values [..., n] of n variables [..., n, inputs]."""
        inputs = values * look_up(self.unit, variables) if self.has_units else values
        scaled = soft_clip(inputs - look_up(self.mean, variables))
        single = scaled[..., None]
        if self.n_inputs > 1:
            single = torch.nn.functional.pad(single, (0, self.n_inputs - 1))
        if self.level_inputs.shape[1] == 1:  # no category
            return single
        is_category = self.is_category[variables]
        # A drawn quantity may be infinite, which is no level.
        level = torch.where(is_category, values, 0.0).long().clamp(0, self.level_inputs.shape[1] - 1)
        by_level = self.level_inputs[variables.expand(level.shape), level]
        return torch.where(is_category[..., None], by_level, single)

    def init_from_data(
        self,
        evidence: Evidence,
        specs: Sequence[VariableSpec],
        weights: NDArray[np.float32] | None = None,
    ) -> None:
        """Fit the factor model to rows; ``weights`` [rows] say how many rows each one counts as."""
        inputs, observed, row_weights = self.analysis_inputs(evidence, specs, weights)
        analysis = fit_factors(inputs, observed, self.n_factors, weights=row_weights)
        self.centre(analysis)
        self.use(analysis)

    def analysis_inputs(
        self,
        evidence: Evidence,
        specs: Sequence[VariableSpec],
        weights: NDArray[np.float32] | None = None,
    ) -> tuple[Tensor, Tensor, Tensor]:
        """Inputs, mask and weights of rows for a factor analysis; sets means and the inputs of levels."""
        values, observed = torch.from_numpy(evidence.values), torch.from_numpy(evidence.observed)
        row_weights = torch.ones(len(values)) if weights is None else torch.from_numpy(weights)
        weighted = observed * row_weights[:, None]
        mean = (values * self.unit * weighted).sum(0) / weighted.sum(0).clamp(min=1)
        self.mean.copy_(torch.where(self.is_category, 0.0, mean))
        for place, inputs in find_level_inputs(values, weighted, specs, self.n_inputs).items():
            self.level_inputs[place, : len(inputs)] = inputs
        inputs = self.inputs(values, torch.arange(len(specs))).flatten(1)
        observed = observed & self.is_evidence
        mask = (observed[..., None] & self.is_input).flatten(1)
        return inputs.double(), mask.double(), row_weights.double()

    def centre(self, analysis: FactorAnalysis) -> None:
        """Add the mean of an analysis of the `analysis_inputs`, once."""
        shift = analysis.mean.float().view(self.is_input.shape)[:, 0]
        self.mean += torch.where(self.is_category, 0.0, shift)

    def use(self, analysis: FactorAnalysis) -> None:
        """Take loadings and precisions from a factor analysis."""
        self.flat_loadings.data.copy_(analysis.loadings.flatten())
        self.log_precision.data.copy_(-analysis.noise.log())

    def freeze(self) -> None:
        """Exclude loadings and precisions from training."""
        for name in ("flat_loadings", "log_precision"):
            values = getattr(self, name).detach()
            delattr(self, name)
            self.register_buffer(name, values)

    @torch.no_grad()
    def posterior_of(self, evidence: Evidence) -> "FactorPosterior":
        """The posterior of the factors given each row."""
        packed, device = self.pack(), self.mean.device
        values, observed = torch.from_numpy(evidence.values), torch.from_numpy(evidence.observed)
        return packed.posterior(packed.code(values.to(device), observed.to(device, torch.float32)))

    def set_regression(self, variable: int, weights: Tensor, covariance: Tensor) -> None:
        """Make regression weights [K] the loadings of a survival variable; keep their covariance [K, K]."""
        loadings = self.flat_loadings.data.view(*self.is_input.shape, self.n_factors)
        loadings[variable] = 0.0
        loadings[variable, 0] = weights
        assert self.regression_covariance is not None  # noqa: S101  # there is a survival variable
        self.regression_covariance[self.regression_place(variable)] = covariance

    def regression_place(self, variable: int) -> int:
        """The place of a survival variable among all of them."""
        return int((~self.is_evidence[:variable]).sum())

    def separates_levels(self, variable: int, spec: VariableSpec) -> bool:
        """Whether a variable has enough inputs to tell all its levels apart."""
        return spec.kind is not Kind.CATEGORY or int(self.is_input[variable].sum()) >= spec.n_levels - 1

    @torch.no_grad()
    def level_inputs_of(self, variable: int, n_levels: int) -> Tensor:
        """The input of each level of a variable [levels, inputs]."""
        levels = torch.arange(float(n_levels), device=self.mean.device)
        variables = torch.full((n_levels, 1), variable, device=self.mean.device)
        return self.inputs(levels[:, None], variables)[:, 0]


@dataclass(frozen=True)
class PackedFactors:
    """Factors with precisions multiplied out; valid while the weights do not change."""

    factors: Factors
    loadings: Tensor  # [variables, inputs, K]
    precision: Tensor  # [variables, inputs], 0 for padding

    @cached_property
    def weighted_loadings(self) -> Tensor:
        """Precision * loadings [variables, inputs, K]."""
        return self.precision[..., None] * self.loadings

    @cached_property
    def triangles(self) -> Tensor:
        """The upper triangle of W^T P W [variables, triangle]."""
        rows, columns = self.factors.triangle
        left = self.weighted_loadings.index_select(2, rows)  # [variables, inputs, triangle]
        return sum_inputs(left * self.loadings.index_select(2, columns))

    def noise_matrix(self, variables: Tensor) -> Tensor:
        """Noise variances of the inputs of some variables, as diagonal matrices [n, inputs, inputs]."""
        precision = self.precision[variables]
        is_padding = precision == 0
        return torch.diag_embed(1 / torch.where(is_padding, 1.0, precision))

    def code(self, values: Tensor, observed: Tensor) -> Tensor:
        """h and the upper triangle of L - I [rows, statistics]."""
        variables = torch.arange(self.loadings.shape[0], device=values.device)
        inputs = self.factors.inputs(values, variables) * observed[..., None]
        information = inputs.flatten(1) @ self.weighted_loadings.flatten(0, 1)
        return torch.cat([information, observed @ self.triangles], dim=1)

    def code_row(self, values: Tensor, variables: Tensor) -> Tensor:
        """The code [statistics] of a single row with observed values [n] of n variables."""
        inputs = self.factors.inputs(values, variables).flatten()
        weighted = self.weighted_loadings.index_select(0, variables).flatten(0, 1)
        return torch.cat([inputs @ weighted, self.triangles.index_select(0, variables).sum(0)])

    def term(self, values: Tensor, variables: Tensor) -> Tensor:
        """What coded answers [..., n] to n variables add to the code [..., n, statistics]."""
        inputs = self.factors.inputs(values, variables)
        information = (inputs[..., None, :] @ self.weighted_loadings[variables])[..., 0, :]
        triangles = self.triangles[variables].expand(*information.shape[:-1], -1)
        return torch.cat([information, triangles], dim=-1)

    def updates(self, prior: "FactorPosterior") -> "FactorUpdates":
        """What an answer to each variable does to the factors of each row of ``prior``."""
        flat = self.loadings.flatten(0, 1)  # [variables * inputs, K]
        shape = (prior.mean.shape[0], *self.precision.shape)  # [rows, variables, inputs]
        projected = (flat @ prior.covariance).view(*shape, -1)
        before = prior.variance[:, None]
        if shape[-1] == 1:
            # The noise variance of a variable that is never observed is infinite, and its gain 0.
            noise = 1 / self.precision
            gain = projected / (noise + (projected * self.loadings).sum(-1))[..., None]
            variance = torch.addcmul(before, gain.squeeze(2), projected.squeeze(2), value=-1)
        else:
            # The inverse of P^-1 + W V W^T as that of a well-conditioned matrix, without infinite noise.
            root = self.precision.sqrt()[..., None]
            weighted = root * projected
            system = weighted @ (root * self.loadings).mT + torch.eye(shape[-1], device=flat.device)
            gain = root * (self.factors.invert(system) @ weighted)
            variance = before - (gain * projected).sum(-2)
        return FactorUpdates(
            prior=prior,
            expected=(prior.mean @ flat.T).view(-1, shape[-1]),
            projected=projected.flatten(0, 1),
            gain=gain.flatten(0, 1),
            variance=variance.flatten(0, 1),
        )

    def posterior(self, statistics: Tensor) -> "FactorPosterior":
        """Mean and covariance of the factors from their part of the code [..., statistics]."""
        k = self.factors.n_factors
        information, triangle = statistics[..., :k], statistics[..., k:]
        matrix = triangle.index_select(-1, self.factors.unpack).view(*triangle.shape[:-1], k, k)
        identity = torch.eye(k, device=matrix.device, dtype=matrix.dtype)
        covariance = self.factors.invert(matrix + identity)
        return FactorPosterior((covariance @ information[..., None])[..., 0], covariance)


@dataclass(frozen=True)
class FactorPosterior:
    """The posterior of the factors given the evidence."""

    mean: Tensor  # [..., K]
    covariance: Tensor  # [..., K, K]

    @property
    def variance(self) -> Tensor:
        """The diagonal of the covariance [..., K]."""
        return self.covariance.diagonal(dim1=-2, dim2=-1)

    def features(self) -> Tensor:
        """What the tail sees of the factors [..., 2 K]."""
        return torch.cat([self.mean, self.variance], dim=-1)

    def project(self, loadings: Tensor) -> tuple[Tensor, Tensor]:
        """Mean [..., n, inputs] and covariance [..., n, inputs, inputs] of W z, for n matrices W."""
        if loadings.shape[1] == 1:
            mean, variance = self.project_vectors(loadings[:, 0])
            return mean[..., None], variance[..., None, None]
        # One product for all matrices W: otherwise the covariance would be copied for each of them.
        half = loadings.flatten(0, 1) @ self.covariance  # [..., n * inputs, K]
        half = half.view(-1, *loadings.shape).transpose(0, 1).flatten(1, 2)  # [n, ... * inputs, K]
        n, r, _ = loadings.shape  # r inputs
        covariance = (half @ loadings.mT).view(n, -1, r, r).transpose(0, 1)
        return project(self.mean, loadings), covariance.reshape(*self.mean.shape[:-1], n, r, r)

    def project_vectors(self, loadings: Tensor) -> tuple[Tensor, Tensor]:
        """Mean and variance of w z, both [..., n], for n vectors w [n, K]."""
        half = multiply(self.covariance, loadings)  # [..., K, n]
        return multiply(self.mean, loadings), (half * loadings.T).sum(-2)


@dataclass(frozen=True)
class FactorUpdates:
    """What an answer to each variable does to the factors of each row, whatever the answer.

    A cell is a row and a variable: row * n_variables + variable.
    """

    prior: FactorPosterior  # before the answer [rows]
    expected: Tensor  # [cells, inputs] W z
    projected: Tensor  # [cells, inputs, K] W V
    gain: Tensor  # [cells, inputs, K] A^T
    variance: Tensor  # [cells, K] of the factors after the answer

    def moments(self, rows: Tensor, cells: Tensor, inputs: Tensor) -> "FactorMoments":
        """The factors of ``rows`` after answers [answers] with these inputs [answers, inputs].

        Equal to `PackedFactors.posterior` of the code with the answer's term.
        """
        innovation = inputs - self.expected.index_select(0, cells)  # f(x) - W z
        prior = self.prior.mean
        mean = prior if len(prior) == 1 else prior.index_select(0, rows)
        gain = self.gain.index_select(0, cells)
        if gain.shape[1] == 1:
            return FactorMoments(torch.addcmul(mean, gain.squeeze(1), innovation), self, cells)
        return FactorMoments(mean + (gain * innovation[..., None]).sum(1), self, cells)

    def select(self, cells: Tensor) -> "FactorUpdates":
        """The updates in some cells, one for each row; a cell is then a row."""
        parts = (self.expected, self.projected, self.gain, self.variance)
        return FactorUpdates(self.prior, *(part.index_select(0, cells) for part in parts))

    def project_variance(self, loadings: Tensor) -> Tensor:
        """The variance of w z after the answer [cells, n], for n vectors w [n, K]."""
        before = self.prior.project_vectors(loadings)[1]  # [rows, n]
        left, right = multiply(self.gain, loadings), multiply(self.projected, loadings)
        change = sum_inputs(left * right)  # [cells, n]
        if len(before) == 1:
            return before - change
        return (before[:, None] - change.view(len(before), -1, len(loadings))).flatten(0, 1)

    def project_covariance(self, loadings: Tensor) -> Tensor:
        """The covariance of W z after the answer [cells, n, inputs, inputs], for n matrices W."""
        before = self.prior.project(loadings)[1]  # [rows, n, inputs, inputs]
        left = project(self.gain, loadings)[..., :, None]  # [cells, inputs of the answer, n, inputs, 1]
        right = project(self.projected, loadings)[..., None, :]
        change = sum_inputs(left * right)  # [cells, n, inputs, inputs]
        return (before[:, None] - change.view(len(before), -1, *change.shape[1:])).flatten(0, 1)


@dataclass(frozen=True)
class FactorMoments:
    """Mean and variances of the factors after candidate answers."""

    mean: Tensor  # [answers, K]
    updates: FactorUpdates
    cells: Tensor  # [answers]

    @property
    def variance(self) -> Tensor:
        """The variances [answers, K]."""
        return self.updates.variance.index_select(0, self.cells)

    def features(self) -> Tensor:
        """What the tail sees of the factors [..., 2 K]."""
        return torch.cat([self.mean, self.variance], dim=-1)

    def project(self, loadings: Tensor) -> tuple[Tensor, Tensor]:
        """Mean [answers, n, inputs] and covariance [answers, n, inputs, inputs] of W z."""
        if loadings.shape[1] == 1:
            mean, variance = self.project_vectors(loadings[:, 0])
            return mean[..., None], variance[..., None, None]
        mean = project(self.mean, loadings)
        return mean, self.updates.project_covariance(loadings).index_select(0, self.cells)

    def project_vectors(self, loadings: Tensor) -> tuple[Tensor, Tensor]:
        """Mean and variance of w z, both [answers, n], for n vectors w [n, K]."""
        variance = self.updates.project_variance(loadings).index_select(0, self.cells)
        return multiply(self.mean, loadings), variance


def _count_inputs(spec: VariableSpec) -> int:
    return min(spec.n_levels - 1, MAX_CATEGORY_INPUTS) if spec.kind is Kind.CATEGORY else 1
