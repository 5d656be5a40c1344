"""Rows with holes, levels and groups as the baselines take them, and their walks as curves."""

import numpy as np
import pandas as pd
import pytest
import torch

import eddi
from eddi.table.variable import Kind
from eddi_benchmarks.baselines.masked import Pace
from eddi_benchmarks.decisions.peers import Peer, Sheet
from eddi_benchmarks.decisions.problem import Problem

PACE = Pace(width=16, every=10, patience=2, max_steps=30)


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
def sheet():
    return Sheet.of(make_problem(is_class=False))


def test_a_category_is_a_column_a_level_and_a_group_one_question(sheet):
    assert sheet.layout.reveals.shape == (3, 6)  # pair, a, colour; a, b, c and three colours
    assert sheet.layout.reveals.tolist() == [
        [0, 1, 1, 0, 0, 0],
        [1, 0, 0, 0, 0, 0],
        [0, 0, 0, 1, 1, 1],
    ]


def test_a_hole_is_the_mean_and_what_has_no_answer_cannot_be_asked():
    problem = make_problem(is_class=False)
    table = problem.test.copy()
    table[["b", "c"]] = np.nan
    sheet = Sheet.of(problem)
    rows = sheet.rows(sheet.evidence(table))
    assert not rows.columns[:, 1:3].any()
    assert rows.answerable[0].tolist() == [False, True, True]
    some = sheet.rows(sheet.evidence(problem.test))
    assert some.answerable.all()  # where one of the pair is known, the pair can be asked


def test_columns_have_mean_nought_and_sd_one_in_the_training_rows(sheet):
    rows = sheet.rows(sheet.evidence(sheet.problem.train))
    assert torch.allclose(rows.columns.mean(0), torch.zeros(6), atol=1e-5)
    assert torch.allclose(rows.columns[:, 0].std(correction=0), torch.ones(1), atol=1e-4)


@pytest.mark.parametrize("method", ["gdfs", "dime"])
def test_curves_of_a_quantity_are_in_the_tables_units(method):
    problem = make_problem(is_class=False)
    peer = Peer.fit(method, problem, seed=0, pace=PACE)
    curves = peer.interview()
    assert curves.truth == pytest.approx(problem.test["y"].to_numpy(), rel=1e-4)
    assert curves.rmse[0] == pytest.approx(problem.test["y"].std(), rel=0.3)
    assert curves.order.shape == (40, 3)
    assert sorted(curves.order[0]) == [0, 1, 2]  # places in the schema: pair, a, colour
    assert curves.spent[0, -1] == 7.0
    assert 0.5 < curves.coverage.mean() <= 1
    assert peer.milliseconds(3) > 0


@pytest.mark.parametrize("method", ["gdfs", "dime"])
def test_curves_of_classes_have_probabilities(method):
    peer = Peer.fit(method, make_problem(is_class=True), seed=0, pace=PACE)
    curves = peer.interview()
    assert curves.probabilities.sum(-1) == pytest.approx(1)
    assert curves.accuracy[-1] > 0.75
    chosen = np.take_along_axis(curves.probabilities, curves.truth.astype(int)[:, None, None], -1)
    assert curves.log_prob == pytest.approx(np.log(chosen[..., 0]))


def test_what_costs_five_times_as_much_must_tell_five_times_as_much():
    peer = Peer.fit("dime", make_problem(is_class=True), seed=0, pace=PACE)
    rows = peer.sheet.rows(peer.sheet.evidence(peer.sheet.problem.test))
    with torch.no_grad():
        plain, paid = (peer.choose(per_cost=p)(rows.columns, rows.nothing) for p in (False, True))
    assert torch.allclose(plain / paid, torch.tensor([5.0, 1.0, 1.0]).expand(plain.shape))
