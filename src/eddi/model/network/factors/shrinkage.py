"""Shrinkage of correlations, estimated from the rows themselves.

Few rows give large correlations by chance, and a prediction from many answers adds them up. Multiplied by
1 - share, correlations have the smallest expected squared error with

    share = sum over pairs of Var(r_ij) / sum over pairs of r_ij^2        (Schaefer and Strimmer 2005)

where Var(r) is about (1 - r^2)^2 / (n - 1) for n rows. The share tends to 0 with many rows.
"""

import torch
from torch import Tensor

MAX_SHRINKAGE = 0.9  # some relation is left, even if chance could explain all of them


def estimate_shrinkage(inputs: Tensor, observed: Tensor, weights: Tensor) -> Tensor:
    """The share by which all correlations of some columns should be shrunk [...].

    Args:
        inputs: values [..., rows, inputs]; anything where unobserved.
        observed: 1 where observed [..., rows, inputs].
        weights: how many rows each row counts as [..., rows].
    """
    weighted = observed * weights[..., None]
    count = weighted.sum(-2, keepdim=True).clamp(min=1)
    centred = (inputs - (inputs * weighted).sum(-2, keepdim=True) / count) * observed
    variance = (centred.square() * weighted).sum(-2, keepdim=True) / count  # [..., 1, inputs]
    standardised = centred / variance.clamp(min=1e-12).sqrt()
    n_pairs = weighted.mT @ observed  # [..., inputs, inputs]
    squared = ((standardised * weighted).mT @ standardised / n_pairs.clamp(min=1)).square().clamp(max=1)
    is_other = ~torch.eye(inputs.shape[-1], dtype=torch.bool, device=inputs.device)
    is_pair = (n_pairs > 2) & (variance > 0) & (variance.mT > 0) & is_other
    by_chance = (1 - squared).square() / (n_pairs - 1).clamp(min=1)
    expected, total = ((part * is_pair).sum((-2, -1)) for part in (by_chance, squared))
    return (expected / total.clamp(min=1e-12)).clamp(max=MAX_SHRINKAGE)
