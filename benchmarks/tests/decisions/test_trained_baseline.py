"""GDFS and DIME on tables with missing values, levels and groups."""

import numpy as np
import pandas as pd
import pytest
import torch

import eddi
from eddi.table.variable import Kind
from eddi_benchmarks.baselines.masked import TrainingSettings
from eddi_benchmarks.decisions.problem import Problem
from eddi_benchmarks.decisions.trained_baseline import TableEncoder, TrainedBaseline

SETTINGS = TrainingSettings(width=16, validate_every=10, patience=2, max_steps=30)


def make_problem(n_rows=120, *, is_class):
    random = np.random.default_rng(0)
    x = random.normal(5, 2, size=(n_rows, 3))
    x[::4, 1] = np.nan
    table = pd.DataFrame(x, columns=["a", "b", "c"])
    table["colour"] = random.choice(["red", "green", "blue"], n_rows)
    table["y"] = (x[:, 0] > 5).astype(int) if is_class else 10 * x[:, 0]
    numbers = tuple(eddi.Variable(name, Kind.REAL) for name in "abc")
    colour = eddi.Variable("colour", Kind.CATEGORY, levels=("blue", "green", "red"))
    target = (
        eddi.Variable("y", Kind.BINARY, levels=(0, 1)) if is_class else eddi.Variable("y", Kind.REAL)
    )
    schema = eddi.Schema((*numbers, colour, target)).with_question("pair", reveals=["b", "c"], cost=5)
    return Problem(table.iloc[:80], table.iloc[80:], schema, "y", 3)


@pytest.fixture(scope="module")
def encoder():
    return TableEncoder.from_problem(make_problem(is_class=False))


def test_a_category_has_a_column_per_level_and_a_group_is_one_question(encoder):
    assert encoder.layout.reveals.shape == (
        3,
        6,
    )  # questions pair, a, colour; columns a, b, c, three colours
    assert encoder.layout.reveals.tolist() == [
        [0, 1, 1, 0, 0, 0],
        [1, 0, 0, 0, 0, 0],
        [0, 0, 0, 1, 1, 1],
    ]


def test_missing_values_become_the_mean_and_cannot_be_asked():
    problem = make_problem(is_class=False)
    table = problem.test.copy()
    table[["b", "c"]] = np.nan
    encoder = TableEncoder.from_problem(problem)
    rows = encoder.encode(encoder.evidence(table))
    assert not rows.columns[:, 1:3].any()
    assert rows.answerable[0].tolist() == [False, True, True]
    rows = encoder.encode(encoder.evidence(problem.test))
    assert rows.answerable.all()  # one value of the pair is enough to ask it


def test_columns_have_mean_zero_and_sd_one_in_the_training_rows(encoder):
    rows = encoder.encode(encoder.evidence(encoder.problem.train))
    assert torch.allclose(rows.columns.mean(0), torch.zeros(6), atol=1e-5)
    assert torch.allclose(rows.columns[:, 0].std(correction=0), torch.ones(1), atol=1e-4)


@pytest.mark.parametrize("method", ["gdfs", "dime"])
def test_curves_of_a_real_target_have_the_units_of_the_table(method):
    problem = make_problem(is_class=False)
    baseline = TrainedBaseline.fit(method, problem, seed=0, settings=SETTINGS)
    curves = baseline.interview()
    assert curves.truth == pytest.approx(problem.test["y"].to_numpy(), rel=1e-4)
    assert curves.rmse[0] == pytest.approx(problem.test["y"].std(), rel=0.3)
    assert curves.order.shape == (40, 3)
    assert sorted(curves.order[0]) == [0, 1, 2]  # indices in the schema: pair, a, colour
    assert curves.spent[0, -1] == 7.0
    assert 0.5 < curves.coverage.mean() <= 1
    assert baseline.decision_milliseconds(3) > 0


@pytest.mark.parametrize("method", ["gdfs", "dime"])
def test_curves_of_classes_have_probabilities(method):
    problem = make_problem(is_class=True)
    baseline = TrainedBaseline.fit(method, problem, seed=0, settings=SETTINGS)
    curves = baseline.interview()
    assert curves.probabilities.sum(-1) == pytest.approx(1)
    assert curves.accuracy[-1] > 0.75
    truth = curves.truth.astype(int)[:, None, None]
    expected = np.log(np.take_along_axis(curves.probabilities, truth, -1)[..., 0])
    assert curves.log_prob == pytest.approx(expected)


def test_scores_per_cost_are_divided_by_the_cost():
    problem = make_problem(is_class=True)
    baseline = TrainedBaseline.fit("dime", problem, seed=0, settings=SETTINGS)
    rows = baseline.encoder.encode(baseline.encoder.evidence(problem.test))
    with torch.no_grad():
        scores, per_cost = (
            baseline.score_function(per_cost=value)(rows.columns, rows.empty_mask)
            for value in (False, True)
        )
    assert torch.allclose(scores / per_cost, torch.tensor([5.0, 1.0, 1.0]).expand(scores.shape))
