"""Inverse propensity weights correct for values that are missing at random."""

from dataclasses import replace

import numpy as np
import pytest

import eddi
from eddi.model.recipe import DEFAULT
from eddi.model.training import missingness
from eddi.table.evidence import Evidence

N = 4_000


def draw_table(*, missing_by: str, seed: int = 0) -> np.ndarray:
    """Two standard normal variables with correlation 0.8; low values of a cause hide the second."""
    random = np.random.default_rng(seed)
    first = random.normal(size=N)
    second = 0.8 * first + 0.6 * random.normal(size=N)
    cause = {"first": first, "second": second, "chance": np.zeros(N)}[missing_by]
    observed = random.random(N) < 1 / (1 + np.exp(-2 * cause))
    return np.stack([first, np.where(observed, second, np.nan)], axis=1)


def test_the_weighted_mean_of_observed_values_is_the_mean_of_all_rows() -> None:
    table = draw_table(missing_by="first")
    weight = missingness.inverse_propensity_weights(Evidence.of(table))[:, 1]
    observed = ~np.isnan(table[:, 1])
    assert table[observed, 1].mean() > 0.4  # the mean of all rows is 0
    assert abs(np.average(table[observed, 1], weights=weight[observed])) < 0.1


def test_weights_are_one_on_average_and_zero_for_missing_values() -> None:
    evidence = Evidence.of(draw_table(missing_by="first"))
    weight = missingness.inverse_propensity_weights(evidence)
    assert (weight[~evidence.observed] == 0).all()
    assert (weight[:, 0] == 1).all()  # it has no missing values
    assert weight[evidence.observed[:, 1], 1].mean() == pytest.approx(1, abs=1e-5)
    assert weight.max() < 2 * missingness.MAX_WEIGHT


def test_values_missing_completely_at_random_give_nearly_equal_weights() -> None:
    evidence = Evidence.of(draw_table(missing_by="chance"))
    weight = missingness.inverse_propensity_weights(evidence)[evidence.observed]
    assert weight.std() < 0.1


def test_values_missing_because_of_themselves_are_corrected_in_part() -> None:
    table = draw_table(missing_by="second")
    weight = missingness.inverse_propensity_weights(Evidence.of(table))[:, 1]
    observed = ~np.isnan(table[:, 1])
    unweighted = table[observed, 1].mean()
    assert 0.2 * unweighted < np.average(table[observed, 1], weights=weight[observed]) < 0.8 * unweighted


@pytest.mark.parametrize(
    "table",
    [
        np.ones((5, 3)),
        np.full((4, 2), np.nan),
        np.where(np.eye(3, dtype=bool), np.nan, 1.0),
        np.zeros((0, 2)),
        np.array([[1e30, np.nan], [-1e30, 1.0], [0.0, 2.0]]),
    ],
)
def test_unusual_tables_have_finite_weights(table: np.ndarray) -> None:
    evidence = Evidence(np.nan_to_num(table).astype(np.float32), ~np.isnan(table))
    weight = missingness.inverse_propensity_weights(evidence)
    assert np.isfinite(weight).all()
    assert ((weight > 0) == evidence.observed).all()


@pytest.mark.slow
def test_a_weighted_model_predicts_the_mean_of_all_rows() -> None:
    table = draw_table(missing_by="first")
    empty_row = np.full((1, 2), np.nan)
    means = {}
    for weigh in (True, False):
        recipe = replace(DEFAULT, weigh=weigh, hidden=(32, 32), term=32, patience=50, folds=0)
        model = eddi.PartialVAE(recipe=recipe, max_steps=400, random_state=0).fit(table)
        means[weigh] = float(model.predict(empty_row, "x1")[0].mean)
    assert means[False] > 0.35
    assert abs(means[True]) < 0.2
