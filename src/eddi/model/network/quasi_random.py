"""Quasi-random numbers for Monte Carlo draws: scrambled Sobol points, evener than random ones."""

import torch
from torch import Tensor

MARGIN = 1e-6  # keeps uniform numbers away from 0 and 1, where quantiles are infinite


def uniform(n_draws: int, n_dimensions: int, *, seed: int) -> Tensor:
    """Quasi-random numbers in (0, 1) [draws, dimensions]; pseudo-random beyond Sobol's dimensions."""
    if n_dimensions > torch.quasirandom.SobolEngine.MAXDIM:
        random = torch.Generator().manual_seed(seed)
        return torch.rand((n_draws, n_dimensions), generator=random).clamp(MARGIN, 1 - MARGIN)
    sobol = torch.quasirandom.SobolEngine(n_dimensions, scramble=True, seed=seed)  # type: ignore[no-untyped-call]
    return sobol.draw(n_draws).clamp(MARGIN, 1 - MARGIN)


def standard_normal(n_draws: int, n_dimensions: int, *, seed: int) -> Tensor:
    """Quasi-random standard normal numbers [draws, dimensions]."""
    return torch.special.ndtri(uniform(n_draws, n_dimensions, seed=seed))  # type: ignore[no-any-return]


def joint_noise(n_draws: int, n_latent: int, n_variables: int, *, seed: int) -> tuple[Tensor, Tensor]:
    """Normal numbers to draw z [draws, latent] and uniform ones to draw variables [draws, variables].

    Both come from one quasi-random set, so that answers drawn with both are evenly spread, too.
    """
    points = uniform(n_draws, n_latent + n_variables, seed=seed)
    return torch.special.ndtri(points[:, :n_latent]), points[:, n_latent:].contiguous()
