"""Hidden features: what the output heads see of an observed set."""

from dataclasses import dataclass

from torch import Tensor

from eddi.model.network.factors.factor_model import FactorMoments, FactorPosterior


@dataclass(frozen=True)
class Features:
    """Hidden features of some rows."""

    inputs: (
        Tensor  # [..., width] inputs of the output layers: the tail's features, then the factors' mean
    )
    factors: FactorPosterior | FactorMoments | None  # None without factors

    def first(self, n: int) -> "Features":
        """The features of the first ``n`` rows of evidence."""
        factors = self.factors
        if isinstance(factors, FactorPosterior):
            factors = FactorPosterior(factors.mean[:n], factors.covariance[:n])
        return Features(self.inputs[:n], factors)
