"""Curves of deployments: the error of the model in use at each cumulative cost."""

import numpy as np
import pytest

from eddi_benchmarks.deployment.curves import DeploymentCurve, Deployments


def test_the_error_at_a_cost_is_that_of_the_model_in_use(results):
    curve = DeploymentCurve.from_result(results[0])
    assert curve.error_at(np.array([0.0, 39.0, 40.0, 79.0, 80.0])).tolist() == [1.0, 1.0, 0.6, 0.6, 0.5]
    assert curve.total_cost == 80


def test_ratios_are_paired_by_seed_and_end_at_the_smaller_total_cost(results):
    ratios = Deployments.from_results(results).ratios("wine_red", "greedy")
    assert ratios.shape == (2, 41)
    assert ratios[0, 0] == 1
    assert ratios[1, -1] == pytest.approx(0.6 / 1.0)  # at cost 40


def test_the_excess_is_that_of_the_last_model(results):
    assert Deployments.from_results(results).excess("wine_red").tolist() == [1.0, 1.0]
