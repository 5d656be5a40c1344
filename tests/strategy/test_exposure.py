"""The share of respondents who are asked a question stays below a maximum."""

import numpy as np
import pytest

from eddi.errors import StrategyError
from eddi.strategy import Exposure
from eddi.strategy.exposure import ExposureCounts


def test_a_question_is_eligible_as_often_as_its_rate_allows():
    counts = ExposureCounts(np.array([100, 100, 100, 0]), np.array([80, 40, 0, 0]))
    np.testing.assert_allclose(Exposure(0.4).probabilities(counts), [0.5, 1, 1, 1])


def test_the_rate_of_a_question_that_everybody_would_be_asked_approaches_the_maximum():
    limit, counts, random = Exposure(0.3), ExposureCounts.empty(1), np.random.default_rng(0)
    for _ in range(2_000):
        withheld = limit.draw_withheld(counts, random.random((1, 1)))
        counts = counts.plus(~withheld, ~withheld)
    assert counts.n_asked[0] / 2_000 == pytest.approx(0.3, abs=0.03)


@pytest.mark.parametrize("rate", [0.0, 1.5])
def test_a_rate_that_is_no_share_is_rejected(rate):
    with pytest.raises(StrategyError, match="max_rate must be above 0 and at most 1"):
        Exposure(rate)
