"""The Brier score of survival curves, weighted by the inverse probability of censoring (Graf et al. 1999)."""

import numpy as np

from eddi.model.concordance import Numbers, censoring_survival
from eddi.model.survival_curve import SurvivalCurve

N_TIMES = 60  # at which the score is integrated
MIN_UNCENSORED = 0.1  # probability of not being censored up to the last of these times


def reliable_horizon(times: Numbers, events: Numbers, edges: Numbers) -> float:
    """The last edge up to which enough rows are observed for weights to be moderate."""
    is_observed = censoring_survival(times, events, edges) >= MIN_UNCENSORED
    is_reached = edges < times.max(initial=0.0)
    usable = edges[is_observed & is_reached]
    return float(usable[-1] if len(usable) else edges[0])


def brier_weights(times: Numbers, events: Numbers, grid: Numbers) -> tuple[Numbers, Numbers]:
    """Weights of rows with and without the event up to each time of a grid [rows, grid].

    Both are 0 for a row that was censored before.
    """
    own = np.maximum(censoring_survival(times, events, times), 1e-6)
    at_grid = np.maximum(censoring_survival(times, events, np.nextafter(grid, np.inf)), 1e-6)
    happened = (times[:, None] <= grid) & (events[:, None] == 1)
    remains = times[:, None] > grid
    return happened / own[:, None], remains / at_grid


def integrated_brier(
    curve: SurvivalCurve,
    times: Numbers,
    events: Numbers,
    *,
    grid: Numbers | None = None,
) -> Numbers:
    """The weighted squared error of each row's curves, averaged over time; its mean over rows is the score.

    Args:
        curve: curves [rows, ...] of rows at one or more steps.
        times: [rows].
        events: [rows] 1 if the event happened.
        grid: times of the average; None for equal steps up to the reliable horizon.

    Returns:
        An array of the curves' shape.
    """
    if grid is None:
        end = reliable_horizon(times, events, curve.edges)
        grid = np.linspace(0.0, end, N_TIMES + 1)[1:]
    return brier_by_row(curve.at(grid), times, events, grid)


def brier_by_row(survival: Numbers, times: Numbers, events: Numbers, grid: Numbers) -> Numbers:
    """`integrated_brier` for probabilities of no event at the times of a grid [rows, ..., grid]."""
    happened, remains = brier_weights(times, events, grid)  # [rows, grid]
    shape = (len(times), *[1] * (survival.ndim - 2), len(grid))
    squares = survival**2 * happened.reshape(shape) + (1 - survival) ** 2 * remains.reshape(shape)
    return np.asarray(np.trapezoid(squares, grid, axis=-1) / (grid[-1] - grid[0]))
