"""Whether stated certainty comes true: how often it was stated, and how often it did."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from eddi.errors import EvaluationError
from eddi.evaluate.curves import N_BINS, Curves, Numbers, bin_of

NOMINAL = np.linspace(0.05, 0.95, 19)  # shares of a belief whose central intervals are looked at


@dataclass(frozen=True, eq=False)
class Calibration:
    """What was stated and what came true, a point for each interval or bin; alike where all is well.

    Args:
        stated: how often it should come true.
        came: how often it did.
        low, high: one standard error to either side of that.
        n_rows: rows behind each point.
    """

    stated: Numbers
    came: Numbers
    low: Numbers
    high: Numbers
    n_rows: Numbers

    @classmethod
    def at(cls, curves: Curves, step: int) -> "Calibration":
        """How certainty stood against the truth after ``step`` questions.

        Quantities: how often central intervals held the truth, against how often they should. Levels:
        how often what was given a probability happened, in ten bins (of the second level of two,
        otherwise of the most likely one).
        """
        if not 0 <= step <= curves.n_steps:
            raise EvaluationError(f"there is no step {step}; steps go from 0 to {curves.n_steps}.")
        if curves.probabilities is None:
            return cls._of(NOMINAL, held(curves, step, NOMINAL), curves.known.sum())
        chances, truth = curves.probabilities[curves.known, step], curves.truth[curves.known]
        binary = len(curves.levels) == 2
        stated = chances[:, 1] if binary else chances.max(-1)
        came = (truth == 1) if binary else (chances.argmax(-1) == truth)
        bins = bin_of(stated)
        filled = [bins == place for place in range(N_BINS) if (bins == place).any()]
        return cls._of(
            np.array([stated[inside].mean() for inside in filled]),
            np.array([came[inside].mean() for inside in filled]),
            np.array([inside.sum() for inside in filled]),
        )

    @classmethod
    def _of(cls, stated: Numbers, came: Numbers, n_rows: Any) -> "Calibration":
        """With one standard error to either side of a share of ``n_rows``, never none (Wilson 1927)."""
        centre = (came + 0.5 / n_rows) / (1 + 1 / n_rows)
        half = np.sqrt(came * (1 - came) / n_rows + 0.25 / n_rows**2) / (1 + 1 / n_rows)
        counts = np.broadcast_to(np.asarray(n_rows, dtype=np.float64), came.shape)
        return cls(stated, came, centre - half, centre + half, counts)


def held(curves: Curves, step: int, shares: Numbers) -> Numbers:
    """How often the central interval of each of these shares of a quantity's belief held the truth."""
    if curves.rank is None:
        raise EvaluationError(f"{curves.target!r} has levels, and levels have no intervals.")
    needed = np.abs(2 * curves.rank[curves.known, step] - 1)  # the narrowest interval that holds it
    return np.asarray((needed[:, None] <= shares).mean(0))
