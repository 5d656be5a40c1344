"""A candidate is described in words, with intervals."""

from typing import Any

import pytest

from eddi.service.analyst.learning.candidate_wording import (
    describe_verdict,
    format_estimate,
    list_figures,
)
from eddi.service.web.languages.current import use_language
from eddi.service.web.languages.language import LANGUAGES

from .conftest import estimate, make_comparison


@pytest.mark.parametrize(
    ("comparison", "expected"),
    [
        (None, "It cannot be compared yet"),
        (make_comparison(-0.2, -0.1), "It is better: its error is smaller"),
        (make_comparison(0.1, 0.2), "It is worse: its error is larger"),
        (make_comparison(-0.1, 0.2), "No clear difference"),
        (make_comparison(-0.2, -0.1, n_effective=3.0), "too few interviews"),
        (make_comparison(None, None), "No clear difference"),
    ],
)
def test_the_verdict_follows_from_the_interval(comparison: Any, expected: str) -> None:
    assert expected in describe_verdict(comparison)


def test_figures_have_intervals_in_the_language() -> None:
    with use_language(LANGUAGES["de"]):
        [error, cost, effective] = list_figures(make_comparison(-0.2, 0.1))
    assert error[3] == "\u22120,1 (\u22120,2 bis +0,1)"
    assert cost[1] == "2 (2 bis 2)"
    assert effective[1] == "40"


def test_an_interval_without_an_end_is_not_known() -> None:
    assert format_estimate(estimate(0.5, None, None)) == "0.5 (not known to not known)"
    assert list_figures(None) == []
