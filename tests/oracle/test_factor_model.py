"""A linear factor model, whose conditional distributions are known exactly, is recovered."""

from typing import NamedTuple

import numpy as np
import pytest
import torch

from eddi import PartialVAE
from eddi.model.recipe import DEFAULT
from eddi.model.training.batches import draw_visible
from eddi.table.evidence import Evidence

LOADINGS = np.array([[1.0, 0.0], [0.8, 0.3], [0.0, 1.0], [-0.5, 0.8], [0.9, -0.4], [0.4, 0.7]])
NOISE = np.array([0.3, 0.4, 0.3, 0.5, 0.4, 0.6])
MEAN = np.array([10.0, -3.0, 0.0, 100.0, 5.0, 1.0])
COVARIANCE = LOADINGS @ LOADINGS.T + np.diag(NOISE**2)
NAMES = [f"x{place}" for place in range(6)]


class Limits(NamedTuple):
    """Largest errors; predicting the mean of each column has a mean error of 1.2 and a gap of 0.28."""

    mean_error: float  # of the conditional mean, in exact sds, on average over the cases
    max_error: float  # the same in the worst case
    sd_error: float  # relative, in the worst case
    score_gap: float  # below the score of the true model, in nats per entry
    correlation_error: float  # of joint draws, in the worst pair of variables


# Errors of two seeds, with a margin. ZI cannot distinguish a value of 0 from a missing one.
LIMITS = {
    "precision": Limits(0.15, 0.25, 0.2, 0.03, 0.45),
    "pnp": Limits(0.3, 0.5, 0.2, 0.04, 0.25),
    "pn": Limits(0.4, 0.65, 0.25, 0.05, 0.45),
    "zi-m": Limits(0.3, 0.5, 0.2, 0.04, 0.3),
    "zi": Limits(0.5, 0.75, 0.45, 0.1, 0.5),
}
CASES = [(0, [1, 2, 3, 4, 5]), (3, [2, 5]), (5, [0]), (4, [0, 1]), (2, [0, 1, 3, 4, 5]), (1, [3])]
"""A target variable, and the observed variables."""


def draw_table(n_rows, seed):
    random = np.random.default_rng(seed)
    factors = random.normal(size=(n_rows, 2))
    return MEAN + factors @ LOADINGS.T + NOISE * random.normal(size=(n_rows, 6))


def exact_conditional(table, observed, target):
    """Mean [rows] and sd of the target given the observed variables: a conditional Gaussian."""
    weights = np.linalg.solve(COVARIANCE[np.ix_(observed, observed)], COVARIANCE[observed, target])
    mean = MEAN[target] + (table[:, observed] - MEAN[observed]) @ weights
    return mean, np.sqrt(COVARIANCE[target, target] - COVARIANCE[target, observed] @ weights)


SLOW = ("pnp", "pn", "zi-m", "zi")
PARAMS = [pytest.param(name, marks=[pytest.mark.slow] if name in SLOW else []) for name in LIMITS]


@pytest.fixture(scope="module", params=PARAMS)
def case(request, small_recipe):
    """A fitted estimator, and the limits of its errors; PNP has the default recipe."""
    recipe, max_steps = (DEFAULT, 2000) if request.param == "pnp" else (small_recipe, 600)
    estimator = PartialVAE(recipe=recipe, set_encoder=request.param, random_state=0, max_steps=max_steps)
    return estimator.fit(draw_table(2000, seed=0)), LIMITS[request.param]


def test_predictions_are_close_to_the_exact_conditional_distributions(case):
    estimator, limits = case
    fitted = estimator.fitted()
    table = draw_table(500, seed=77)
    mean_errors, sd_ratios = [], []
    for target, observed in CASES:
        hidden = [place for place in range(6) if place not in observed]
        evidence = fitted.evidence(table).hide(hidden)
        prediction = fitted.predict_evidence(evidence, [NAMES[target]])[NAMES[target]]
        mean, sd = exact_conditional(table, observed, target)
        mean_errors.append(np.sqrt(np.mean((prediction.mean - mean) ** 2)) / sd)
        sd_ratios.append(prediction.sd.mean() / sd)
    assert np.mean(mean_errors) < limits.mean_error
    assert np.max(mean_errors) < limits.max_error
    assert sd_ratios == pytest.approx([1] * len(CASES), abs=limits.sd_error)


@pytest.fixture(scope="module")
def true_score():
    """A table, and the mean log density of its hidden entries under the true model."""
    table = draw_table(1000, seed=5)
    random = torch.Generator().manual_seed(0)
    is_visible = draw_visible((1, *table.shape), DEFAULT, random)[0].numpy() > 0  # as in `score`
    log_densities = []
    for row, visible in zip(table, is_visible, strict=True):
        for target in np.flatnonzero(~visible):
            mean, sd = exact_conditional(row[None], np.flatnonzero(visible), target)
            z = (row[target] - mean[0]) / sd
            log_densities.append(-0.5 * z**2 - np.log(sd * np.sqrt(2 * np.pi)))
    return table, np.mean(log_densities)


def test_the_score_is_close_to_that_of_the_true_model(case, true_score):
    estimator, limits = case
    table, expected = true_score
    assert expected - limits.score_gap < estimator.score(table) < expected + 0.01


def test_without_evidence_each_variable_has_its_own_mean_and_sd(case):
    predictions = case[0].fitted().predict_evidence(Evidence.empty(1, 6), NAMES)
    for place, name in enumerate(NAMES):
        sd = np.sqrt(COVARIANCE[place, place])
        assert predictions[name].mean[0] == pytest.approx(MEAN[place], abs=0.2 * sd)
        assert predictions[name].sd[0] == pytest.approx(sd, rel=0.2)


def test_90_percent_intervals_contain_nine_in_ten_true_values(case):
    table = draw_table(500, seed=78)
    low, high = case[0].predict(table, "x3").interval.T
    is_inside = (low <= table[:, 3]) & (table[:, 3] <= high)
    assert is_inside.mean() == pytest.approx(0.9, abs=0.06)


def test_joint_draws_have_the_correlations_of_the_factor_model(case):
    estimator, limits = case
    drawn = estimator.fitted().draw_tables(Evidence.empty(1, 6), 4000, seed=0)[:, 0]
    expected = COVARIANCE / np.sqrt(np.outer(np.diag(COVARIANCE), np.diag(COVARIANCE)))
    assert np.abs(np.corrcoef(drawn.T) - expected).max() < limits.correlation_error
