"""What may be answered to a quantity: a few values that stand for all, and the chance of each.

A reward goes through the answers that may come. A quantity's belief is a place and a spread, which says
well what to expect of it but not what it may be: word counts are mostly none and sometimes many, ages in
years, doses in steps. So a quantity also has atoms, means of bins with about as many rows in each, and a
softmax says how likely each of them is. A value that many rows share has a bin of its own.
"""

import numpy as np
import torch
import torch.nn.functional as F
from numpy.typing import NDArray
from torch import Tensor, nn

Numbers = NDArray[np.float64]

N_ATOMS = 8  # of each quantity: twice as many choose little better, and take twice as long
UNREACHED = -1e4  # the log odds of an atom that is none: its chance is exactly 0


class Atoms(nn.Module):
    """Chances of the answers to some quantities."""

    values: Tensor  # [quantities, atoms] rising; the last one again where there are fewer
    upper: Tensor  # [quantities, atoms - 1] where a bin ends, infinite where there is no next one

    def __init__(self, n_quantities: int, width: int) -> None:
        super().__init__()
        self.register_buffer("values", torch.zeros(n_quantities, N_ATOMS))
        self.register_buffer("upper", torch.full((n_quantities, N_ATOMS - 1), torch.inf))
        self.layer = nn.Linear(width, n_quantities * N_ATOMS)

    def stand(self, values: NDArray[np.float32], observed: NDArray[np.bool_]) -> None:
        """Put the atoms where the values of a table are, as likely at first as they are there."""
        odds = self.layer.bias.data.view_as(self.values)
        for place, (column, seen) in enumerate(zip(values.T, observed.T, strict=True)):
            if seen.any():
                bins = _bins(column[seen].astype(np.float64), N_ATOMS)
                for kept, found in zip((self.values, self.upper, odds), bins, strict=True):
                    kept[place] = torch.from_numpy(found)

    def log_chances(self, hidden: Tensor) -> Tensor:
        """Of each atom [..., quantities, atoms], for what the tail made of a code."""
        odds = self.layer(hidden).unflatten(-1, self.values.shape)
        return F.log_softmax(odds + self.unreached(), dim=-1)

    def unreached(self) -> Tensor:
        """What takes away the chance of atoms that are none [quantities, atoms]."""
        return F.pad(self.upper.isinf(), (1, 0)) * UNREACHED

    def fit_score(self, hidden: Tensor, values: Tensor) -> Tensor:
        """The log chance of the atoms nearest to coded values [rows, quantities]."""
        atom = (values[..., None] > self.upper).sum(-1, keepdim=True)
        return self.log_chances(hidden).gather(-1, atom)[..., 0]


def grouped(values: Tensor, chances: Tensor, n: int) -> tuple[Tensor, Tensor]:
    """Neighbouring atoms put together to ``n`` groups about as likely as each other.

    Args:
        values: of the atoms [quantities, atoms].
        chances: of the atoms [rows, quantities, atoms].
        n: how many groups.

    Returns:
        Each group's mean value and its chance, both [rows, quantities, groups].
    """
    middle = chances.cumsum(-1) - 0.5 * chances
    group = (middle * n).long().clamp(0, n - 1)
    none = chances.new_zeros((*chances.shape[:-1], n))
    together = none.scatter_add(-1, group, chances)
    total = none.scatter_add(-1, group, chances * values)
    return total / together.clamp_min(torch.finfo(chances.dtype).tiny), together


def _bins(values: Numbers, n: int) -> tuple[Numbers, Numbers, Numbers]:
    """Of ``n`` bins or fewer: their means, where all but the last end, and their log shares."""
    found, counts = np.unique(values, return_counts=True)
    ends = _ends(counts, n)
    weights = np.add.reduceat(counts, ends[:-1])
    means = np.add.reduceat(found * counts, ends[:-1]) / weights
    between = (found[ends[1:-1] - 1] + found[ends[1:-1]]) / 2
    lacking = n - len(means)
    return (
        np.pad(means, (0, lacking), mode="edge"),
        np.pad(between, (0, lacking), constant_values=np.inf),
        np.pad(np.log(weights / len(values)), (0, lacking)),
    )


def _ends(counts: NDArray[np.int64], n: int) -> NDArray[np.int64]:
    """Where bins of about equal weight begin, and the end of the last."""
    if len(counts) <= n:
        return np.arange(len(counts) + 1)
    total = counts.cumsum()
    middle = total - counts / 2
    ends = [0]
    for left in range(n, 1, -1):
        before = total[ends[-1] - 1] if ends[-1] else 0
        full = before + (total[-1] - before) / left
        end = max(ends[-1] + 1, int(np.searchsorted(middle, full)))
        if end >= len(counts):
            break
        ends.append(end)
    return np.array([*ends, len(counts)])
