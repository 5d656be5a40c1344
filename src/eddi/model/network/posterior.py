"""The approximate posterior over the latent: a diagonal Gaussian per row."""

from dataclasses import dataclass

import torch
from torch import Tensor


@dataclass(frozen=True)
class Posterior:
    """q(z | x_O): one diagonal Gaussian per row, or per row and candidate answer (any leading shape)."""

    mean: Tensor  # [..., latent]
    log_var: Tensor  # [..., latent]

    def draw(self, noise: Tensor) -> Tensor:
        """Latent values from standard normal ``noise`` [draws, ..., latent]."""
        return torch.addcmul(self.mean, noise, torch.exp(0.5 * self.log_var))

    def kl(self, other: "Posterior") -> Tensor:
        """KL(self || other) in nats, summed over the latent."""
        # ½ Σ (log σ₂² − log σ₁² + (σ₁² + (μ₁ − μ₂)²) / σ₂² − 1). The published code divides the
        # squared difference by σ₂ instead of σ₂²; this is the true divergence.
        variance_ratio = torch.exp(self.log_var - other.log_var)
        shift = (self.mean - other.mean).square() * torch.exp(-other.log_var)
        return 0.5 * (other.log_var - self.log_var + variance_ratio + shift - 1).sum(-1)

    def kl_from_prior(self) -> Tensor:
        """KL(self || p(z)) for the standard normal prior, in nats, summed over the latent."""
        return 0.5 * (self.mean.square() + self.log_var.exp() - self.log_var - 1).sum(-1)
