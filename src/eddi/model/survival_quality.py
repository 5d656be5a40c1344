"""The quality of predictions of a survival target, for the model card."""

import numpy as np
from numpy.typing import NDArray

from eddi.model.concordance import concordance
from eddi.table.survival.survival import Survival
from eddi.table.survival.time_bins import SurvivalTimes, split_numbers

Numbers = NDArray[np.float64]


def compare_survival(
    survival: Survival, truth: Numbers, mean: Numbers
) -> tuple[dict[str, float], dict[str, float]]:
    """The concordance of predicted mean times with numbers of rows, and that of guessing."""
    known = SurvivalTimes.from_numbers(truth, survival.edges)
    harrell = concordance(-mean, known.times, known.events)
    return {"concordance": harrell}, {"concordance": 0.5}


def survival_loss(probabilities: Numbers, truth: Numbers) -> Numbers:
    """Mean squared error of the risk at the ends of bins, as far as the truth is known [rows].

    Args:
        probabilities: of the bins [rows, bins].
        truth: numbers of the rows.
    """
    n_edges = probabilities.shape[1] - 1
    risk = probabilities[:, :-1].cumsum(1)  # [rows, edges]
    by_row, _, is_event = split_numbers(truth)
    place, edges = by_row[:, None], np.arange(n_edges)
    happened = is_event[:, None] & (place <= edges)
    is_known = is_event[:, None] | (edges < place)
    squares = np.square(risk - happened) * is_known
    return np.asarray(squares.sum(1) / np.maximum(is_known.sum(1), 1))
