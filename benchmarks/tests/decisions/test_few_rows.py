"""The report on few training rows: cells, who is best, increases of the error."""

import pytest

from eddi_benchmarks.data.datasets import UCI
from eddi_benchmarks.decisions.few_rows import EXPERIMENT, make_cells, report_sections
from eddi_benchmarks.harness.experiment import find_experiment
from eddi_benchmarks.harness.run_result import RunResult
from eddi_benchmarks.harness.suite import Suite

CURVES = {  # by method: RMSE of two splits
    "ours": ([0.4, 0.2, 0.3], [0.4, 0.2, 0.24]),
    "gdfs": ([0.4, 0.2, 0.28], [0.4, 0.2, 0.28]),
    "linear": ([0.4, 0.4, 0.4], [0.4, 0.4, 0.41]),
}


def make_results(dataset="boston", n_train=50, *, is_class=False):
    results = []
    for model, curves in CURVES.items():
        for seed, curve in enumerate(curves):
            metrics = (
                {"accuracy": [1 - error for error in curve]}
                if is_class
                else {"rmse": curve, "coverage": [0.9, 0.8, 0.7]}
            )
            measurements = {
                "is_class": is_class,
                "n_rows": {"train": n_train, "test": 20},
                "methods": {model: {"curves": metrics}},
            }
            settings = {"dataset": dataset, "max_train": n_train, "model": model, "seed": seed}
            results.append(RunResult(f"{dataset}-{model}-{seed}", settings, measurements, {}))
    return results


def test_the_best_method_has_the_lowest_mean_error_along_its_own_order():
    (cell,) = make_cells(make_results(), is_class=False)
    assert cell.errors("ours") == pytest.approx([0.3, 0.28])
    assert cell.best_method == "ours"


def test_a_method_is_near_the_best_if_their_difference_is_at_most_its_standard_error():
    (cell,) = make_cells(make_results(), is_class=False)
    assert cell.near_best_methods == ["ours", "gdfs"]  # 0.0033 worse, with a standard error of 0.01


def test_the_largest_increase_is_relative_to_the_lowest_earlier_error():
    (cell,) = make_cells(make_results(), is_class=False)
    assert cell.largest_increase("ours") == pytest.approx(0.27 / 0.2 - 1)
    assert cell.largest_increase("linear") == pytest.approx(0.405 / 0.4 - 1)


def test_the_error_of_classes_is_the_share_of_wrong_ones_after_the_first_question():
    (cell,) = make_cells(make_results("spam", is_class=True), is_class=True)
    assert cell.errors("ours") == pytest.approx([0.25, 0.22])
    assert cell.largest_increase("ours") == pytest.approx(0.35)


def test_an_increase_from_no_error_is_relative_to_one_row():
    results = make_results("spam", is_class=True)
    for result in results:
        for measured in result.measurements["methods"].values():
            measured["curves"]["accuracy"] = [0.5, 1.0, 0.95]
    (cell,) = make_cells(results, is_class=True)
    assert cell.largest_increase("ours") == pytest.approx(0.05 * 40 - 1)


def test_the_report_has_a_row_per_cell_and_counts_cells():
    results = [*make_results(), *make_results(n_train=100), *make_results("spam", is_class=True)]
    sections = report_sections(results, None)
    summary, real, classes = sections[0].tables
    assert summary.rows[0] == ("ours", "3", "3", "3")
    assert summary.rows[2] == ("linear", "3", "0", "0")
    assert [row[0] for row in real.rows] == ["boston, 50 rows", "boston, 100 rows"]
    assert real.rows[0][-1] == "GDFS"
    assert (0, 1) in real.best
    assert [row[0] for row in classes.rows] == ["spam, 50 rows"]
    assert sections[1].tables[0].rows[0][1] == "35.0%"
    assert sections[2].tables[0].rows[0][1] == "0.80 (0.70 to 0.90)"
    assert report_sections([], None) == []


def test_methods_that_minimise_cost_are_not_compared():
    results = make_results()
    methods = results[0].measurements["methods"]
    methods["ours-cost"] = methods["ours"]
    (cell,) = make_cells(results, is_class=False)
    assert cell.methods == ["ours", "gdfs", "linear"]


def test_a_report_works_with_one_run():
    sections = report_sections(make_results()[:1], None)
    assert sections[0].tables[0].rows == (("ours", "1", "1", "1"),)


def test_the_suite_has_three_sizes_of_every_real_dataset():
    suite = Suite.load("few-rows")
    datasets = {run.settings["dataset"] for run in suite.runs}
    assert set(UCI) < datasets
    assert len(datasets) == 15
    assert len(suite.runs) == 15 * 3 * 5 * 5
    assert find_experiment(suite.experiment) is EXPERIMENT
