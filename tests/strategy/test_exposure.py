"""The share of respondents who are asked a question stays below a maximum."""

import numpy as np
import pytest

from eddi.errors import StrategyError
from eddi.strategy import Exposure
from eddi.strategy.exposure import ExposureCounts

SECTIONS = np.array(["a"] * 5 + ["b"] * 5)


def draw(limit, counts, *, n_rows, seed=0):
    n_questions = len(counts.n_asked)
    uniform = np.random.default_rng(seed).random((n_rows, 1 + 2 * n_questions))
    return limit.draw_withheld(counts, SECTIONS[:n_questions], uniform=uniform)


def test_a_question_is_eligible_as_often_as_its_rate_allows():
    counts = ExposureCounts(300, np.array([100, 100, 100, 0]), np.array([80, 40, 0, 0]))
    np.testing.assert_allclose(Exposure(0.4).probabilities(counts), [0.5, 1, 1, 1])


def test_a_question_that_reached_its_share_is_withheld():
    counts = ExposureCounts(100, np.array([100, 100]), np.array([41, 39]))
    assert Exposure(0.4).probabilities(counts)[0] == 0
    assert Exposure(0.4).probabilities(counts)[1] > 0


def test_the_rate_of_a_question_that_everybody_would_be_asked_stays_below_the_maximum():
    limit, counts = Exposure(0.3), ExposureCounts.empty(1)
    for seed in range(500):
        withheld = draw(limit, counts, n_rows=1, seed=seed)
        counts = counts.plus(~withheld, ~withheld)
    assert counts.n_asked[0] / 500 == pytest.approx(0.3, abs=0.02)
    assert counts.n_asked[0] <= 0.3 * 500 + 1


def test_questions_are_eligible_with_their_probabilities():
    counts = ExposureCounts(1_000, np.full(10, 1_000), np.arange(100, 1_100, 100))
    counts = ExposureCounts(5_000, counts.n_eligible, counts.n_asked)
    eligible = ~draw(Exposure(0.3), counts, n_rows=20_000)
    np.testing.assert_allclose(eligible.mean(0), Exposure(0.3).probabilities(counts), atol=0.015)


def test_the_number_of_eligible_questions_of_a_section_hardly_varies():
    counts = ExposureCounts(3_000, np.full(10, 1_000), np.full(10, 1_000))
    eligible = ~draw(Exposure(0.35), counts, n_rows=500)  # 1.75 questions of a section, 3.5 in all
    assert set(eligible[:, :5].sum(1)) <= {1, 2}
    assert set(eligible.sum(1)) <= {3, 4}


def test_all_pairs_of_questions_can_be_eligible_together():
    counts = ExposureCounts(3_000, np.full(10, 1_000), np.full(10, 1_000))
    eligible = ~draw(Exposure(0.35), counts, n_rows=2_000)
    assert (eligible.T.astype(int) @ eligible > 0).all()


@pytest.mark.parametrize("rate", [0.0, 1.5])
def test_a_rate_that_is_no_share_is_rejected(rate):
    with pytest.raises(StrategyError, match="max_rate must be above 0 and at most 1"):
        Exposure(rate)
