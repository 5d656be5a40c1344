"""The report on deployments: errors at the same cumulative cost."""

import numpy as np
import pytest

from eddi_benchmarks.deployment.report import DeploymentCurve, Deployments, report_sections
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


RESULTS = [
    make_result(approach, seed, errors, cost)
    for seed in (0, 1)
    for approach, errors, cost in (
        ("ours", [1.0, 0.6, 0.5], 4.0),
        ("greedy", [1.0, 0.9, 0.9 + 0.1 * seed], 2.0),
        ("oracle", [0.5, 0.5, 0.5], 2.0),
    )
]


def test_the_error_at_a_cost_is_that_of_the_model_in_use():
    curve = DeploymentCurve.from_result(RESULTS[0])
    assert curve.error_at(np.array([0.0, 39.0, 40.0, 79.0, 80.0])).tolist() == [1.0, 1.0, 0.6, 0.6, 0.5]
    assert curve.total_cost == 80


def test_ratios_are_paired_by_seed_and_end_at_the_smaller_total_cost():
    ratios = Deployments.from_results(RESULTS).ratios("wine_red", "greedy")
    assert ratios.shape == (2, 41)
    assert ratios[0, 0] == 1
    assert ratios[1, -1] == pytest.approx(0.6 / 1.0)  # at cost 40


def test_the_report_compares_with_the_full_table(tmp_path):
    pytest.importorskip("matplotlib")
    (section,) = report_sections(RESULTS, tmp_path)
    assert section.tables[1].rows[0][-1] == "+0.0%"
    assert section.figures[0].path.exists()


def test_the_report_says_what_holds(tmp_path):
    pytest.importorskip("matplotlib")
    table = report_sections(RESULTS, tmp_path)[0].tables[0]
    assert table.rows == (("wine_red", "yes", "at 50% of costs"),)  # first models at costs 40 and 20


def test_the_report_compares_at_each_cost(tmp_path):
    pytest.importorskip("matplotlib")
    table = report_sections(RESULTS, tmp_path)[0].tables[3]
    assert table.columns[-1] == "100%"
    assert table.rows[0][-1].startswith("0.63 (")


def test_without_results_there_is_no_report(tmp_path):
    assert report_sections([], tmp_path) == []
