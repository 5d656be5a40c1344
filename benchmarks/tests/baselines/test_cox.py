"""Cox regression: known effects, and orders of questions."""

import numpy as np
import pytest

from eddi_benchmarks.baselines.cox import Cox, best_subsets, forward_order


@pytest.fixture(scope="module")
def outcome():
    """Columns, times and events of 800 rows; the first column matters most, the last one not at all."""
    random = np.random.default_rng(0)
    x = random.normal(size=(800, 3))
    death = random.exponential(np.exp(-(x @ [1.0, -0.5, 0.0])))
    end = random.uniform(0.2, 4, 800)
    times = np.minimum(death, end).round(2)  # with ties
    return x, times, (death <= end).astype(float)


def test_effects_are_found(outcome):
    assert np.allclose(Cox.fit(*outcome).weights, [1.0, -0.5, 0.0], atol=0.12)


def test_the_gradient_is_zero_at_the_solution(outcome):
    x, times, events = outcome
    weights = Cox.fit(x, times, events, penalty=1e-9).weights
    risk = np.exp(x @ weights)
    expected = [(risk[times >= t] @ x[times >= t]) / risk[times >= t].sum() for t in times]
    gradient = ((x - np.array(expected)) * events[:, None]).sum(0)
    assert np.abs(gradient).max() < 1e-3


def test_a_penalty_shrinks_the_weights(outcome):
    strong, weak = (np.abs(Cox.fit(*outcome, penalty=p).weights).sum() for p in (1e4, 1e-3))
    assert strong < 0.1 * weak


def test_forward_selection_starts_with_the_strongest_effect(outcome):
    x, times, events = outcome
    columns = {name: x[:, [place]] for place, name in enumerate("abc")}
    assert forward_order(columns, times, events) == ["a", "b", "c"]
    assert best_subsets(columns, times, events, width=2) == [["a"], ["a", "b"], ["a", "b", "c"]]


@pytest.mark.slow
def test_it_agrees_with_scikit_survival(outcome):
    linear = pytest.importorskip("sksurv.linear_model")
    x, times, events = outcome
    target = np.array(
        list(zip(events == 1, times, strict=True)), dtype=[("event", bool), ("time", float)]
    )
    theirs = linear.CoxPHSurvivalAnalysis(alpha=5.0).fit(x, target).coef_
    assert np.allclose(Cox.fit(x, times, events, penalty=5.0).weights, theirs, atol=1e-4)
