"""Factor analyses of several networks at once.

An analysis inverts one small matrix for each row and iteration. On a GPU, all rows of all networks take
little longer than those of one.
"""

from collections.abc import Sequence

import torch
import torch.nn.functional as F
from torch import Tensor

from eddi.model.network.factors.factor_analysis import FactorAnalysis, fit_factors
from eddi.model.network.network import FactorFit, Network
from eddi.table.evidence import Evidence


def fit_factors_batched(
    networks: Sequence[Network], tables: Sequence[Evidence], device: torch.device
) -> Sequence[FactorFit | None]:
    """`Network.fit_factors` of several networks with the same variables, equal up to rounding."""
    pairs = list(zip(networks, tables, strict=True))
    prepared = [network.prepare_factors(rows) for network, rows in pairs]
    inputs = [part for part in prepared if part is not None]
    if not inputs:
        return [None] * len(networks)
    numbers, observed, weights = (_stack_rows(part).to(device) for part in zip(*inputs, strict=True))
    analysis = fit_factors(numbers, observed, networks[0].n_factors, weights=weights)
    parts = (analysis.loadings, analysis.noise, analysis.mean, analysis.shrinkage)
    by_network = zip(pairs, *(part.cpu() for part in parts), strict=True)
    return [network.set_factors(FactorAnalysis(*own), rows) for (network, rows), *own in by_network]


def _stack_rows(tensors: Sequence[Tensor]) -> Tensor:
    """Tensors [rows, ...] as one [networks, rows, ...], padded with zeros: rows without any value."""
    n_rows = max(map(len, tensors))
    padding = [(0, 0) * (tensor.dim() - 1) + (0, n_rows - len(tensor)) for tensor in tensors]
    return torch.stack([F.pad(t, own) for t, own in zip(tensors, padding, strict=True)])
