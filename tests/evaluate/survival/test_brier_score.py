"""The integrated Brier score, by brute force."""

import numpy as np
import pytest

from eddi.evaluate.survival.brier_score import brier_weights, integrated_brier, reliable_horizon
from eddi.model.survival_curve import SurvivalCurve

EDGES = np.array([1.0, 2.0, 3.0])


def exponential_curve(n_rows, mean=2.0):
    """The same exponential curve for every row."""
    survival = np.exp(-np.array([0.0, *EDGES]) / mean)
    probabilities = np.append(-np.diff(survival), survival[-1])
    return SurvivalCurve(EDGES, np.tile(probabilities, (n_rows, 1)))


def test_without_censoring_it_is_the_mean_squared_error_over_time():
    times, events, grid = np.array([0.5, 1.5, 2.5]), np.ones(3), np.linspace(0.1, 2.9, 40)
    curve = exponential_curve(3)
    squares = np.square((times[:, None] > grid) - curve.at(grid))
    expected = np.trapezoid(squares, grid, axis=1) / (grid[-1] - grid[0])
    assert np.allclose(integrated_brier(curve, times, events, grid=grid), expected)


def test_rows_at_risk_stand_for_censored_ones():
    times, events = np.array([1.0, 1.5, 4.0, 4.0]), np.array([0.0, 1, 0, 0])
    happened, remains = brier_weights(times, events, np.array([2.0]))
    assert np.allclose(happened[:, 0], [0, 4 / 3, 0, 0])
    assert np.allclose(remains[:, 0], [0, 0, 4 / 3, 4 / 3])


def test_the_truth_has_a_lower_score_than_other_curves():
    random = np.random.default_rng(0)
    death, end = random.exponential(2.0, 2000), random.uniform(0, 8, 2000)
    times, events = np.minimum(death, end), (death <= end).astype(float)
    scores = [
        integrated_brier(exponential_curve(2000, mean), times, events).mean() for mean in (1.0, 2.0, 5.0)
    ]
    assert min(scores) == scores[1]


def test_several_steps_are_scored_at_once():
    curve = exponential_curve(4)
    both = SurvivalCurve(EDGES, np.stack([curve.probabilities, curve.probabilities], axis=1))
    times, events = np.array([0.5, 1.5, 2.5, 4.0]), np.array([1.0, 0, 1, 1])
    expected = integrated_brier(curve, times, events)
    assert np.allclose(integrated_brier(both, times, events), expected[:, None])


def test_the_horizon_is_where_rows_are_still_observed():
    times, events = np.array([0.5, 1.2, 1.5, 2.5]), np.array([1.0, 1, 0, 0])
    assert reliable_horizon(times, events, EDGES) == 2.0


@pytest.mark.slow
def test_it_agrees_with_scikit_survival():
    metrics = pytest.importorskip("sksurv.metrics")
    random = np.random.default_rng(1)
    death, end = random.exponential(2.0, 300), random.uniform(0.5, 8, 300)
    times, events = np.minimum(death, end), death <= end
    outcome = np.array(list(zip(events, times, strict=True)), dtype=[("event", bool), ("time", float)])
    curve, grid = exponential_curve(300), np.linspace(0.2, 2.9, 50)
    expected = metrics.integrated_brier_score(outcome, outcome, curve.at(grid), grid)
    found = integrated_brier(curve, times, events.astype(float), grid=grid).mean()
    assert found == pytest.approx(expected, rel=1e-3)
