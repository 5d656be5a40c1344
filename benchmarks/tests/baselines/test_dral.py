"""Asking by matrix factorisation."""

from dataclasses import replace

import numpy as np
import pytest

from eddi_benchmarks.baselines.dral import Dral, Sizes

SIZES = Sizes(n_factors=3, burn_in=60, n_sweeps=10, settle=3, n_answers=3, retrain="row")


@pytest.fixture(scope="module")
def table():
    """Columns 0 and 1 say nothing of the target, the last; column 2 says almost all."""
    random = np.random.default_rng(0)
    noise, telling = random.normal(size=(300, 2)), random.normal(size=300)
    target = 10 + 5 * telling + 0.5 * random.normal(size=300)
    return np.column_stack([noise, 100 + 20 * telling, target])


@pytest.mark.parametrize("retrain", ["row", "all"])
def test_the_telling_question_is_asked_first_and_told_in_the_tables_units(table, retrain):
    model = Dral.fit(table[20:], replace(SIZES, retrain=retrain), seed=0)
    interviews = [(model.interview(row, 3), row[3]) for row in table[:5]]
    assert [asked.order[0] for asked, _ in interviews] == [2] * 5
    before, after = (
        np.sqrt(np.mean([(asked.mean[step] - truth) ** 2 for asked, truth in interviews]))
        for step in (0, 1)
    )
    assert after < 1.5 < before
    assert all(len(asked.order) == 3 and len(asked.mean) == 4 for asked, _ in interviews)
    assert all(asked.sd[1] < 0.5 * asked.sd[0] for asked, _ in interviews)


def test_the_same_seed_gives_the_same_interview(table):
    first, again = (
        Dral.fit(table[20:], replace(SIZES, retrain="all"), seed=1).interview(table[0], 3)
        for _ in range(2)
    )
    assert first == again


def test_the_target_and_what_the_row_does_not_know_are_not_asked(table):
    row = table[0].copy()
    row[0] = np.nan
    assert sorted(Dral.fit(table[20:], SIZES, seed=0).interview(row, 3).order) == [1, 2]


def test_only_retraining_all_changes_the_columns_factors(table):
    person = np.array([0.0, np.nan, np.nan, np.nan])
    row = Dral.fit(table[20:], SIZES, seed=0)
    assert row._after(person, row.states, step=1) is row.states
    whole = replace(row, sizes=replace(SIZES, retrain="all"))
    after = whole._after(person, whole.states, step=1)
    assert len(after) == SIZES.n_sweeps
    assert len(after[0].rows) == len(table) - 20 + 1
