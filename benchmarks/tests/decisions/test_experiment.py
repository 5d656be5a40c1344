"""A run of the decisions suite."""

from dataclasses import replace

import pytest

from eddi_benchmarks.decisions import experiment as decisions
from eddi_benchmarks.decisions.problem import load_problem
from eddi_benchmarks.decisions.report import report_sections
from eddi_benchmarks.harness.experiment import ExperimentError, find_experiment
from eddi_benchmarks.harness.run_result import RunResult
from eddi_benchmarks.harness.suite import Suite


@pytest.mark.slow
def test_a_run_measures_every_method_that_uses_its_model(results):
    measurements = results[0].measurements
    methods = {"ours", "ours-ahead", "random", "static", "exact", "exact-greedy"}
    assert set(measurements["methods"]) == methods
    assert measurements["n_rows"] == {"train": 150, "test": 20}
    for measured in measurements["methods"].values():
        assert set(measured["curves"]) == {"accuracy", "nll", "brier", "calibration_error"}
        assert all(len(curve) == 9 for curve in measured["curves"].values())
    assert measurements["methods"]["ours"]["ms"] > 0
    assert measurements["methods"]["exact"]["curves"]["accuracy"][2] == 1.0


@pytest.mark.usefixtures("yacht")
@pytest.mark.filterwarnings("ignore:.*is not the file of the published results")
def test_a_real_valued_target_has_errors_likelihood_and_coverage(run_model):
    curves = run_model("yacht", "gdfs").measurements["methods"]["gdfs"]["curves"]
    assert set(curves) == {"rmse", "nll", "coverage"}
    assert 0.1 < curves["rmse"][0] < 0.6  # in units of the range


@pytest.mark.slow
@pytest.mark.parametrize(("model", "method"), [("ours", "ours-cost"), ("dime", "dime-cost")])
def test_questions_with_costs_give_curves_against_cost(model, method, make_settings, tmp_path):
    settings = make_settings("xor", model)
    problem = load_problem(settings)
    with_costs = replace(problem, schema=problem.schema.with_question("x0", cost=9.0))
    measurements = decisions.run_on_problem(with_costs, settings)
    by_cost = measurements["methods"][method]["by_cost"]
    assert by_cost["spent"][-1] == 16.0  # one question costs 9, the other seven cost 1
    assert len(by_cost["curve"]) == len(by_cost["spent"])
    sections = report_sections([RunResult("xor", settings, measurements, {})], tmp_path)
    names = [figure.path.name for section in sections for figure in section.figures]
    assert "decisions-xor-cost.png" in names


def test_the_error_of_an_unknown_model_lists_all(run_model):
    with pytest.raises(ExperimentError, match=r"no model 'eddi'\. Use one of ours, .*, linear"):
        run_model("xor", "eddi")


def test_the_suite_has_22_datasets_seven_models_and_five_seeds():
    suite = Suite.load("decisions")
    assert len({run.settings["dataset"] for run in suite.runs}) == 22
    assert len(suite.runs) == 22 * 7 * 5
    experiment = find_experiment(suite.experiment)
    assert experiment is decisions.EXPERIMENT
    assert experiment.required_datasets({"dataset": "spam"}) == ("spam",)
