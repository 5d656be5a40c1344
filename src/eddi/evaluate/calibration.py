"""Calibration: predicted probabilities against observed frequencies."""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from eddi.errors import EvaluationError
from eddi.evaluate.curves import N_BINS, Curves, Numbers, bin_index

Z_95 = 1.959964  # standard normal quantile of a two-sided 95% interval
NOMINAL_COVERAGES = np.linspace(0.05, 0.95, 19)  # of the central intervals that are checked


@dataclass(frozen=True, eq=False)
class Calibration:
    """Predicted and observed frequencies, one point per interval or bin. They agree if calibrated.

    Args:
        predicted: predicted frequency.
        observed: observed frequency.
        low, high: observed frequency minus and plus one standard error.
        n_rows: number of rows behind each point.
    """

    predicted: Numbers
    observed: Numbers
    low: Numbers
    high: Numbers
    n_rows: Numbers

    @classmethod
    def from_curves(cls, curves: Curves, step: int) -> "Calibration":
        """Calibration of the predictions after ``step`` questions.

        Quantities: nominal against actual coverage of central intervals. Levels: predicted probability
        against observed frequency in ten bins. With two levels, this is the probability of the second
        one, otherwise that of the most likely one. Survival: predicted against Kaplan-Meier risk at the last
        horizon, in groups of rows.
        """
        if not 0 <= step <= curves.n_steps:
            raise EvaluationError(f"there is no step {step}; steps go from 0 to {curves.n_steps}.")
        if curves.survival is not None and curves.survival_metrics is not None:
            horizon = curves.survival.shown_horizons[-1]
            result = curves.survival_metrics.calibration(horizon, step)
            return cls._with_errors(result.predicted, result.observed, result.n_rows)
        if curves.probabilities is None:
            coverage = interval_coverage(curves, step, NOMINAL_COVERAGES)
            return cls._with_errors(NOMINAL_COVERAGES, coverage, curves.known.sum())
        probabilities, truth = curves.probabilities[curves.known, step], curves.truth[curves.known]
        is_binary = len(curves.levels) == 2
        predicted = probabilities[:, 1] if is_binary else probabilities.max(-1)
        observed = (truth == 1) if is_binary else (probabilities.argmax(-1) == truth)
        bins = bin_index(predicted)
        members = [bins == k for k in range(N_BINS) if (bins == k).any()]
        return cls._with_errors(
            np.array([predicted[rows].mean() for rows in members]),
            np.array([observed[rows].mean() for rows in members]),
            np.array([rows.sum() for rows in members]),
        )

    @classmethod
    def _with_errors(cls, predicted: Numbers, observed: Numbers, n_rows: Any) -> "Calibration":
        """Add one standard error to either side, by the score interval of Wilson (1927).

        Unlike the usual standard error, it is not zero at frequencies of 0 and 1.
        """
        centre = (observed + 0.5 / n_rows) / (1 + 1 / n_rows)
        half = np.sqrt(observed * (1 - observed) / n_rows + 0.25 / n_rows**2) / (1 + 1 / n_rows)
        counts = np.broadcast_to(np.asarray(n_rows, dtype=np.float64), observed.shape)
        return cls(predicted, observed, centre - half, centre + half, counts)


def wilson_interval(n_true: int, n_rows: int, z: float = Z_95) -> tuple[float, float]:
    """The score interval of a share by Wilson (1927), 95% by default; it is never outside 0 and 1."""
    share = n_true / n_rows
    centre = (share + z**2 / (2 * n_rows)) / (1 + z**2 / n_rows)
    half = z * math.sqrt(share * (1 - share) / n_rows + z**2 / (4 * n_rows**2)) / (1 + z**2 / n_rows)
    return max(0.0, centre - half), min(1.0, centre + half)


def interval_coverage(curves: Curves, step: int, nominal: Numbers) -> Numbers:
    """Share of rows whose truth lies in the central interval of each nominal coverage [intervals]."""
    if curves.rank is None:
        raise EvaluationError(
            f"{curves.target!r} has levels, and levels have no intervals. Use `Calibration` instead."
        )
    needed = np.abs(2 * curves.rank[curves.known, step] - 1)  # coverage that just includes the truth
    return np.asarray((needed[:, None] <= nominal).mean(0))
