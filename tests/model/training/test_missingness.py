"""Entries that are seldom known count for more, and beliefs are then those of everybody."""

from dataclasses import replace

import numpy as np
import pytest

import eddi
from eddi.model.recipe import DEFAULT
from eddi.model.training import missingness
from eddi.table.evidence import Evidence

N = 4_000


def two(*, hidden_by: str, seed: int = 0) -> np.ndarray:
    """Two standard normal variables, correlation 0.8; the second is mostly hidden where one is low."""
    random = np.random.default_rng(seed)
    first = random.normal(size=N)
    second = 0.8 * first + 0.6 * random.normal(size=N)
    reason = {"the other": first, "itself": second, "chance": np.zeros(N)}[hidden_by]
    known = random.random(N) < 1 / (1 + np.exp(-2 * reason))
    return np.stack([first, np.where(known, second, np.nan)], axis=1)


def test_what_is_known_of_some_stands_for_all() -> None:
    table = two(hidden_by="the other")
    weight = missingness.counts(Evidence.of(table))[:, 1]
    known = ~np.isnan(table[:, 1])
    assert table[known, 1].mean() > 0.4  # of those known; of all it is 0
    assert abs(np.average(table[known, 1], weights=weight[known])) < 0.1


def test_weights_are_one_on_average_and_nothing_where_nothing_is_known() -> None:
    evidence = Evidence.of(two(hidden_by="the other"))
    weight = missingness.counts(evidence)
    assert (weight[~evidence.observed] == 0).all()
    assert (weight[:, 0] == 1).all()  # it has no holes
    assert weight[evidence.observed[:, 1], 1].mean() == pytest.approx(1, abs=1e-5)
    assert weight.max() < 2 * missingness.MOST


def test_holes_by_chance_leave_all_nearly_alike() -> None:
    evidence = Evidence.of(two(hidden_by="chance"))
    weight = missingness.counts(evidence)[evidence.observed]
    assert weight.std() < 0.1


def test_holes_by_the_hidden_value_are_made_up_for_in_part() -> None:
    table = two(hidden_by="itself")
    weight = missingness.counts(Evidence.of(table))[:, 1]
    known = ~np.isnan(table[:, 1])
    plain = table[known, 1].mean()
    assert 0.2 * plain < np.average(table[known, 1], weights=weight[known]) < 0.8 * plain


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
def test_odd_tables_have_weights_that_are_numbers(table: np.ndarray) -> None:
    evidence = Evidence(np.nan_to_num(table).astype(np.float32), ~np.isnan(table))
    weight = missingness.counts(evidence)
    assert np.isfinite(weight).all()
    assert ((weight > 0) == evidence.observed).all()


def test_a_model_believes_of_everybody_not_of_those_who_were_asked() -> None:
    table = two(hidden_by="the other")
    nothing = np.full((1, 2), np.nan)
    means = {}
    for weigh in (True, False):
        recipe = replace(DEFAULT, weigh=weigh, hidden=(32, 32), term=32, patience=50)
        model = eddi.PartialVAE(recipe=recipe, max_steps=600, random_state=0).fit(table)
        means[weigh] = float(model.predict(nothing, "x1")[0].mean)
    assert means[False] > 0.35
    assert abs(means[True]) < 0.2
