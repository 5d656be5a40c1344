"""Boosted trees, extra trees and linear models on a fixed greedy order."""

import numpy as np
import pytest

from eddi_benchmarks.baselines.fixed_order import (
    AnswerTable,
    BoostedTrees,
    ExtraTrees,
    FixedOrderModel,
    ShrunkLinear,
    make_folds,
)


def make_table(n=90, *, n_levels=0, missing=0.0):
    """Three columns: the first is noise, the last determines most of the target."""
    random = np.random.default_rng(0)
    columns = random.normal(size=(n, 3))
    truth = columns @ [0.0, 0.5, 2.0] + 0.3 * random.normal(size=n)
    if n_levels:
        truth = np.digitize(truth, np.quantile(truth, np.arange(1, n_levels) / n_levels)).astype(float)
    columns[random.random(columns.shape) < missing] = np.nan
    return AnswerTable(columns, truth, np.eye(3, dtype=bool), np.zeros(3), n_levels)


@pytest.mark.parametrize(
    ("learner", "n_levels"),
    [
        (BoostedTrees(), 0),
        (ExtraTrees(), 0),
        (ExtraTrees(), 3),
        (ShrunkLinear(), 0),
        (ShrunkLinear(), 3),
    ],
)
def test_the_most_informative_question_is_first_and_later_prefixes_predict_better(learner, n_levels):
    table = make_table(n_levels=n_levels, missing=0.05)
    model = FixedOrderModel.fit(learner, table, n_ordered=2, seed=0)
    assert model.order == (2, 1)
    outputs = model.predict(table.columns)
    assert outputs.shape == (3, 90, max(n_levels, 1))
    assert np.isfinite(outputs).all()
    assert (np.diff(model.error_sd) < 0).all()
    if n_levels:
        assert np.exp(outputs).sum(-1) == pytest.approx(1)
        assert (outputs[-1].argmax(1) == table.truth).mean() > 0.75


def test_a_question_that_reveals_two_columns_uses_both():
    table = make_table()
    reveals = np.array([[True, False, False], [False, True, True]])
    grouped = AnswerTable(table.columns, table.truth, reveals, table.defaults, 0)
    model = FixedOrderModel.fit(ShrunkLinear(), grouped, n_ordered=1, seed=0)
    assert model.order == (1,)
    assert model.error_sd[1] < 0.4  # the noise is 0.3; without the second column 0.6


def test_missing_values_of_a_linear_model_have_the_default():
    table = make_table()
    model = FixedOrderModel.fit(ShrunkLinear(), table, n_ordered=1, seed=0)
    missing, default = (np.full((1, 3), value) for value in (np.nan, 0.0))
    assert model.predict(missing) == pytest.approx(model.predict(default))


def test_rows_skip_questions_without_an_answer_and_keep_the_last_prediction():
    model = FixedOrderModel((2, 0, 1), (), np.zeros(4))
    answerable = np.array([[True, True, True], [True, True, False], [False, False, True]])
    asked, prefix = model.interview(answerable, 2)
    assert asked.tolist() == [[2, 0], [0, 1], [2, -1]]
    assert prefix.tolist() == [[0, 1, 2], [0, 2, 3], [0, 1, 1]]


def test_a_level_without_training_rows_has_a_small_probability():
    table = make_table(n_levels=2)
    wider = AnswerTable(table.columns, table.truth, table.reveals, table.defaults, 3)
    outputs = FixedOrderModel.fit(ShrunkLinear(), wider, n_ordered=1, seed=0).predict(table.columns)
    assert outputs.shape[-1] == 3
    assert np.exp(outputs[..., 2]).max() < 1e-5


def test_a_single_level_in_the_training_rows_is_predicted_always():
    table = make_table(n_levels=2)
    constant = AnswerTable(table.columns, np.ones(90), table.reveals, table.defaults, 2)
    outputs = FixedOrderModel.fit(BoostedTrees(), constant, n_ordered=1, seed=0).predict(table.columns)
    assert (outputs.argmax(-1) == 1).all()


def test_folds_are_stratified_and_large_tables_have_one():
    table = make_table(n_levels=3)
    folds = list(make_folds(table, np.random.default_rng(0)))
    assert len(folds) == 3
    assert sum(held_out.astype(int) for _, held_out in folds).tolist() == [1] * 90
    for train, held_out in folds:
        assert not (train & held_out).any()
        assert np.bincount(table.truth[held_out].astype(int)).tolist() == [10, 10, 10]
    assert len(list(make_folds(make_table(500), np.random.default_rng(0)))) == 1
