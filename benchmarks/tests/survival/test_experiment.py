"""Measurements of the survival suite."""

import numpy as np
import pytest

from eddi_benchmarks.survival.design import Split
from eddi_benchmarks.survival.experiment import measure_cox_orders, measure_curves, measure_ours


@pytest.fixture(scope="module")
def split(patients):
    return Split.draw(patients, seed=0, test_share=0.25, max_train=0)


def test_better_scores_have_a_higher_concordance(split):
    age = split.test.age.fillna(0).to_numpy()

    def curve(grid):
        return np.exp(-np.outer(np.exp(age), grid))

    good, bad = (measure_curves(split, score, curve) for score in (age, -age))
    assert good["harrell"] > 0.6 > bad["harrell"]
    assert good["integrated_brier"] < 0.25


def test_cox_regressions_of_more_covariates_start_at_one_half(split):
    interviews = measure_cox_orders(split, width=2)["interviews"]
    for curves in interviews.values():
        assert curves["concordance"][0] == 0.5
        assert len(curves["concordance"]) == 4


@pytest.mark.slow
def test_ours_interviews_in_several_orders(split):
    settings = {"seed": 0, "max_steps": 100, "max_interviews": 30}
    measured = measure_ours(split, settings)
    assert set(measured["interviews"]) == {"ours", "random order", "Cox order, our predictions"}
    assert measured["harrell"] > 0.6
