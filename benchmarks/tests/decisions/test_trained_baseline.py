"""GDFS and DIME on tables with missing values, levels and groups."""

import numpy as np
import pytest
import torch

from eddi_benchmarks.baselines.masked import TrainingSettings
from eddi_benchmarks.decisions.trained_baseline import TrainedBaseline

SETTINGS = TrainingSettings(width=16, dropouts=(0.1,), validate_every=10, patience=20, max_steps=30)


@pytest.mark.parametrize("method", ["gdfs", "dime"])
def test_curves_of_a_real_target_have_the_units_of_the_table(method, make_problem):
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
def test_curves_of_classes_have_probabilities(method, make_problem):
    problem = make_problem(is_class=True)
    baseline = TrainedBaseline.fit(method, problem, seed=0, settings=SETTINGS)
    curves = baseline.interview()
    assert curves.probabilities.sum(-1) == pytest.approx(1)
    assert curves.accuracy[-1] > 0.75
    truth = curves.truth.astype(int)[:, None, None]
    expected = np.log(np.take_along_axis(curves.probabilities, truth, -1)[..., 0])
    assert curves.log_prob == pytest.approx(expected)


def test_scores_per_cost_are_divided_by_the_cost(make_problem):
    problem = make_problem(is_class=True)
    baseline = TrainedBaseline.fit("dime", problem, seed=0, settings=SETTINGS)
    rows = baseline.encoder.encode(baseline.encoder.evidence(problem.test))
    with torch.no_grad():
        scores, per_cost = (
            baseline.score_function(per_cost=value)(rows.columns, rows.empty_mask)
            for value in (False, True)
        )
    assert torch.allclose(scores / per_cost, torch.tensor([5.0, 1.0, 1.0]).expand(scores.shape))
