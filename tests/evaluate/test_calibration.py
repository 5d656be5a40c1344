"""What was stated against what came true, by hand."""

import numpy as np
import pytest

from eddi.errors import EvaluationError
from eddi.evaluate.calibration import NOMINAL, Calibration, held
from eddi.evaluate.curves import Curves


def curves(**given: object) -> Curves:
    """Rows judged before any question only."""
    n_rows = len(given["truth"])
    whole = {
        "target": "risk",
        "questions": ("a",),
        "mean": np.zeros((n_rows, 1)),
        "draw_squares": np.zeros((n_rows, 1)),
        "log_prob": np.zeros((n_rows, 1)),
        "order": np.zeros((n_rows, 0), dtype=np.int64),
        "spent": np.zeros((n_rows, 1)),
        **given,
    }
    return Curves(**whole)


def of_ranks(ranks: object) -> Curves:
    rank = np.asarray(ranks, dtype=float)[:, None]
    return curves(truth=np.zeros(len(rank)), rank=rank, covered=np.abs(rank - 0.5) <= 0.45)


def of_chances(chances: object, truth: object) -> Curves:
    probabilities = np.asarray(chances, dtype=float)[:, None]
    levels = tuple(f"level {place}" for place in range(probabilities.shape[-1]))
    return curves(truth=np.asarray(truth, dtype=float), probabilities=probabilities, levels=levels)


def test_an_interval_holds_a_truth_whose_rank_lies_in_its_middle() -> None:
    found = of_ranks([0.5, 0.74, 0.26, 0.01, 0.98])
    assert held(found, 0, np.array([0.5, 0.96, 0.99])).tolist() == [0.6, 0.8, 1.0]


def test_even_ranks_are_calibrated_and_extreme_ones_too_sure() -> None:
    even = Calibration.at(of_ranks((np.arange(2000) + 0.5) / 2000), 0)
    assert even.came == pytest.approx(NOMINAL, abs=1e-3)
    assert (even.low < NOMINAL).all()
    assert (even.high > NOMINAL).all()
    extreme = Calibration.at(of_ranks([0.01, 0.99, 0.02, 0.98]), 0)
    assert (extreme.came[NOMINAL < 0.95] == 0).all()


def test_two_levels_are_binned_by_the_probability_of_the_second() -> None:
    second = np.array([0.12, 0.18, 0.92, 0.98, 0.94])
    found = Calibration.at(of_chances(np.stack([1 - second, second], 1), [0, 1, 1, 1, 0]), 0)
    assert found.stated == pytest.approx([0.15, 0.94666667])
    assert found.came == pytest.approx([0.5, 2 / 3])
    assert found.n_rows.tolist() == [2, 3]


def test_several_levels_are_binned_by_that_of_the_likeliest() -> None:
    found = Calibration.at(of_chances([[0.2, 0.7, 0.1], [0.71, 0.19, 0.1]], [1, 2]), 0)
    assert found.stated == pytest.approx([0.705])
    assert found.came == pytest.approx([0.5])


def test_a_share_of_few_rows_is_never_certain() -> None:
    found = Calibration.at(of_chances([[0.05, 0.95]], [1]), 0)
    assert found.came.tolist() == [1.0]
    assert found.low[0] < 0.6


def test_what_cannot_be_said_is_refused_in_words() -> None:
    with pytest.raises(EvaluationError, match="there is no step 3; steps go from 0 to 0"):
        Calibration.at(of_ranks([0.5]), 3)
    with pytest.raises(EvaluationError, match="levels have no intervals"):
        held(of_chances([[0.5, 0.5]], [1]), 0, np.array([0.5]))
