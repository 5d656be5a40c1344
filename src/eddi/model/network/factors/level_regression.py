"""Logistic regression of a variable with levels on the factors, for any observed subset.

Linear discriminant analysis (`discriminant`) assumes normal inputs, with the same covariance for all levels.
Where answers are skewed and a level is rare, logistic regression predicts much better. With regression
weights b_c and a constant a_c of level c, and posterior mean z and covariance V of the factors,

    logit_c = (a_c + b_c z) / sqrt(1 + pi / 8 * s * b_c V b_c^T)

The root approximates the mean of a logistic function of a normal variable (MacKay 1992): what is not known
yet makes predictions less certain. Weights and constants sum to 0 over the levels. With C levels, s is
(C / (C - 1))^2, so that two levels give the formula of a binary logistic regression.

The weights solve the score equations of the training rows with the roots held fixed. The penalty is that of a
regression on the variables, as in `hazard_regression`.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from eddi.model.network.factors.factor_model import FactorMoments, FactorPosterior

MAX_LOGIT = 20.0  # larger ones are due to values outside the range of the factor model
N_STEPS = 12
MAX_CHANGE = 2.0  # of a weight in one Newton step
MIN_CHANGE = 1e-4  # after which no more steps are taken
CONSTANT_PENALTY = 0.1  # of a constant's difference from the log share of its level
PROBIT_SCALE = math.pi / 8  # of the variance of a logit


@dataclass(frozen=True)
class LevelRegression:
    """Logits of the levels of some variables, and their weights in the mixture with other logits."""

    loadings: Tensor  # [levels, K] regression weights on the factors
    constants: Tensor  # [levels]
    variance_factor: Tensor  # [levels] s, or 1 for the only logit of a binary variable
    mixing_weight: Tensor  # [levels]
    rows: Tensor  # [levels] the outputs that get these logits

    def logits(self, factors: FactorPosterior | FactorMoments) -> Tensor:
        """The logits [..., levels]."""
        mean, variance = factors.project_vectors(self.loadings)
        root = torch.rsqrt(1 + PROBIT_SCALE * self.variance_factor * variance)
        return ((mean + self.constants) * root).clamp(-MAX_LOGIT, MAX_LOGIT)

    def add_to(self, outputs: Tensor, factors: FactorPosterior | FactorMoments) -> Tensor:
        """``outputs`` [..., outputs] plus the weighted logits."""
        return outputs.index_add(-1, self.rows, self.mixing_weight * self.logits(factors))


class LevelRegressions(nn.Module):
    """The regressions for the outputs of all variables; most have none, and a weight of 0."""

    mixing_weight: Tensor  # [outputs]
    loadings: Tensor  # [outputs, K]
    constants: Tensor  # [outputs]
    variance_factor: Tensor  # [outputs]

    def __init__(self, variance_factor: Tensor, n_factors: int) -> None:
        super().__init__()
        self.register_buffer("mixing_weight", torch.zeros_like(variance_factor))
        self.register_buffer("loadings", torch.zeros(len(variance_factor), n_factors))
        self.register_buffer("constants", torch.zeros_like(variance_factor))
        self.register_buffer("variance_factor", variance_factor, persistent=False)

    def set(self, rows: Sequence[int], regression: LevelRegression | None) -> None:
        """Replace the regression of a variable, whose outputs are ``rows``."""
        self.mixing_weight[rows] = 0.0
        if regression is not None:
            self.mixing_weight[rows] = regression.mixing_weight.to(self.mixing_weight)
            self.loadings[rows] = regression.loadings.to(self.loadings)
            self.constants[rows] = regression.constants.to(self.constants)

    def remove_all(self) -> None:
        """Remove all regressions, since those of other factors or rows are not valid."""
        self.mixing_weight.zero_()

    def select(self, rows: Tensor) -> LevelRegression | None:
        """The regressions of some outputs, as the outputs that they are among these; None without any."""
        places = self.mixing_weight[rows].nonzero().flatten()
        if not len(places):
            return None
        own = rows[places]
        return LevelRegression(
            self.loadings[own],
            self.constants[own],
            self.variance_factor[own],
            self.mixing_weight[own],
            places,
        )


@dataclass(frozen=True)
class LevelRows:
    """Rows in which the level of a variable is known, as the regression sees them."""

    features: Tensor  # [rows, n + 1] the factors times a root of the prior covariance, and 1
    covariance: Tensor  # [rows, n, n] of the features
    is_level: Tensor  # [rows, levels] one-hot
    weights: Tensor  # [rows]
    root: Tensor  # [K, n]

    @classmethod
    def from_factors(
        cls, factors: FactorPosterior, levels: Tensor, weights: Tensor, *, n_levels: int, root: Tensor
    ) -> "LevelRows":
        """Rows with these ``levels`` [rows]; ``root`` is that of `hazard_regression.find_directions`."""
        root = root.double()
        features = factors.mean.double() @ root
        return cls(
            torch.cat([features, torch.ones_like(features[:, :1])], dim=1),
            root.T @ factors.covariance.double() @ root,
            F.one_hot(levels.long(), n_levels).double(),
            weights.double(),
            root,
        )

    @property
    def n_levels(self) -> int:
        """The number of levels."""
        return self.is_level.shape[1]

    def start(self) -> Tensor:
        """Parameters without any weight [n + 1, levels]: the log shares of the levels."""
        counts = self.weights @ self.is_level + 0.5
        params = self.features.new_zeros((self.features.shape[1], self.n_levels))
        params[-1] = _centre((counts / counts.sum()).log())
        return params

    def fit(self, penalty: float, start: Tensor) -> Tensor:
        """Solve the penalised score equations by Newton steps that keep the roots fixed.

        Returns the parameters [n + 1, levels].
        """
        params, prior = start, self.start()
        ridge = torch.full_like(params, penalty)
        ridge[-1] = CONSTANT_PENALTY
        for _ in range(N_STEPS):
            roots = self._roots(params)
            probabilities = (roots * (self.features @ params)).softmax(1)
            slopes = self.weights[:, None] * roots * (self.is_level - probabilities)
            gradient = self.features.T @ slopes - ridge * (params - prior)  # [n + 1, levels]
            hessian = self._curvature(roots, probabilities) + torch.diag(ridge.T.flatten())
            step = torch.linalg.solve(hessian, gradient.T.flatten()).view(self.n_levels, -1).T
            step = _centre(step)
            step = step * (MAX_CHANGE / step.abs().max().clamp(min=MAX_CHANGE))
            params = params + step
            if float(step.abs().max()) < MIN_CHANGE:
                break
        return params

    def regression(self, params: Tensor, *, is_binary: bool) -> LevelRegression:
        """Predicts the outputs of the variable alone.

        A variable of the binary kind has one, the difference between its levels; others have one per level.
        """
        loadings, constants = (self.root @ params[:-1]).T, params[-1]
        if is_binary:
            loadings, constants = loadings[1:] - loadings[:1], constants[1:] - constants[:1]
        n_outputs = len(constants)
        weight, rows = torch.ones(n_outputs), torch.arange(n_outputs)
        factor = find_variance_factor(n_outputs) * weight
        return LevelRegression(loadings.float(), constants.float(), factor, weight, rows)

    def _roots(self, params: Tensor) -> Tensor:
        """What the uncertainty of the factors multiplies each logit by [rows, levels]."""
        variance = ((self.covariance @ params[:-1]) * params[:-1]).sum(1)
        factor = find_variance_factor(self.n_levels)
        return torch.rsqrt(1 + PROBIT_SCALE * factor * variance.clamp(min=0))

    def _curvature(self, roots: Tensor, probabilities: Tensor) -> Tensor:
        """Negative second derivative of the log-likelihood [levels * (n + 1), levels * (n + 1)]."""
        of_logits = torch.diag_embed(probabilities) - probabilities[:, :, None] * probabilities[:, None]
        scaled = self.weights[:, None, None] * roots[:, :, None] * roots[:, None] * of_logits
        products = self.features[:, :, None] * self.features[:, None]  # [rows, n + 1, n + 1]
        both = scaled.flatten(1).T @ products.flatten(1)  # [levels * levels, (n + 1) * (n + 1)]
        n, width = self.n_levels, self.features.shape[1]
        return both.view(n, n, width, width).transpose(1, 2).reshape(n * width, n * width)


def find_variance_factor(n_outputs: int) -> float:
    """The factor s of the variance, for the number of outputs of a variable; 1 for a single logit."""
    return 1.0 if n_outputs == 1 else (n_outputs / (n_outputs - 1)) ** 2


def _centre(params: Tensor) -> Tensor:
    """Parameters [..., levels] that sum to 0."""
    return params - params.mean(-1, keepdim=True)
