"""Rows that are trained on, but never held out."""

import numpy as np
import pytest
import torch

from eddi.model.recipe import DEFAULT
from eddi.model.training.batches import BatchSampler
from eddi.model.training.extra_rows import (
    MAX_JOINED_ROWS,
    MAX_WEIGHED_ROWS,
    ExtraRows,
    join_rows,
    repeat_rows,
    weigh_rows,
)
from eddi.table.evidence import Evidence

TABLE = Evidence.of(np.zeros((10, 3)))
EXTRA = Evidence.of(np.ones((40, 3)))


def test_without_extra_rows_nothing_changes():
    assert join_rows(TABLE, None) is TABLE


@pytest.mark.parametrize(("weight", "share"), [(0.25, 0.5), (0.05, 1 / 6), (1.0, 0.8), (2.0, 8 / 9)])
def test_joined_rows_count_as_much_as_their_weight(weight, share):
    assert join_rows(TABLE, ExtraRows(EXTRA, weight)).values.mean() == pytest.approx(share, abs=1e-6)


@pytest.mark.parametrize("weight", [0.25, 4.0])
def test_rows_of_data_count_as_one_row_each(weight):
    rows, weights = weigh_rows(TABLE, ExtraRows(EXTRA, weight))
    assert len(rows) == 50
    assert weights is not None
    assert weights.max() == 1.0
    assert weights[-1] / weights[0] == weight


def test_some_rows_of_beliefs_stand_for_all_of_them():
    extra = ExtraRows(Evidence.of(np.ones((1_000, 3))), 0.02)
    rows, weights = weigh_rows(TABLE, extra)
    assert len(rows) == 10 + MAX_WEIGHED_ROWS
    assert weights is not None
    assert weights[10:].sum() == pytest.approx(20)


def test_a_large_table_is_not_repeated():
    rows = np.zeros((MAX_JOINED_ROWS, 1))
    assert len(repeat_rows(rows, np.ones((10, 1)), 0.01)) == MAX_JOINED_ROWS + 10


def test_batches_have_the_share_of_extra_rows_that_their_weight_gives():
    sampler = BatchSampler(
        TABLE,
        DEFAULT,
        n_latent=2,
        seed=0,
        device=torch.device("cpu"),
        targets=(),
        extra=ExtraRows(EXTRA, 0.25),
    )
    values = torch.cat([batch.values for batch in sampler.batches(0, 50)])
    assert float(values.mean()) == pytest.approx(0.5, abs=0.03)


def make_beliefs(*, related=()):
    values = np.random.default_rng(0).standard_normal((400, 3)).astype(np.float32)
    values[:, 1] = values[:, 0]  # the believed relation
    return ExtraRows(Evidence.of(values), 0.05, is_prior=True, related=related)


def make_answers():
    """Rows in which the first variable is known, the second one never, and the last one in half of them."""
    values = np.random.default_rng(1).standard_normal((40, 3)).astype(np.float32)
    observed = np.tile([True, False, True], (40, 1))
    observed[20:, 2] = False
    return Evidence(values, observed)


def test_rows_of_beliefs_keep_what_is_known_of_a_row():
    answers = make_answers()
    completed = make_beliefs().complete(answers).rows
    assert completed.observed.all()
    known, n_copies = np.unique(completed.values[:, 0], return_counts=True)
    assert set(known) == set(answers.values[:, 0])
    assert set(n_copies) == {10}


def test_missing_values_are_drawn_from_beliefs():
    beliefs = make_beliefs()
    completed = beliefs.complete(make_answers()).rows
    assert set(completed.values[:, 1]) <= set(beliefs.rows.values[:, 1])
    assert abs(np.corrcoef(completed.values[:, :2].T)[0, 1]) < 0.2


def test_missing_values_respect_believed_relations():
    completed = make_beliefs(related=(0, 1)).complete(make_answers()).rows
    assert np.corrcoef(completed.values[:, :2].T)[0, 1] > 0.9


def test_only_rows_with_a_target_are_completed():
    answers = make_answers()
    completed = make_beliefs().complete(answers, targets=[2]).rows
    assert set(completed.values[:, 2]) == set(answers.values[:20, 2])
    beliefs = make_beliefs()
    assert beliefs.complete(answers, targets=[1]) is beliefs


def test_rows_of_data_are_not_completed():
    extra = ExtraRows(EXTRA, 50.0)
    assert extra.complete(TABLE) is extra
