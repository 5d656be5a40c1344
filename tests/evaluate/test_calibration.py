"""Predicted against observed frequencies, computed by hand."""

import numpy as np
import pytest

from eddi.errors import EvaluationError
from eddi.evaluate.calibration import NOMINAL_COVERAGES, Calibration, interval_coverage
from eddi.evaluate.curves import Curves


def build_curves(**fields: object) -> Curves:
    """Curves with step 0 only."""
    n_rows = len(fields["truth"])
    defaults = {
        "target": "risk",
        "questions": ("a",),
        "mean": np.zeros((n_rows, 1)),
        "draw_squares": np.zeros((n_rows, 1)),
        "log_prob": np.zeros((n_rows, 1)),
        "order": np.zeros((n_rows, 0), dtype=np.int64),
        "spent": np.zeros((n_rows, 1)),
    }
    return Curves(**{**defaults, **fields})


def with_ranks(ranks: object) -> Curves:
    rank = np.asarray(ranks, dtype=float)[:, None]
    return build_curves(truth=np.zeros(len(rank)), rank=rank, covered=np.abs(rank - 0.5) <= 0.45)


def with_probabilities(rows: object, truth: object) -> Curves:
    probabilities = np.asarray(rows, dtype=float)[:, None]
    levels = tuple(f"level {k}" for k in range(probabilities.shape[-1]))
    return build_curves(truth=np.asarray(truth, dtype=float), probabilities=probabilities, levels=levels)


def test_a_central_interval_covers_truths_with_central_ranks() -> None:
    curves = with_ranks([0.5, 0.74, 0.26, 0.01, 0.98])
    assert interval_coverage(curves, 0, np.array([0.5, 0.96, 0.99])).tolist() == [0.6, 0.8, 1.0]


def test_uniform_ranks_are_calibrated() -> None:
    calibration = Calibration.from_curves(with_ranks((np.arange(2000) + 0.5) / 2000), 0)
    assert calibration.predicted.tolist() == NOMINAL_COVERAGES.tolist()
    assert calibration.observed == pytest.approx(NOMINAL_COVERAGES, abs=1e-3)
    assert (calibration.low < NOMINAL_COVERAGES).all()
    assert (calibration.high > NOMINAL_COVERAGES).all()


def test_extreme_ranks_are_overconfident() -> None:
    calibration = Calibration.from_curves(with_ranks([0.01, 0.99, 0.02, 0.98]), 0)
    assert (calibration.observed[NOMINAL_COVERAGES < 0.95] == 0).all()


def test_two_levels_are_binned_by_the_probability_of_the_second() -> None:
    second = np.array([0.12, 0.18, 0.92, 0.98, 0.94])
    curves = with_probabilities(np.stack([1 - second, second], 1), [0, 1, 1, 1, 0])
    calibration = Calibration.from_curves(curves, 0)
    assert calibration.predicted == pytest.approx([0.15, 0.94666667])
    assert calibration.observed == pytest.approx([0.5, 2 / 3])
    assert calibration.n_rows.tolist() == [2, 3]


def test_several_levels_are_binned_by_the_probability_of_the_most_likely() -> None:
    curves = with_probabilities([[0.2, 0.7, 0.1], [0.71, 0.19, 0.1]], [1, 2])
    calibration = Calibration.from_curves(curves, 0)
    assert calibration.predicted == pytest.approx([0.705])
    assert calibration.observed == pytest.approx([0.5])


def test_the_frequency_of_a_single_row_has_a_standard_error() -> None:
    calibration = Calibration.from_curves(with_probabilities([[0.05, 0.95]], [1]), 0)
    assert calibration.observed.tolist() == [1.0]
    assert calibration.low[0] < 0.6


def test_a_step_that_does_not_exist_is_an_error() -> None:
    with pytest.raises(EvaluationError, match="there is no step 3; steps go from 0 to 0"):
        Calibration.from_curves(with_ranks([0.5]), 3)


def test_levels_have_no_interval_coverage() -> None:
    with pytest.raises(EvaluationError, match="'risk' has levels, and levels have no intervals"):
        interval_coverage(with_probabilities([[0.5, 0.5]], [1]), 0, np.array([0.5]))
