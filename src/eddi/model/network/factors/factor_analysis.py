"""Factor analysis by EM with missing values, shrunk so that few rows suffice."""

from dataclasses import dataclass, replace

import torch
from torch import Tensor

from eddi.model.network.factors.shrinkage import MAX_SHRINKAGE, estimate_shrinkage

N_ITERATIONS = 60  # of EM
MIN_VARIANCE = 1e-3  # of the noise, in coded units: the upper end of factor_model.LOG_PRECISION_RANGE
PRIOR_ROWS = 15.0  # pseudo-observations of noise per input; shrinks the factors of small tables
PRIOR_VARIANCE = 0.05  # their variance, as a share of the input's variance


@dataclass(frozen=True)
class FactorAnalysis:
    """The parameters of a factor model."""

    loadings: Tensor  # [inputs, K]
    noise: Tensor  # [inputs] variances
    mean: Tensor  # [inputs]
    shrinkage: float  # estimated share by which correlations should be shrunk; not yet applied

    def shrink(self, multiple: float) -> "FactorAnalysis":
        """Correlations shrunk by a multiple of the estimated share; the variances stay the same."""
        share = min(multiple * self.shrinkage, MAX_SHRINKAGE)
        unexplained = share * self.loadings.square().sum(1)
        return replace(
            self,
            loadings=(1 - share) ** 0.5 * self.loadings,
            noise=self.noise + unexplained,
            shrinkage=0.0,
        )


def fit_factors(
    inputs: Tensor, observed: Tensor, n_factors: int, *, weights: Tensor | None = None
) -> FactorAnalysis:
    """Factor analysis by EM with missing values (Rubin and Thayer 1982).

    The noise variances are shrunk towards a small positive value, so that few rows do not lead to a
    perfect fit. The mean is that of all rows, whether a value is missing or not, provided that this
    depends on observed values only (missing at random).

    Args:
        inputs: values minus the mean of the observed ones [rows, inputs]; anything where unobserved.
        observed: 1 where observed [rows, inputs].
        n_factors: K.
        weights: how many rows each row counts as [rows]; 1 if None.
    """
    inputs = inputs * observed
    row_weights = torch.ones_like(inputs[:, 0]) if weights is None else weights
    shrinkage = estimate_shrinkage(inputs, observed, row_weights)
    weighted = observed * row_weights[:, None]
    count = weighted.sum(0).clamp(min=1)
    variance = ((inputs.square() * weighted).sum(0) / count).clamp(min=MIN_VARIANCE)
    loadings = _principal_loadings(inputs, observed, weighted, n_factors)
    noise = (variance - loadings.square().sum(1)).clamp(min=PRIOR_VARIANCE * variance)
    identity = torch.eye(n_factors, dtype=inputs.dtype)
    shift, uncentred = torch.zeros_like(variance), inputs
    for _ in range(N_ITERATIONS):
        inputs = (uncentred - shift) * observed
        precision = observed / noise
        matrix = identity + torch.einsum("ns,sk,sl->nkl", precision, loadings, loadings)
        covariance = torch.linalg.inv(matrix)
        mean = (covariance @ ((precision * inputs) @ loadings)[..., None])[..., 0]
        second = covariance + mean[:, :, None] * mean[:, None, :]
        left = torch.einsum("ns,nkl->skl", weighted, second) + identity
        loadings = torch.linalg.solve(left, ((inputs * weighted).T @ mean)[..., None])[..., 0]
        residual = ((inputs - mean @ loadings.T).square() * weighted).sum(0)
        spread = torch.einsum("ns,nkl->skl", weighted, covariance)
        residual = residual + torch.einsum("sk,skl,sl->s", loadings, spread, loadings)
        prior = PRIOR_ROWS * PRIOR_VARIANCE * variance
        noise = ((residual + prior) / (count + PRIOR_ROWS)).clamp(min=MIN_VARIANCE)
        shift = ((uncentred - mean @ loadings.T) * weighted).sum(0) / count
    return FactorAnalysis(loadings, noise, shift, shrinkage)


def _principal_loadings(inputs: Tensor, observed: Tensor, weighted: Tensor, n_factors: int) -> Tensor:
    """Principal components of the pairwise covariance, as initial loadings [inputs, K]."""
    covariance = ((inputs * weighted).T @ inputs) / (weighted.T @ observed).clamp(min=1)
    values, vectors = torch.linalg.eigh(covariance)
    top = vectors[:, -n_factors:] * values[-n_factors:].clamp(min=1e-4).sqrt()
    random = torch.Generator().manual_seed(0)
    loadings = 0.01 * torch.randn((len(covariance), n_factors), generator=random, dtype=inputs.dtype)
    loadings[:, : top.shape[1]] += 0.9 * top
    return loadings
