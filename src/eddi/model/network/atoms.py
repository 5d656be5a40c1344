"""Atoms: a discrete distribution over the possible answers to a quantity.

The reward enumerates possible answers. The mean and scale of a quantity predict it well, but do not say
which values occur: word counts are mostly 0 and sometimes large, ages are in years, doses in steps. A
quantity therefore has atoms, too: the means of bins with about equally many rows, and a softmax gives
the probability of each. A value that many rows share has a bin of its own.
"""

import numpy as np
import torch
import torch.nn.functional as F
from numpy.typing import NDArray
from torch import Tensor, nn

from eddi.model.network.levels import log_softmax_short

Numbers = NDArray[np.float64]

N_ATOMS = 8  # per quantity; twice as many hardly improve decisions and take twice as long
PADDING_LOGIT = -1e4  # of an atom that does not exist: its probability is exactly 0


class Atoms(nn.Module):
    """Probabilities of the possible answers to some quantities."""

    values: Tensor  # [quantities, atoms] rising; padded with the last one
    upper: Tensor  # [quantities, atoms - 1] upper ends of the bins; infinite if there is no next bin
    spread: Tensor  # [quantities, atoms] standard deviation of the values in each bin; 0 for one value

    def __init__(self, n_quantities: int, width: int) -> None:
        super().__init__()
        self.register_buffer("values", torch.zeros(n_quantities, N_ATOMS))
        self.register_buffer("upper", torch.full((n_quantities, N_ATOMS - 1), torch.inf))
        self.register_buffer("spread", torch.zeros(n_quantities, N_ATOMS))
        self.layer = nn.Linear(width, n_quantities * N_ATOMS)

    def init_from_data(self, values: NDArray[np.float32], observed: NDArray[np.bool_]) -> None:
        """Place the atoms at the values of a table, with their frequencies as initial probabilities."""
        logits = self.layer.bias.data.view_as(self.values)
        for place, (column, is_observed) in enumerate(zip(values.T, observed.T, strict=True)):
            if is_observed.any():
                bins = _bin_values(column[is_observed].astype(np.float64), N_ATOMS)
                parts = (self.values, self.upper, self.spread, logits)
                for tensor, array in zip(parts, bins, strict=True):
                    tensor[place] = torch.from_numpy(array)

    def log_probabilities(self, features: Tensor) -> Tensor:
        """Log probability of each atom [..., quantities, atoms] for hidden features."""
        logits = self.layer(features).unflatten(-1, self.values.shape)
        return log_softmax_short(logits + self.padding_logits())

    def padding_logits(self) -> Tensor:
        """Logits that remove the atoms that do not exist [quantities, atoms]."""
        return F.pad(self.upper.isinf(), (1, 0)) * PADDING_LOGIT

    def training_score(self, features: Tensor, values: Tensor) -> Tensor:
        """Log probability of the atom of each coded value [rows, quantities]."""
        atom = (values[..., None] > self.upper).sum(-1, keepdim=True)
        return self.log_probabilities(features).gather(-1, atom)[..., 0]


def merge_atoms(values: Tensor, probabilities: Tensor, n: int) -> tuple[Tensor, Tensor]:
    """Merge neighbouring atoms into ``n`` groups of about equal probability.

    Args:
        values: of the atoms [quantities, atoms].
        probabilities: of the atoms [rows, quantities, atoms].
        n: number of groups.

    Returns:
        Each group's mean value and its probability, both [rows, quantities, groups].
    """
    middle = probabilities.cumsum(-1) - 0.5 * probabilities
    group = (middle * n).long().clamp(0, n - 1)
    zeros = probabilities.new_zeros((*probabilities.shape[:-1], n))
    merged = zeros.scatter_add(-1, group, probabilities)
    total = zeros.scatter_add(-1, group, probabilities * values)
    return total / merged.clamp_min(torch.finfo(probabilities.dtype).tiny), merged


def _bin_values(values: Numbers, n: int) -> tuple[Numbers, Numbers, Numbers, Numbers]:
    """At most ``n`` bins: means, upper ends of all but the last, standard deviations, log frequencies."""
    unique, counts = np.unique(values, return_counts=True)
    ends = _bin_ends(counts, n)
    weights = np.add.reduceat(counts, ends[:-1])
    means = np.add.reduceat(unique * counts, ends[:-1]) / weights
    deviation = unique - np.repeat(means, np.diff(ends))
    variance = np.add.reduceat(np.square(deviation) * counts, ends[:-1]) / weights
    between = (unique[ends[1:-1] - 1] + unique[ends[1:-1]]) / 2
    n_padding = n - len(means)
    return (
        np.pad(means, (0, n_padding), mode="edge"),
        np.pad(between, (0, n_padding), constant_values=np.inf),
        np.pad(np.sqrt(variance), (0, n_padding)),
        np.pad(np.log(weights / len(values)), (0, n_padding)),
    )


def _bin_ends(counts: NDArray[np.int64], n: int) -> NDArray[np.int64]:
    """The first unique value of each bin of about equal weight, and the end of the last bin."""
    if len(counts) <= n:
        return np.arange(len(counts) + 1)
    total = counts.cumsum()
    middle = total - counts / 2
    ends = [0]
    for n_left in range(n, 1, -1):
        before = total[ends[-1] - 1] if ends[-1] else 0
        full = before + (total[-1] - before) / n_left
        end = max(ends[-1] + 1, int(np.searchsorted(middle, full)))
        if end >= len(counts):
            break
        ends.append(end)
    return np.array([*ends, len(counts)])
