"""The LASSO baseline asks only about the variables that its regression selects."""

import numpy as np
import pandas as pd
import pytest
import torch

import eddi
from eddi.errors import EddiWarning, SchemaError, TableError, TargetError
from eddi.strategy import Lasso
from eddi.table.evidence import Evidence

NAMES = ("near", "far", "noise", "dust")


def make_table(n_rows=200, seed=0):
    """A target that depends on two of four independent numbers, and a level that is its sign."""
    random = np.random.default_rng(seed)
    table = pd.DataFrame(random.normal(size=(n_rows, 4)), columns=list(NAMES))
    signal = 2 * table["near"] - table["far"]
    table["y"] = signal + 0.1 * random.normal(size=n_rows)
    table["high"] = np.where(signal + 0.1 * random.normal(size=n_rows) > 0, "yes", "no")
    return table


def fit(columns, target, **options):
    table = make_table()[columns]
    return eddi.PartialVAE(target=target, max_steps=20, random_state=0, **options).fit(table)


@pytest.fixture(scope="module")
def model():
    return fit([*NAMES, "y"], "y", recipe="paper")


def test_it_selects_the_variables_that_the_target_depends_on(model):
    table = make_table(2000)[[*NAMES, "y"]]
    selected = Lasso.learn(model, table).variables
    assert {"near", "far"} <= set(selected)
    table["near"] = np.random.default_rng(1).normal(size=len(table))
    table["y"] = 3 * table["dust"]
    assert Lasso.learn(model, table).variables == ("dust",)


def test_a_target_with_levels_uses_a_logistic_regression():
    model = fit([*NAMES, "high"], "high")
    table = make_table(300)[[*NAMES, "high"]]
    selected = Lasso.learn(model, table).variables
    assert {"near", "far"} <= set(selected)
    other = table.assign(high=np.where(table["dust"] > 0, "yes", "no"))
    assert "dust" in Lasso.learn(model, other).variables


@pytest.mark.slow
def test_a_category_is_selected_if_any_of_its_levels_explains_the_target(people_model, people):
    model = people_model(target="age")
    table = people(200, seed=3, missing=0.0)
    table["age"] = 40.0 + 20.0 * (table["town"] == "Bala")  # the middle level: no linear effect
    assert Lasso.learn(model, table, "age").variables == ("town",)


def test_missing_values_are_filled_and_rows_without_a_target_value_are_left_out(model):
    table = make_table(300)[[*NAMES, "y"]]
    complete = Lasso.learn(model, table[:200])
    table.loc[200:, "y"] = np.nan
    table.loc[200:, "dust"] = 1e6  # would dominate the fit if these rows were used
    table.loc[:20, "noise"] = np.nan
    with pytest.warns(EddiWarning, match=r"100 values are out of range \('dust' 100\)"):
        assert set(Lasso.learn(model, table).variables) >= {"near", "far"}
    assert set(complete.variables) >= {"near", "far"}


def test_the_same_seed_selects_the_same_variables(model):
    table = make_table(100)[[*NAMES, "y"]]
    assert Lasso.learn(model, table, seed=3) == Lasso.learn(model, table, seed=3)


def test_selected_variables_come_in_a_random_order_for_each_row_and_others_never(model):
    scores = Lasso(("near", "far", "noise"), seed=1).score(model.fitted(), Evidence.empty(50, 5), ("y",))
    assert torch.isinf(scores[:, 3:]).all()
    assert (scores[:, 3:] < 0).all()
    assert torch.isfinite(scores[:, :3]).all()
    first = scores.argmax(1)
    assert set(first.tolist()) == {0, 1, 2}
    assert not torch.equal(
        Lasso(("near", "far", "noise"), seed=2).score(model.fitted(), Evidence.empty(50, 5), ("y",)),
        scores,
    )


def test_a_simulation_ends_when_all_selected_variables_were_asked(model):
    table = make_table(30, seed=2)[[*NAMES, "y"]]
    curves = eddi.simulate(model, table, strategy=Lasso(("far", "near")))
    assert curves.n_steps == 2
    assert set(np.unique(curves.order)) == {0, 1}
    assert (np.sort(curves.order, axis=1) == [0, 1]).all()


def test_a_constant_target_selects_no_variable(model):
    table = make_table(50)[[*NAMES, "y"]].assign(y=1.0)
    assert Lasso.learn(model, table).variables == ()


def test_errors_state_what_is_wrong_and_what_is_expected(model):
    table = make_table(50)[[*NAMES, "y"]]
    with pytest.raises(TargetError, match="one target, got 'y', 'near'"):
        Lasso.learn(model, table, ("y", "near"))
    with pytest.raises(TableError, match="at least 5 rows with a target value, got 3"):
        Lasso.learn(model, table[:3])
    with pytest.raises(SchemaError, match="the LASSO names 'tide', which is not a variable"):
        Lasso(("tide",)).score(model.fitted(), Evidence.empty(1, 5), ("y",))
