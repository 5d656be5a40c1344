"""Survival curves from the probabilities of time bins."""

import numpy as np
import pytest

from eddi.errors import TargetError
from eddi.model.survival_curve import SurvivalCurve

EDGES = np.linspace(0.5, 10, 20)


@pytest.fixture(scope="module")
def exponential():
    """The curves of exponential times with means 2 and 50."""
    survival = np.exp(-np.array([[0.0, *EDGES]]) / np.array([[2.0], [50.0]]))
    probabilities = np.concatenate([-np.diff(survival), survival[:, -1:]], axis=1)
    return SurvivalCurve(EDGES, probabilities)


def test_the_curve_is_exponential_between_edges(exponential):
    times = np.array([0, 0.2, 3.33, 10])
    assert np.allclose(exponential.at(times), np.exp(-times / np.array([[2.0], [50.0]])))


def test_the_risk_is_the_complement(exponential):
    assert np.allclose(exponential.risk(3.3), 1 - np.exp([-3.3 / 2, -3.3 / 50]))


def test_the_median_is_infinite_if_it_is_not_reached(exponential):
    assert np.allclose(exponential.median, [2 * np.log(2), np.inf])


def test_the_restricted_mean_is_the_area_under_the_curve(exponential):
    expected = [mean * (1 - np.exp(-4 / mean)) for mean in (2, 50)]
    assert np.allclose(exponential.restricted_mean(4.0), expected, rtol=1e-3)


def test_the_restricted_sd_belongs_to_the_restricted_time(exponential):
    draws = np.minimum(np.random.default_rng(0).exponential(2, 200_000), 10)
    assert exponential.restricted_sd()[0] == pytest.approx(draws.std(), rel=0.01)


def test_the_band_contains_the_curve_and_starts_at_one(exponential):
    curve = SurvivalCurve(EDGES, exponential.probabilities, np.array([0.5, 0.0]))
    low, high = curve.band
    assert (low[0, 1:] < curve.survival[0, 1:]).all()
    assert (curve.survival[0, 1:] < high[0, 1:]).all()
    assert low[0, 0] == high[0, 0] == 1
    assert np.allclose(low[1], high[1])


def test_without_a_standard_deviation_there_is_no_band(exponential):
    assert exponential.band is None


def test_a_row_is_a_curve_of_its_own(exponential):
    assert exponential[1].at(5.0) == pytest.approx(np.exp(-0.1))
    assert exponential[1].median == np.inf


def test_a_time_after_the_last_event_is_an_error(exponential):
    with pytest.raises(TargetError, match="the time 11 is not between 0 and 10, the latest event"):
        exponential.risk(11)
