"""A learned curve for each variable, beside the line that its term has.

A line cut off at zero tells a little more from a little less. In many tables the exact value matters: a
mixture without any ash is another mixture, an age of 28 days a standard test. So a quantity also has a
curve, straight between knots that stand where its values are (a linear spline; as an encoding of
numbers, Gorishniy et al. 2022). It starts as nothing, and learns slowly.
"""

import numpy as np
import torch
import torch.nn.functional as F
from numpy.typing import NDArray
from torch import Tensor, nn

from eddi.table.evidence import Evidence

FAR_APART = 10.0  # knots that a variable of few values does not need, beyond all values
MAX_KNOTS = 4_096  # of all variables together: curves of more would cost more than the rest of a step
FEWEST = 4  # knots with which a curve is worth having
PACE = 0.2  # of learning: at full pace small noisy tables are learnt by heart
ENOUGH_ROWS = 10_000  # to tell quantiles by


def n_knots(wanted: int, n_variables: int) -> int:
    """How many knots each of so many variables has; 0 where they are too many for curves."""
    affordable = min(wanted, MAX_KNOTS // n_variables) if n_variables else 0
    return affordable if affordable >= FEWEST else 0


class Splines(nn.Module):
    """The curves of some variables."""

    knots: Tensor  # [variables, knots] rising

    def __init__(self, n_variables: int, n_knots: int, width: int) -> None:
        super().__init__()
        self.register_buffer("knots", torch.arange(float(n_knots)).repeat(n_variables, 1))
        self.slow_heights = nn.Parameter(torch.zeros(n_variables, n_knots, width))

    def heights(self) -> Tensor:
        """The curves at their knots [variables, knots, width], as the weights stand now."""
        return self.slow_heights * PACE

    def stand(self, entered: NDArray[np.float32], observed: NDArray[np.bool_]) -> None:
        """Put the knots at quantiles of the values seen, or at the values themselves if they are few."""
        for place, (column, seen) in enumerate(zip(entered.T, observed.T, strict=True)):
            if seen.any():
                self.knots[place] = torch.from_numpy(_knots(column[seen], self.knots.shape[1]))

    def seen(self, heights: Tensor, entered: Tensor, seen: Tensor) -> Tensor:
        """The curves at seen values [variables, rows, width], nothing where a value is unseen."""
        low = self.knots[:, :-1]
        past = ((entered[..., None] - low) / (self.knots[:, 1:] - low)).clamp(0, 1)
        hats = F.pad(past, (1, 0), value=1.0) - F.pad(past, (0, 1))  # how near a value is to each knot
        return torch.bmm((hats * seen[..., None]).transpose(0, 1), heights)

    def pieces(self, heights: Tensor, slope: Tensor, offset: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Lines [variables, width] with their curves as pieces, of which there is one more than knots.

        Where each piece begins [variables, pieces], how high it is there and how it rises [variables,
        pieces, width]. Before the first knot and after the last one a piece is as steep as its line.
        """
        start = torch.cat([self.knots[:, :1], self.knots], dim=1)
        height = torch.cat([heights[:, :1], heights], dim=1)
        height = height + offset[:, None] + start[..., None] * slope[:, None]
        steeper = heights.diff(dim=1) / self.knots.diff(dim=1)[..., None]
        rise = F.pad(steeper, (0, 0, 1, 1)) + slope[:, None]
        return start, height, rise


def _knots(values: NDArray[np.float32], n: int) -> NDArray[np.float32]:
    found = np.unique(values)
    if len(found) > n:
        found = np.unique(np.quantile(values, np.linspace(0, 1, n)).astype(np.float32))
    beyond = found[-1] + FAR_APART * np.arange(1, n - len(found) + 1)
    return np.concatenate([found, beyond]).astype(np.float32)


def some_rows(evidence: Evidence) -> Evidence:
    """Enough rows of a table to tell quantiles by, from all over it."""
    return evidence[:: max(1, len(evidence) // ENOUGH_ROWS)]
