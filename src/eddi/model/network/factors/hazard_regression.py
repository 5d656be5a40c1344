"""Log hazard ratios from the factors: a proportional-hazards regression, for any observed subset.

With regression weights b on the factors, whose posterior has mean z and covariance V, the expected hazard is
proportional to E[exp(b z)] = exp(b z + b V b^T / 2). The weights are fitted to the training rows with Newton
steps: Cox regression with a ridge penalty (Verweij and van Houwelingen 1994), for grouped times. A network
needs many events to learn what this regression finds with few.

The penalty is that of a regression on the variables: weights c of their standardised inputs, which the
factors predict as A z, have independent normal priors. The weights on the factors are b = c A, with the
prior covariance A^T A. The strength of the penalty has the highest cross-validated likelihood.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from eddi.model.network.factors.factor_model import FactorMoments, FactorPosterior, PackedFactors
from eddi.model.network.hazards import N_EFFECTS, DiscreteHazard, count_events
from eddi.model.network.heads import Heads

N_STEPS = 30
MAX_CHANGE = 2.0  # of a log hazard in one Newton step
PENALTIES = (1.0, 2.0, 5.0, 10.0, 20.0, 50.0, 100.0, 200.0, 500.0)  # of squared standardised weights
DEFAULT_PENALTY = 10.0  # with too few rows for cross-validation
N_FOLDS, MIN_ROWS = 5, 20
N_FOLD_STEPS = 10  # of a fold; more change the choice of the penalty no more
MIN_DIRECTION = 1e-8  # of a prior variance, as a share of the largest one


@dataclass(frozen=True)
class HazardRegression:
    """Predicts the log hazard ratio of each survival variable from the factors."""

    variables: Tensor  # [variables] their positions
    loadings: Tensor  # [variables, 1, K] regression weights on the factors
    covariance: Tensor  # [variables, K, K] of these weights
    rows: Tensor  # [variables] the first outputs of the heads: log hazard ratios

    @classmethod
    def from_heads(
        cls, heads: Heads, variables: Sequence[int], packed: PackedFactors
    ) -> "HazardRegression | None":
        """The log hazard ratios for the outputs of ``heads``; None without survival variables."""
        chosen, rows = [], []
        for head in heads.heads():
            if isinstance(head.likelihood, DiscreteHazard):
                chosen += [variables[own] for own in head.variables.tolist()]
                n_own = len(head.variables)
                rows += [head.outputs.start + row for row in range(0, N_EFFECTS * n_own, N_EFFECTS)]
        if not chosen:
            return None
        device = packed.loadings.device
        index = torch.tensor(chosen, device=device)
        loadings = packed.loadings[index][:, :1]
        places = [packed.factors.regression_place(variable) for variable in chosen]
        covariance = packed.factors.regression_covariance
        assert covariance is not None  # noqa: S101  # there are survival variables
        return cls(index, loadings, covariance[places], torch.tensor(rows, device=device))

    def with_factors(self, packed: PackedFactors) -> "HazardRegression":
        """The same with other regression weights, as after a step of training."""
        return replace(self, loadings=packed.loadings[self.variables][:, :1])

    def __call__(self, factors: FactorPosterior | FactorMoments) -> Tensor:
        """Log hazard ratios without their constant [..., variables]."""
        mean, variance = factors.project_vectors(self.loadings[:, 0])
        return mean + 0.5 * variance

    def log_hazard_sd(self, factors: FactorPosterior) -> Tensor:
        """Standard deviation of the log hazard ratios [rows, variables].

        It has two parts: what other answers would still change, and the uncertainty of the weights.
        """
        _, spread = factors.project_vectors(self.loadings[:, 0])
        z = factors.mean
        of_weights = torch.einsum("rk,nkl,rl->rn", z, self.covariance, z)
        return (spread + of_weights).clamp(min=0).sqrt()


def fit_hazard_regression(
    likelihood: DiscreteHazard,
    place: int,
    values: Tensor,
    factors: FactorPosterior,
    *,
    directions: Tensor | None = None,
    groups: NDArray[np.int64] | None = None,
) -> tuple[Tensor, Tensor, Tensor]:
    """Regression weights [K], their covariance [K, K] and constant outputs [N_EFFECTS] of a variable.

    Args:
        likelihood: of the variable, with its base hazards.
        place: of the variable in the likelihood.
        values: the numbers of rows [rows] in which the variable is observed.
        factors: of these rows.
        directions: a root R of the prior covariance R R^T of the weights [K, n]; None for independent ones.
        groups: the person of each row, if several rows tell of one event; they count as one.
    """
    root = torch.eye(factors.mean.shape[1]) if directions is None else directions
    data = _HazardData.from_rows(likelihood, place, values, factors, root.double(), groups)
    penalty = _choose_penalty(data, groups)
    weights, covariance, constants = data.fit(penalty, N_STEPS)
    root = root.double()
    return (root @ weights).float(), (root @ covariance @ root.T).float(), constants.float()


def find_directions(packed: PackedFactors, excluded: Sequence[int] = ()) -> Tensor:
    """A root R [K, n] of A^T A, where A are the loadings of all standardised inputs.

    Those of ``excluded`` variables (positions), which a regression does not use, are left out.
    """
    is_input = packed.precision > 0
    is_input[list(excluded)] = False
    loadings = packed.loadings[is_input].detach().double()
    variance = loadings.square().sum(1) + 1 / packed.precision[is_input].detach().double()
    standardised = loadings / variance.sqrt()[:, None]
    values, vectors = torch.linalg.eigh(standardised.T @ standardised)
    is_used = values > MIN_DIRECTION * values[-1]
    root: Tensor = vectors[:, is_used] * values[is_used].sqrt()
    return root.float()


@dataclass(frozen=True)
class _HazardData:
    """Grouped times of rows and the features of a regression."""

    features: Tensor  # [rows, n]
    covariance: Tensor | None  # [rows, n, n] of the features
    events: Tensor  # [rows, bins]
    exposure: Tensor  # [rows, bins]
    base: Tensor  # [bins] log hazards without covariates
    effects: Tensor  # [bins, N_EFFECTS]

    @classmethod
    def from_rows(
        cls,
        likelihood: DiscreteHazard,
        place: int,
        values: Tensor,
        factors: FactorPosterior,
        root: Tensor,
        groups: NDArray[np.int64] | None,
    ) -> "_HazardData":
        """The features are the factors times ``root``."""
        n_bins = int(likelihood.is_hazard[place].sum())
        column = values[:, None].double()
        events, exposure = (part[:, 0] for part in count_events(column, torch.ones_like(column), n_bins))
        exposure = exposure + 0.5 * events  # events lie in the middle of their bin on average
        share = 1.0 if groups is None else len(np.unique(groups)) / max(1, len(groups))
        return cls(
            factors.mean.double() @ root,
            root.T @ factors.covariance.double() @ root,
            share * events,
            share * exposure,
            likelihood.log_base[place, :n_bins].double(),
            likelihood.effects[place, :n_bins].double(),
        )

    def select(self, rows: Tensor) -> "_HazardData":
        """Some rows, with features as if they were known exactly."""
        return replace(
            self,
            features=self.features[rows],
            covariance=None,
            events=self.events[rows],
            exposure=self.exposure[rows],
        )

    def log_hazards(self, weights: Tensor, constants: Tensor) -> Tensor:
        """Log hazards [rows, bins]."""
        log_ratio = self.features @ weights
        if self.covariance is not None:
            log_ratio = log_ratio + 0.5 * ((self.covariance @ weights) @ weights)
        return (log_ratio[:, None] + self.base + self.effects @ constants).clamp(-20, 8)

    def log_likelihood(self, weights: Tensor, constants: Tensor) -> float:
        """Log-likelihood of the rows, up to a constant."""
        log_hazards = self.log_hazards(weights, constants)
        return float((self.events * log_hazards - self.exposure * log_hazards.exp()).sum())

    def fit(self, penalty: float, n_steps: int) -> tuple[Tensor, Tensor, Tensor]:
        """Weights [n], their covariance [n, n] and constants [N_EFFECTS], by Newton steps."""
        n = self.features.shape[1]
        params = self.features.new_zeros(n + N_EFFECTS)
        ridge = torch.cat([params.new_full((n,), penalty), params.new_full((N_EFFECTS,), 1e-3)])
        hessian = torch.diag(ridge)
        for _ in range(n_steps):
            expected = self.exposure * self.log_hazards(params[:n], params[n:]).exp()
            gradient, hessian = self._derivatives(expected)
            gradient[:n] -= penalty * params[:n]
            hessian = hessian + torch.diag(ridge)
            step = torch.linalg.solve(hessian, gradient)
            params = params + step * (MAX_CHANGE / step.abs().max().clamp(min=MAX_CHANGE))
        return params[:n], torch.linalg.inv(hessian)[:n, :n], params[n:]

    def _derivatives(self, expected: Tensor) -> tuple[Tensor, Tensor]:
        """Gradient and negative second derivative of the log-likelihood, for expected events."""
        x, by_row, by_bin = self.features, expected.sum(1), expected.sum(0)
        of_weights = x.T @ (self.events.sum(1) - by_row)
        gradient = torch.cat([of_weights, self.effects.T @ (self.events.sum(0) - by_bin)])
        cross = x.T @ (expected @ self.effects)
        top = torch.cat([(x.T * by_row) @ x, cross], dim=1)
        bottom = torch.cat([cross.T, (self.effects.T * by_bin) @ self.effects], dim=1)
        return gradient, torch.cat([top, bottom])


def _choose_penalty(data: _HazardData, groups: NDArray[np.int64] | None) -> float:
    """The penalty with the highest cross-validated likelihood (Verweij and van Houwelingen 1993)."""
    persons = (
        np.arange(len(data.events)) if groups is None else np.unique(groups, return_inverse=True)[1]
    )
    n_persons = int(persons.max(initial=-1)) + 1
    if n_persons < MIN_ROWS:
        return DEFAULT_PENALTY
    folds = torch.from_numpy(np.random.default_rng(0).permutation(n_persons)[persons] % N_FOLDS)
    parts = [(data.select(folds != fold), data.select(folds == fold)) for fold in range(N_FOLDS)]

    def score(penalty: float) -> float:
        fits = [(rest.fit(penalty, N_FOLD_STEPS), held_out) for rest, held_out in parts]
        total = sum(
            held_out.log_likelihood(weights, constants) for (weights, _, constants), held_out in fits
        )
        return total if math.isfinite(total) else -math.inf

    scores = {penalty: score(penalty) for penalty in PENALTIES}
    best = max(scores, key=lambda penalty: scores[penalty])
    return best if scores[best] > -math.inf else DEFAULT_PENALTY
