"""The LASSO baseline keeps what explains the target, asks nothing else, and then stops."""

import numpy as np
import pandas as pd
import pytest
import torch

import eddi
from eddi.errors import SchemaError, TableError, TargetError
from eddi.strategy import Lasso
from eddi.table.evidence import Evidence

NAMES = ("near", "far", "noise", "dust")


def make_table(n_rows=200, seed=0):
    """A target that leans on two of four independent numbers, and a level that follows its sign."""
    random = np.random.default_rng(seed)
    table = pd.DataFrame(random.normal(size=(n_rows, 4)), columns=list(NAMES))
    lean = 2 * table["near"] - table["far"]
    table["y"] = lean + 0.1 * random.normal(size=n_rows)
    table["high"] = np.where(lean + 0.1 * random.normal(size=n_rows) > 0, "yes", "no")
    return table


def fit(columns, target, **changes):
    table = make_table()[columns]
    return eddi.PartialVAE(target=target, max_steps=20, random_state=0, **changes).fit(table)


@pytest.fixture(scope="module")
def model():
    return fit([*NAMES, "y"], "y", recipe="paper")


def test_it_keeps_what_the_target_leans_on(model):
    table = make_table(2000)[[*NAMES, "y"]]
    kept = Lasso.learn(model, table).variables
    assert {"near", "far"} <= set(kept)
    table["near"] = np.random.default_rng(1).normal(size=len(table))
    table["y"] = 3 * table["dust"]
    assert Lasso.learn(model, table).variables == ("dust",)


def test_a_target_of_levels_is_regressed_too():
    model = fit([*NAMES, "high"], "high")
    table = make_table(300)[[*NAMES, "high"]]
    kept = Lasso.learn(model, table).variables
    assert {"near", "far"} <= set(kept)
    pure = table.assign(high=np.where(table["dust"] > 0, "yes", "no"))
    assert "dust" in Lasso.learn(model, pure).variables


def test_a_category_counts_whichever_of_its_levels_explains_the_target(people_model, people):
    model = people_model(target="age")
    table = people(200, seed=3, holes=0.0)
    table["age"] = 40.0 + 20.0 * (table["town"] == "Bala")  # the middle level: no line through all three
    assert Lasso.learn(model, table, "age").variables == ("town",)


def test_holes_are_filled_and_rows_without_a_target_left_out(model):
    table = make_table(300)[[*NAMES, "y"]]
    whole = Lasso.learn(model, table[:200])
    table.loc[200:, "y"] = np.nan
    table.loc[200:, "dust"] = 1e6  # would decide everything if these rows counted
    table.loc[:20, "noise"] = np.nan
    assert set(Lasso.learn(model, table).variables) >= {"near", "far"}
    assert set(whole.variables) >= {"near", "far"}


def test_it_learns_the_same_again(model):
    table = make_table(100)[[*NAMES, "y"]]
    assert Lasso.learn(model, table, seed=3) == Lasso.learn(model, table, seed=3)


def test_what_it_keeps_comes_in_an_order_of_each_row_and_the_rest_never(model):
    scores = Lasso(("near", "far", "noise"), seed=1).score(model, Evidence.empty(50, 5), ("y",))
    assert torch.isinf(scores[:, 3:]).all()
    assert (scores[:, 3:] < 0).all()
    assert torch.isfinite(scores[:, :3]).all()
    first = scores.argmax(1)
    assert set(first.tolist()) == {0, 1, 2}
    assert not torch.equal(
        Lasso(("near", "far", "noise"), seed=2).score(model, Evidence.empty(50, 5), ("y",)), scores
    )


def test_a_simulation_stops_when_all_it_keeps_is_asked(model):
    table = make_table(30, seed=2)[[*NAMES, "y"]]
    curves = eddi.simulate(model, table, strategy=Lasso(("far", "near")))
    assert curves.n_steps == 2
    assert set(np.unique(curves.order)) == {0, 1}
    assert (np.sort(curves.order, axis=1) == [0, 1]).all()


def test_a_target_that_never_changes_keeps_nothing(model):
    table = make_table(50)[[*NAMES, "y"]].assign(y=1.0)
    assert Lasso.learn(model, table).variables == ()


def test_errors_say_what_to_do(model):
    table = make_table(50)[[*NAMES, "y"]]
    with pytest.raises(TargetError, match="one target, got 'y', 'near'"):
        Lasso.learn(model, table, ("y", "near"))
    with pytest.raises(TableError, match="at least 5 rows whose target is known, got 3"):
        Lasso.learn(model, table[:3])
    with pytest.raises(SchemaError, match="keeps 'tide'"):
        Lasso(("tide",)).score(model, Evidence.empty(1, 5), ("y",))
