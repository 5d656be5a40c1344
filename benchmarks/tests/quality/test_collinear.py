"""Our model compared with exact inference on collinear variables."""

import json

import numpy as np
import pytest

from eddi_benchmarks.data.synthetic import collinear_gaussian
from eddi_benchmarks.harness.run_result import RunResult
from eddi_benchmarks.harness.suite import Suite
from eddi_benchmarks.quality import collinear
from eddi_benchmarks.quality.collinear_report import report_sections

SETTINGS = {"n_train": 150, "seed": 0, "n_test": 40, "n_states": 3, "our_steps": 10}


@pytest.fixture(scope="module")
def result(tmp_path_factory):
    measurements = collinear.run(SETTINGS, tmp_path_factory.mktemp("run"))
    return RunResult("150-0", SETTINGS, json.loads(json.dumps(measurements)), {})


def test_random_subsets_are_the_same_for_all_runs():
    subsets = collinear.random_subsets()
    assert [len(subset) for subset in subsets] == [3, 6, 9, 12, 15, 18]
    assert subsets[0].tolist() == np.random.default_rng(5).permutation(18)[:3].tolist()


def test_the_accuracy_of_exact_inference_is_that_of_the_definition():
    random = np.random.default_rng(0)
    classes = collinear_gaussian(random)
    classes.draw_rows(700, random)
    test = classes.draw_rows(1000, random)
    rows = test[list(classes.names)].to_numpy()
    accuracy = []
    for subset in collinear.random_subsets():
        observed = np.isin(np.arange(18), subset)
        prediction = collinear.ExactClassifier(classes).log_posterior(rows, observed).argmax(1)
        accuracy.append(np.mean(prediction == test["y"]))
    # Rows differ between machines: NumPy's normal draws depend on its linear algebra library. The
    # standard error of an accuracy on 1,000 rows is at most 0.016.
    assert accuracy == pytest.approx([0.338, 0.600, 0.874, 0.906, 0.971, 0.982], abs=0.06)


@pytest.mark.slow
def test_a_run_compares_subsets_and_orders(result):
    measurements = result.measurements
    assert set(measurements["subsets"]) == {"ours", "exact", "lda", "logistic"}
    assert all(len(accuracy) == 6 for accuracy in measurements["subsets"].values())
    assert measurements["subsets"]["exact"][-1] > 0.9
    for curves in measurements["orders"].values():
        assert all(len(curve) == 19 for curve in curves.values())
    # All answers are the same whatever their order.
    last = [curves[name][-1] for curves in measurements["orders"].values() for name in ("ours", "exact")]
    subsets = [measurements["subsets"][name][-1] for name in ("ours", "exact")]
    assert last == [*subsets, *subsets]


@pytest.mark.slow
def test_rewards_are_measured_at_several_numbers_of_answers(result):
    rewards = result.measurements["rewards"]
    assert rewards["answers"] == [0, 3, 6, 9, 12, 15]
    assert all(-1 <= tau <= 1 for tau in rewards["tau"])
    assert rewards["n_states"][0] == 1  # before the first answer all rows are alike


def test_states_whose_questions_are_equally_informative_do_not_count():
    nats = [np.array([0.2, 0.1]), np.array([0.0, 0.0])]
    quality = collinear.reward_quality(nats, [np.array([2.0, 1.0]), np.array([1.0, 2.0])])
    assert (quality["n_states"], quality["tau"], quality["best_nats"]) == (1, 1.0, 0.2)


@pytest.mark.slow
def test_the_report_has_three_tables_and_a_figure(result, tmp_path):
    (section,) = report_sections([result], tmp_path)
    subsets, orders, rewards = section.tables
    assert [row[1] for row in subsets.rows][:2] == ["ours", "exact posterior"]
    assert len(orders.rows) == 4
    assert [row[1] for row in rewards.rows] == ["0", "3", "6", "9", "12", "15"]
    for table in section.tables:
        assert {len(row) for row in table.rows} == {len(table.columns)}
    assert section.figures[0].path.stat().st_size > 10_000
    assert report_sections([], tmp_path) == []


def test_the_suite_has_two_sizes_and_three_seeds():
    suite = Suite.load("collinear")
    assert {(run.settings["n_train"], run.settings["seed"]) for run in suite.runs} == {
        (n_train, seed) for n_train in (700, 2000) for seed in (0, 1, 2)
    }
    assert set(suite.runs[0].settings) == set(SETTINGS)
