"""A learned piecewise-linear curve per quantity, added to the linear part of its term.

A linear term, cut off at zero, distinguishes more from less. In many tables the exact value matters: a
mixture without any ash is another mixture, an age of 28 days a standard test. Each quantity therefore
has a linear spline, too, with knots at its values (cf. the numerical encodings of Gorishniy et al.
2022). The spline starts at zero and learns slowly.
"""

import numpy as np
import torch
import torch.nn.functional as F
from numpy.typing import NDArray
from torch import Tensor, nn

KNOT_DISTANCE = 10.0  # between surplus knots, which lie beyond all values
MAX_KNOTS = 4_096  # over all variables: more would dominate the cost of a training step
MIN_KNOTS = 4  # fewer are not worth having
LEARNING_SPEED = 0.2  # relative to other weights; at full speed, small noisy tables are memorised
MAX_ROWS = 10_000  # enough rows for quantiles


def count_knots(requested: int, n_variables: int) -> int:
    """The number of knots per variable; 0 if there are too many variables for splines."""
    affordable = min(requested, MAX_KNOTS // n_variables) if n_variables else 0
    return affordable if affordable >= MIN_KNOTS else 0


class Splines(nn.Module):
    """The splines of some variables."""

    knots: Tensor  # [variables, knots] rising

    def __init__(self, n_variables: int, n_knots: int, width: int) -> None:
        super().__init__()
        self.register_buffer("knots", torch.arange(float(n_knots)).repeat(n_variables, 1))
        self.slow_heights = nn.Parameter(torch.zeros(n_variables, n_knots, width))

    def heights(self) -> Tensor:
        """The values of the splines at their knots [variables, knots, width]."""
        return self.slow_heights * LEARNING_SPEED

    def init_from_data(self, inputs: NDArray[np.float32], observed: NDArray[np.bool_]) -> None:
        """Place the knots at quantiles of the observed values, or at all values if they are few."""
        for place, (column, is_observed) in enumerate(zip(inputs.T, observed.T, strict=True)):
            if is_observed.any():
                self.knots[place] = torch.from_numpy(
                    _place_knots(column[is_observed], self.knots.shape[1])
                )

    def knot_weights(self, inputs: Tensor, observed: Tensor) -> Tensor:
        """The weight of each knot's height in the spline [rows, variables, knots]; 0 where unobserved."""
        low = self.knots[:, :-1]
        position = ((inputs[..., None] - low) / (self.knots[:, 1:] - low)).clamp(0, 1)
        hats = F.pad(position, (1, 0), value=1.0) - F.pad(position, (0, 1))
        return hats * observed[..., None]

    def segments(self, heights: Tensor, slope: Tensor, offset: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Linear terms [variables, width] plus their splines as segments, one more than knots.

        Returns the start of each segment [variables, segments], and its height at the start and its
        slope [variables, segments, width]. Outside the knots the slope is that of the linear term.
        """
        start = torch.cat([self.knots[:, :1], self.knots], dim=1)
        height = torch.cat([heights[:, :1], heights], dim=1)
        height = height + offset[:, None] + start[..., None] * slope[:, None]
        spline_slope = heights.diff(dim=1) / self.knots.diff(dim=1)[..., None]
        return start, height, F.pad(spline_slope, (0, 0, 1, 1)) + slope[:, None]


def _place_knots(values: NDArray[np.float32], n: int) -> NDArray[np.float32]:
    knots = np.unique(values)
    if len(knots) > n:
        knots = np.unique(np.quantile(values, np.linspace(0, 1, n)).astype(np.float32))
    surplus = knots[-1] + KNOT_DISTANCE * np.arange(1, n - len(knots) + 1)
    return np.concatenate([knots, surplus]).astype(np.float32)


def subsampling_step(n_rows: int) -> int:
    """The distance of evenly spaced rows of a table that are enough for quantiles."""
    return max(1, n_rows // MAX_ROWS)
