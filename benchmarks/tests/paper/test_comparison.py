"""Strategies on one model, and areas, ranks and tests that can be computed by hand."""

import json

import numpy as np
import pandas as pd
import pytest
from scipy import stats

import eddi
from eddi.strategy import FixedOrder, Lasso, Random
from eddi_benchmarks.paper.comparison import PairedTest, RowAreas, run_strategies

COMBINATIONS = [("eddi", "zi"), ("rand", "zi"), ("eddi", "pn"), ("rand", "pn")]


def test_mean_ranks_equal_those_computed_by_hand(comparison_results):
    areas = RowAreas.from_results(comparison_results, "rmse", COMBINATIONS)
    # seed 0: (1, 3, 2, 4) and (2, 3, 1, 4); seed 1: (1, 2, 3, 4) and (1, 2.5, 2.5, 4)
    np.testing.assert_allclose(areas.mean_ranks, [[1.5, 3, 1.5, 4], [1, 2.25, 2.75, 4]])


def test_every_row_has_the_same_weight_whatever_its_dataset(make_result):
    results = [
        make_result("a", "zi", 0, {"eddi": [1.0], "rand": [2.0]}),
        make_result("b", "zi", 0, {"eddi": [2.0] * 3, "rand": [1.0] * 3}),
    ]
    areas = RowAreas.from_results(results, "rmse", [("eddi", "zi"), ("rand", "zi")])
    np.testing.assert_allclose(areas.mean_ranks, [[1.75, 1.25]])


def test_a_paired_test_is_over_rows_and_over_splits(make_result):
    random = np.random.default_rng(0)
    results, savings = [], []
    for seed in range(6):
        rows, saving = random.normal(size=30), random.normal(0.3, 1.0, size=30)
        savings.append(saving)
        areas = {"eddi": (rows - saving).tolist(), "rand": rows.tolist()}
        results.append(make_result("a", "pnp", seed, areas))
    first, second = ("eddi", "pnp"), ("rand", "pnp")
    areas = RowAreas.from_results(results, "rmse", [first, second])
    test = PairedTest.from_areas(areas, first, second)
    pooled = np.concatenate(savings)
    assert test.mean_saving == pytest.approx(pooled.mean())
    assert test.p_rows == pytest.approx(stats.wilcoxon(pooled).pvalue)
    assert test.p_splits == pytest.approx(stats.wilcoxon([s.mean() for s in savings]).pvalue)
    assert test.is_win == (test.p_rows < 0.05)


@pytest.fixture(scope="module")
def fitted():
    """A model with the paper's recipe and held-out rows; the range of the target is far from 1."""
    random = np.random.default_rng(0)
    x = random.normal(size=(140, 3))
    table = pd.DataFrame(x, columns=["a", "b", "c"])
    table["y"] = 500 + 100 * (x[:, 0] - x[:, 1])
    model = eddi.PartialVAE(target="y", recipe="paper", max_steps=100, random_state=0)
    return model.fit(table[:120]), table[120:]


def test_curves_and_areas_are_in_coded_units(fitted):
    model, test = fitted
    metrics = ("rmse", "draw_rmse", "nll")
    measurements = run_strategies(model, test, "y", strategies={"rand": Random(3)}, metrics=metrics)
    curves = eddi.simulate(model, test, "y", strategy=Random(3))
    scale = model.coding_.scale[3]
    assert scale > 100
    measured = measurements["strategies"]["rand"]
    np.testing.assert_allclose(measured["curves"]["rmse"], curves.rmse / scale, rtol=1e-5)
    np.testing.assert_allclose(measured["curves"]["nll"], curves.nll - np.log(scale), rtol=1e-4)
    np.testing.assert_allclose(
        measured["auic"]["draw_rmse"], curves.row_area("draw_rmse") / scale, rtol=1e-5
    )
    assert measurements["n_rows"] == {"train": 120, "test": 20}
    assert set(measurements["seconds"]) == {"fit", "rand"}
    assert json.loads(json.dumps(measurements)) == measurements


def test_a_strategy_that_stops_early_keeps_its_last_prediction(fitted):
    model, test = fitted
    strategies = {"lasso": Lasso(("b",)), "sing": FixedOrder(("b", "a", "c"))}
    measurements = run_strategies(model, test, "y", strategies=strategies, metrics=("rmse",))
    lasso, sing = (measurements["strategies"][name] for name in ("lasso", "sing"))
    lasso_rmse = lasso["curves"]["rmse"]
    assert lasso_rmse[:2] == sing["curves"]["rmse"][:2]
    assert lasso_rmse[1:] == [lasso_rmse[1]] * 3
    assert (lasso["n_asked"], sing["n_asked"]) == (1, 3)
    assert len(lasso["auic"]["rmse"]) == 20
