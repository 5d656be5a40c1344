"""The report on simulated interviews: metrics that suit the target, and baselines."""

import json
from dataclasses import replace

import numpy as np
import pytest

from eddi import simulate
from eddi.evaluate.bootstrap import area_difference
from eddi.evaluate.simulation_report import (
    compare_with_baselines,
    list_metrics,
    main_metric,
    majority_rate,
    report_document,
)
from eddi.strategy import Information, Random


@pytest.fixture(scope="module")
def simulated(model, people):
    """Simulations of a level and of a quantity, each with two strategies."""
    rows = people(40, seed=5)
    strategies = {"information": Information(), "random": Random(0)}
    return {
        target: {
            name: simulate(model, rows, target, strategy=strategy, max_steps=3)
            for name, strategy in strategies.items()
        }
        for target in ("smoker", "age")
    }


def test_metrics_suit_the_kind_of_target(simulated):
    classes, quantity = (simulated[target]["information"] for target in ("smoker", "age"))
    assert list(list_metrics(classes)) == ["auroc", "accuracy", "brier"]
    assert list(list_metrics(quantity)) == ["rmse"]
    assert (main_metric(classes), main_metric(quantity)) == ("brier", "rmse")
    counts = np.bincount(classes.truth[classes.known].astype(int))
    assert majority_rate(classes) == counts.max() / counts.sum()
    assert majority_rate(quantity) is None


@pytest.mark.parametrize("target", ["smoker", "age"])
def test_the_first_strategy_is_compared_with_each_other_one(simulated, target):
    own, other = compare_with_baselines(simulated[target])
    curves = simulated[target]
    assert (own.name, own.difference) == ("information", None)
    metric = main_metric(curves["information"])
    assert other.area == curves["random"].metric(metric).mean()
    assert other.difference.value == pytest.approx(own.area - other.area)
    assert other.difference.low <= other.difference.value <= other.difference.high


@pytest.mark.parametrize("target", ["smoker", "age"])
def test_the_document_has_the_fields_of_the_curves_and_the_comparison(simulated, target):
    document = json.loads(json.dumps(report_document(simulated[target])))
    expected = simulated[target]["information"].to_document()
    assert expected.items() <= document.items()
    assert document["strategy"] == "information"
    assert list(document["baselines"]) == ["random"]
    assert document["comparison"][1]["difference"]["p_value"] <= 1


@pytest.mark.parametrize("seed", range(20))
def test_the_interval_excludes_zero_exactly_if_the_difference_is_significant(simulated, seed):
    rows = np.random.default_rng(seed).permutation(40)[: 10 + seed]
    a, b = (curve for curve in simulated["age"].values())
    difference = area_difference(_take(a, rows), _take(b, rows), "rmse", seed=seed)
    assert (difference.p_value < 0.05) == (difference.low > 0 or difference.high < 0)


def test_equal_curves_do_not_differ(simulated):
    curves = simulated["age"]["information"]
    difference = area_difference(curves, curves, "rmse")
    assert (difference.value, difference.low, difference.high, difference.p_value) == (0, 0, 0, 1)


def _take(curves, rows):
    names = ("truth", "mean", "draw_squares", "log_prob", "order", "spent", "rank", "covered")
    return replace(curves, **{name: getattr(curves, name)[rows] for name in names})
