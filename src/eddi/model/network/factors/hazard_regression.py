"""Log hazard ratios from the factors: a proportional-hazards regression, for any observed subset.

With regression weights b on the factors, whose posterior has mean z and covariance V, the expected hazard is
proportional to E[exp(b z)] = exp(b z + b V b^T / 2). The weights are fitted to the training rows with Newton
steps and a normal prior, whose variance is estimated, too (MacKay 1992): Cox regression with a ridge
penalty (Verweij and van Houwelingen 1994), for grouped times. A network needs many events to learn
what this regression finds with few.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import torch
from torch import Tensor

from eddi.model.network.factors.factor_model import FactorMoments, FactorPosterior, PackedFactors
from eddi.model.network.hazards import N_EFFECTS, DiscreteHazard, count_events
from eddi.model.network.heads import Heads

N_STEPS = 30
MAX_CHANGE = 2.0  # of a log hazard in one Newton step
INITIAL_VARIANCE = 0.1  # prior variance of a weight
VARIANCE_RANGE = (1e-4, 10.0)


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
    row_weight: float = 1.0,
) -> tuple[Tensor, Tensor, Tensor]:
    """Regression weights [K], their covariance [K, K] and constant outputs [N_EFFECTS] of a variable.

    Args:
        likelihood: of the variable, with its base hazards.
        place: of the variable in the likelihood.
        values: the numbers of rows [rows] in which the variable is observed.
        factors: of these rows.
        row_weight: below 1 if rows are not independent: several rows of a person tell of one event.
    """
    n_bins = int(likelihood.is_hazard[place].sum())
    base = likelihood.log_base[place, :n_bins].double()
    effects = likelihood.effects[place, :n_bins].double()
    column = values[:, None].double()
    events, exposure = (part[:, 0] for part in count_events(column, torch.ones_like(column), n_bins))
    exposure = exposure + 0.5 * events  # events lie in the middle of their bin on average
    events, exposure = row_weight * events, row_weight * exposure
    z, covariance = factors.mean.double(), factors.covariance.double()
    weights, constants = z.new_zeros(z.shape[1]), z.new_zeros(N_EFFECTS)
    variance, uncertainty = torch.tensor(INITIAL_VARIANCE, dtype=z.dtype), torch.eye(z.shape[1])
    n_events = events.sum(1)
    for _ in range(N_STEPS):
        spread = 0.5 * torch.einsum("k,rkl,l->r", weights, covariance, weights)
        log_ratio = (z @ weights + spread)[:, None]
        expected = exposure * (log_ratio + base + effects @ constants).clamp(-20, 8).exp()
        by_row, by_bin = expected.sum(1), expected.sum(0)
        gradient = torch.cat(
            [z.T @ (n_events - by_row) - weights / variance, effects.T @ (events.sum(0) - by_bin)]
        )
        cross = z.T @ (expected @ effects)
        top = torch.cat([(z.T * by_row) @ z + torch.eye(z.shape[1]) / variance, cross], dim=1)
        bottom = torch.cat([cross.T, (effects.T * by_bin) @ effects + 1e-3 * torch.eye(N_EFFECTS)], 1)
        hessian = torch.cat([top, bottom])
        step = torch.linalg.solve(hessian, gradient)
        step = step * (MAX_CHANGE / step.abs().max().clamp(min=MAX_CHANGE))
        weights, constants = weights + step[: z.shape[1]], constants + step[z.shape[1] :]
        uncertainty = torch.linalg.inv(hessian)[: z.shape[1], : z.shape[1]]
        total = weights.square().sum() + uncertainty.trace()
        variance = (total / z.shape[1]).clamp(*VARIANCE_RANGE)
    return weights.float(), uncertainty.float(), constants.float()
