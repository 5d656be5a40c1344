"""Interviews by matrix factorisation."""

from dataclasses import replace

import numpy as np
import pytest

from eddi_benchmarks.baselines.dral import Dral, DralSettings

SETTINGS = DralSettings(n_factors=3, burn_in=60, n_sweeps=10, n_settling=3, n_answers=3, retrain="row")


@pytest.fixture(scope="module")
def table():
    """Columns 0 and 1 are noise, column 2 nearly determines the target, which is last."""
    random = np.random.default_rng(0)
    noise, informative = random.normal(size=(300, 2)), random.normal(size=300)
    target = 10 + 5 * informative + 0.5 * random.normal(size=300)
    return np.column_stack([noise, 100 + 20 * informative, target])


@pytest.mark.parametrize("retrain", ["row", "all"])
def test_the_informative_question_is_first_and_predictions_have_the_units_of_the_table(table, retrain):
    model = Dral.fit(table[20:], replace(SETTINGS, retrain=retrain), seed=0)
    interviews = [(model.interview(row, 3), row[3]) for row in table[:5]]
    assert [interview.order[0] for interview, _ in interviews] == [2] * 5
    before, after = (
        np.sqrt(np.mean([(interview.mean[step] - truth) ** 2 for interview, truth in interviews]))
        for step in (0, 1)
    )
    assert after < 1.5 < before
    for interview, _ in interviews:
        assert (len(interview.order), len(interview.mean)) == (3, 4)
        assert interview.sd[1] < 0.5 * interview.sd[0]


def test_equal_seeds_give_equal_interviews(table):
    first, second = (
        Dral.fit(table[20:], replace(SETTINGS, retrain="all"), seed=1).interview(table[0], 3)
        for _ in range(2)
    )
    assert first == second


def test_neither_the_target_nor_missing_values_are_asked(table):
    row = table[0].copy()
    row[0] = np.nan
    assert sorted(Dral.fit(table[20:], SETTINGS, seed=0).interview(row, 3).order) == [1, 2]


def test_only_full_retraining_samples_new_states(table):
    row = np.array([0.0, np.nan, np.nan, np.nan])
    row_only = Dral.fit(table[20:], SETTINGS, seed=0)
    assert row_only._retrain(row, row_only.states, step=1) is row_only.states
    full = replace(row_only, settings=replace(SETTINGS, retrain="all"))
    after = full._retrain(row, full.states, step=1)
    assert len(after) == SETTINGS.n_sweeps
    assert len(after[0].rows) == len(table) - 20 + 1
