"""Factor analysis by EM with missing values, shrunk so that few rows suffice.

Several tables can be analysed at once: all tensors may have leading dimensions [...].
"""

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

    loadings: Tensor  # [..., inputs, K]
    noise: Tensor  # [..., inputs] variances
    mean: Tensor  # [..., inputs]
    shrinkage: Tensor  # [...] estimated share by which correlations should be shrunk; not yet applied

    def shrink(self, multiple: float) -> "FactorAnalysis":
        """Correlations shrunk by a multiple of the estimated share; the variances stay the same."""
        share = (multiple * self.shrinkage).clamp(max=MAX_SHRINKAGE)[..., None]  # [..., 1]
        return replace(
            self,
            loadings=(1 - share).sqrt()[..., None] * self.loadings,
            noise=self.noise + share * self.loadings.square().sum(-1),
            shrinkage=torch.zeros_like(self.shrinkage),
        )


def fit_factors(
    inputs: Tensor, observed: Tensor, n_factors: int, *, weights: Tensor | None = None
) -> FactorAnalysis:
    """Factor analysis by EM with missing values (Rubin and Thayer 1982).

    The noise variances are shrunk towards a small positive value, so that few rows do not lead to a
    perfect fit. The mean is that of all rows, whether a value is missing or not, provided that this
    depends on observed values only (missing at random).

    Args:
        inputs: values minus the mean of the observed ones [..., rows, inputs]; anything where unobserved.
        observed: 1 where observed [..., rows, inputs].
        n_factors: K.
        weights: how many rows each row counts as [..., rows]; 1 if None.
    """
    inputs = inputs * observed
    row_weights = torch.ones_like(inputs[..., 0]) if weights is None else weights
    shrinkage = estimate_shrinkage(inputs, observed, row_weights)
    weighted = observed * row_weights[..., None]
    count = weighted.sum(-2).clamp(min=1)
    variance = ((inputs.square() * weighted).sum(-2) / count).clamp(min=MIN_VARIANCE)
    loadings = _principal_loadings(inputs, observed, weighted, n_factors)
    noise = (variance - loadings.square().sum(-1)).clamp(min=PRIOR_VARIANCE * variance)
    identity = torch.eye(n_factors, dtype=inputs.dtype, device=inputs.device)
    triangle = _Triangle.of(n_factors, inputs.device)
    shift, uncentred = torch.zeros_like(variance), inputs
    for _ in range(N_ITERATIONS):
        inputs = (uncentred - shift[..., None, :]) * observed
        precision = observed / noise[..., None, :]
        matrix = identity + triangle.unpack(precision @ triangle.products(loadings))
        covariance = torch.linalg.inv(matrix)  # [..., rows, K, K]
        mean = (covariance @ ((precision * inputs) @ loadings)[..., None])[..., 0]
        spread = triangle.unpack(weighted.mT @ triangle.pack(covariance))  # [..., inputs, K, K]
        left = spread + triangle.unpack(weighted.mT @ triangle.products(mean)) + identity
        loadings = torch.linalg.solve(left, ((inputs * weighted).mT @ mean)[..., None])[..., 0]
        residual = ((inputs - mean @ loadings.mT).square() * weighted).sum(-2)
        residual = residual + ((spread @ loadings[..., None])[..., 0] * loadings).sum(-1)
        prior = PRIOR_ROWS * PRIOR_VARIANCE * variance
        noise = ((residual + prior) / (count + PRIOR_ROWS)).clamp(min=MIN_VARIANCE)
        shift = ((uncentred - mean @ loadings.mT) * weighted).sum(-2) / count
    return FactorAnalysis(loadings, noise, shift, shrinkage)


@dataclass(frozen=True)
class _Triangle:
    """Symmetric matrices as the entries of their upper triangle: sums over them are matrix products."""

    rows: Tensor  # [entries]
    columns: Tensor  # [entries]
    place: Tensor  # [K, K] entry of each cell

    @classmethod
    def of(cls, size: int, device: torch.device) -> "_Triangle":
        rows, columns = torch.triu_indices(size, size, device=device)
        place = torch.zeros((size, size), dtype=torch.int64, device=device)
        place[rows, columns] = place[columns, rows] = torch.arange(len(rows), device=device)
        return cls(rows, columns, place)

    def products(self, vectors: Tensor) -> Tensor:
        """The entries of v v^T [..., entries] for vectors [..., K]."""
        return vectors[..., self.rows] * vectors[..., self.columns]

    def pack(self, matrices: Tensor) -> Tensor:
        """The entries [..., entries] of symmetric matrices [..., K, K]."""
        return matrices[..., self.rows, self.columns]

    def unpack(self, entries: Tensor) -> Tensor:
        """The inverse of `pack`."""
        return entries[..., self.place]


def _principal_loadings(inputs: Tensor, observed: Tensor, weighted: Tensor, n_factors: int) -> Tensor:
    """Principal components of the pairwise covariance, as initial loadings [..., inputs, K]."""
    covariance = ((inputs * weighted).mT @ inputs) / (weighted.mT @ observed).clamp(min=1)
    values, vectors = torch.linalg.eigh(covariance)
    top = vectors[..., -n_factors:] * values[..., None, -n_factors:].clamp(min=1e-4).sqrt()
    random = torch.Generator().manual_seed(0)
    shape = (covariance.shape[-1], n_factors)
    noise = 0.01 * torch.randn(shape, generator=random, dtype=inputs.dtype)
    loadings = noise.to(inputs.device).repeat(*covariance.shape[:-2], 1, 1)
    loadings[..., : top.shape[-1]] += 0.9 * top
    return loadings
