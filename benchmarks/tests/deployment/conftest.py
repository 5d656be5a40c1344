"""Results of small deployments, for the tests of curves and of the report."""

import pytest

from eddi_benchmarks.harness.run_result import RunResult


def make_result(approach, seed, errors, costs_per_respondent):
    costs = [costs_per_respondent * n for n in (0, 10, 20)]
    measured = {
        "checkpoints": [
            {"respondents": 10 * i, "cost": cost, "error": error}
            for i, (cost, error) in enumerate(zip(costs, errors, strict=True))
        ],
        "costs": [costs_per_respondent] * 20,
        "errors": [0.5] * 20,
    }
    settings = {"dataset": "wine_red", "approach": approach, "seed": seed}
    return RunResult(f"{approach}-{seed}", settings, measured, {})


@pytest.fixture(name="make_result")
def make_result_fixture():
    return make_result


@pytest.fixture
def results():
    """Two seeds of deployments with three models each; greedy and oracle ask half as much."""
    return [
        make_result(approach, seed, errors, cost)
        for seed in (0, 1)
        for approach, errors, cost in (
            ("ours", [1.0, 0.6, 0.5], 4.0),
            ("greedy", [1.0, 0.9, 0.9 + 0.1 * seed], 2.0),
            ("oracle", [0.5, 0.5, 0.5], 2.0),
        )
    ]
