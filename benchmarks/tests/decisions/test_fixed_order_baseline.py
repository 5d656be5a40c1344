"""Boosted trees and linear models on tables with missing values, levels and groups."""

import numpy as np
import pytest

from eddi_benchmarks.decisions.fixed_order_baseline import FixedOrderBaseline


def test_curves_of_a_real_target_have_the_units_of_the_table(make_problem):
    problem = make_problem(is_class=False)
    curves = FixedOrderBaseline.fit("linear", problem, seed=0).interview()
    assert curves.truth == pytest.approx(problem.test["y"].to_numpy(), rel=1e-4)
    assert curves.rmse[0] == pytest.approx(problem.test["y"].std(), rel=0.3)
    assert curves.questions[curves.order[0, 0]] == "a"  # the target is ten times a
    assert curves.rmse[1] < 0.1 * curves.rmse[0]
    assert curves.spent[0, -1] == 7.0
    assert 0.7 < curves.coverage.mean() <= 1


def test_curves_of_classes_have_probabilities(make_problem):
    problem = make_problem(is_class=True)
    curves = FixedOrderBaseline.fit("trees", problem, seed=0).interview()
    assert curves.probabilities.sum(-1) == pytest.approx(1)
    assert curves.accuracy[-1] > 0.9


def test_a_missing_category_is_imputed_with_its_most_frequent_level(make_problem):
    problem = make_problem(is_class=False)
    problem.train["y"] = 10.0 * (problem.train["colour"] == "red") + 0.001 * problem.train["a"]
    problem.train.iloc[:60, 3] = ["red"] * 59 + [None]
    without = problem.test.assign(colour=None)
    baseline = FixedOrderBaseline.fit("linear", problem, seed=0)
    encoder = baseline.encoder
    columns = [
        encoder.columns(encoder.evidence(table)) for table in (without, without.assign(colour="red"))
    ]
    assert np.isnan(columns[0][:, 3:]).all()
    outputs = [baseline.model.predict(of_table) for of_table in columns]
    assert outputs[0] == pytest.approx(outputs[1])
