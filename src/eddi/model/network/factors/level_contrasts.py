"""The inputs of the levels of a category: contrasts that vary most with the other variables."""

from collections.abc import Sequence

import torch
from torch import Tensor

from eddi.model.network.likelihood import VariableSpec
from eddi.table.variable import Kind


def find_level_inputs(
    values: Tensor, weighted: Tensor, specs: Sequence[VariableSpec], n_inputs: int
) -> dict[int, Tensor]:
    """The inputs of the levels of each category [levels, inputs], by position.

    Each level has the contrasts that vary most with the other variables. ``weighted`` is 0 where a value is
    missing, else the weight of its row [rows, variables].
    """
    categories = [place for place, spec in enumerate(specs) if spec.kind is Kind.CATEGORY]
    if not categories:
        return {}
    columns = [standardise(values[:, d], weighted[:, d], spec) for d, spec in enumerate(specs)]
    found = {}
    for place in categories:
        others = torch.cat([column for d, column in enumerate(columns) if d != place], dim=1)
        rows = weighted[:, place] > 0
        levels = torch.nn.functional.one_hot(values[rows, place].long(), specs[place].n_levels)
        one_hot = levels * weighted[rows, place, None].double()
        found[place] = find_contrasts(one_hot, others[rows], n_inputs)
    return found


def standardise(values: Tensor, weighted: Tensor, spec: VariableSpec) -> Tensor:
    """A variable as standardised columns [rows, n], one-hot for a category; 0 where unobserved.

    ``weighted`` is 0 where it is unobserved, else the weight of the row [rows].
    """
    if spec.kind is Kind.CATEGORY:
        columns = torch.nn.functional.one_hot(values.long(), spec.n_levels).double()
    else:
        columns = values[:, None].double()
    weights = weighted[:, None].double()
    count = weights.sum().clamp(min=1)
    centred = (columns - (columns * weights).sum(0) / count) * (weights > 0)
    return centred / ((centred.square() * weights).sum(0) / count).sqrt().clamp(min=1e-3)


def find_contrasts(one_hot: Tensor, others: Tensor, n_inputs: int) -> Tensor:
    """Contrasts of levels with mean 0 and variance 1 [levels, inputs], padded with zeros.

    ``one_hot`` has the weight of a row at its level [rows, levels].

    They are the leading left singular vectors of the other variables' means by level, as in
    correspondence analysis.
    """
    n_levels = one_hot.shape[1]
    counts = one_hot.sum(0) + 1.0
    share = counts / counts.sum()
    means = (one_hot.T @ others) / counts[:, None]
    root = share.sqrt()
    weighted = root[:, None] * (means - share @ means)
    weighted = (
        weighted + 1e-6 * (torch.eye(n_levels, max(n_levels, weighted.shape[1]))[:, : weighted.shape[1]])
    )
    weighted = weighted - root[:, None] * (root @ weighted)
    vectors = torch.linalg.svd(weighted, full_matrices=False)[0]
    contrasts = vectors[:, : min(n_inputs, n_levels - 1)] / root[:, None]
    return torch.nn.functional.pad(contrasts, (0, n_inputs - contrasts.shape[1])).float()
