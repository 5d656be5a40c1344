"""Intensive care: one model interviews the same held-out stays with three strategies."""

import json
import os
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from eddi_benchmarks.data import datasets
from eddi_benchmarks.data import icu as icu_data
from eddi_benchmarks.harness.experiment import find_experiment
from eddi_benchmarks.harness.run_result import RunResult
from eddi_benchmarks.harness.suite import Suite
from eddi_benchmarks.paper import icu

REAL = Path(os.environ.get("EDDI_DATA") or "nowhere")
ENCODERS = ("zi", "zi-m", "pnp", "pn")
SETTINGS = {"dataset": "physionet2012", "seed": 0, "max_steps": 40, "n_draws": 5, "max_test": 12}


@pytest.fixture(scope="module")
def stays():
    """200 stays: pressure determines death, colour is noise, and a third variable is mostly missing."""
    random = np.random.default_rng(0)
    pressure, colour, rare = random.normal(size=(3, 200))
    rare[10:] = np.nan
    return pa.table(
        {
            "pressure": pressure,
            "colour": colour,
            "rare": pa.array(rare, from_pandas=True),
            "death": (pressure > 0.3).astype(int),
        }
    )


@pytest.fixture(scope="module")
def results(stays):
    results = []
    for encoder in ENCODERS:
        for seed in (0, 1):
            settings = {**SETTINGS, "set_encoder": encoder, "seed": seed}
            measurements = icu.run_on_table(stays, settings)
            results.append(RunResult(f"{encoder}-{seed}", settings, measurements, {}))
    return results


def report_text(results, folder):
    (section,) = icu.report_sections(results, folder)
    return " ".join(section.paragraphs)


def test_a_tenth_is_held_out_and_the_number_of_test_rows_is_limited(stays):
    train, test = icu.split(stays, seed=3, max_test=12)
    assert (train.num_rows, test.num_rows) == (180, 12)
    assert test.equals(icu.split(stays, seed=3, max_test=12)[1])
    assert not test.equals(icu.split(stays, seed=4, max_test=12)[1])
    all_held_out = icu.split(stays, seed=3, max_test=1_000)[1]
    assert all_held_out.num_rows == 20
    either = {*train["pressure"].to_pylist(), *all_held_out["pressure"].to_pylist()}
    assert len(either) == 200  # no stay is in both


def test_splits_are_stratified_by_death(stays):
    share = np.mean(stays["death"].to_pylist())
    parts = [part for seed in range(5) for part in icu.split(stays, seed=seed, max_test=20)]
    shares = [np.mean(part["death"].to_pylist()) for part in parts]
    assert shares == pytest.approx([share] * 10, abs=0.03)


def test_outliers_are_clipped_to_quantiles_of_the_training_rows():
    train = pa.table({"pH": [*np.linspace(7, 8, 101), None], "death": [0] * 102})
    test = pa.table({"pH": [128.0, 7.5, None, 0.0], "death": [1, 0, 1, 0]})
    clipped_train, clipped_test = icu.clip_outliers(train, test, 0.01)
    assert clipped_test["pH"].to_pylist() == [pytest.approx(7.99), 7.5, None, pytest.approx(7.01)]
    assert max(clipped_train["pH"].drop_null().to_pylist()) == pytest.approx(7.99)
    assert clipped_test["death"].to_pylist() == [1, 0, 1, 0]
    assert icu.clip_outliers(train, test, 0.0)[1] is test


def test_a_run_measures_curves_of_every_strategy_and_an_area_of_every_stay(results):
    measurements = results[0].measurements
    json.dumps(measurements, allow_nan=False)
    assert measurements["n_rows"] == {"train": 180, "test": 12}
    assert set(measurements["strategies"]) == {"eddi", "rand", "sing"}
    assert set(measurements["seconds"]) == {"fit", "eddi", "rand", "sing"}
    for measured in measurements["strategies"].values():
        lengths = {name: len(curve) for name, curve in measured["curves"].items()}
        assert lengths == dict.fromkeys(("nll", "accuracy", "brier", "auroc"), 4)
        assert len(measured["auic"]["nll"]) == 12
        mean_area, mean_curve = np.mean(measured["auic"]["nll"]), np.mean(measured["curves"]["nll"])
        assert mean_area == pytest.approx(mean_curve, rel=1e-4)


def test_strategies_agree_before_the_first_question_and_after_the_last(results):
    for result in results:
        curves = [m["curves"]["nll"] for m in result.measurements["strategies"].values()]
        assert curves[0][0] == curves[1][0] == curves[2][0]
        assert curves[0][-1] == pytest.approx(curves[1][-1], rel=1e-4)


def test_a_variable_without_training_values_is_left_out(stays):
    with_empty = stays.append_column("never", pa.nulls(stays.num_rows, pa.float64()))
    measurements = icu.run_on_table(with_empty, {**SETTINGS, "set_encoder": "zi"})
    assert measurements["n_variables"] == 3


def test_the_section_has_ranks_tests_predictions_and_figures(results, tmp_path):
    (section,) = icu.report_sections(results, tmp_path)
    rank_comparison, tests, predictions = section.tables
    assert "4.39" in str(rank_comparison.rows)
    assert "the paper's on MIMIC-III" in rank_comparison.title
    assert "p over rows" in str(tests.rows)
    assert predictions.rows[0][:2] == ("AUROC", "EDDI")
    assert predictions.rows[0][2].startswith("0.500 / ")
    assert all(figure.path.stat().st_size > 10_000 for figure in section.figures)
    assert "This is not the paper's data" in section.paragraphs[0]


def test_runs_without_deaths_have_no_auroc_and_do_not_affect_the_mean(results, tmp_path):
    measurements = json.loads(json.dumps(results[0].measurements))
    for measured in measurements["strategies"].values():
        measured["curves"]["auroc"] = [None] * 4
    without_deaths = RunResult("x", results[0].settings, measurements, {})

    def first_auroc(results):
        return icu.report_sections(results, tmp_path)[0].tables[2].rows[0][2]

    assert first_auroc([without_deaths]) == "-"
    assert first_auroc([*results, without_deaths]) == first_auroc(results)


def test_a_report_works_with_some_of_the_runs(results, tmp_path):
    assert "nothing can be ranked" in report_text(results[:1], tmp_path)
    assert icu.report_sections([], tmp_path) == []


def test_settings_that_differ_from_the_paper_are_stated(results, tmp_path):
    settings = {**results[0].settings, "max_steps": 30_000, "trim": 0.01}
    changed = RunResult("x", settings, results[0].measurements, {})
    assert "Not the paper's settings: 30,000 training steps" in report_text([changed], tmp_path)
    assert "Not the paper's settings" not in report_text(results, tmp_path)


@pytest.mark.parametrize("name", ["paper-icu", "paper-icu-mimic3", "paper-icu-published"])
def test_the_suites_name_datasets_that_exist(name):
    for quick in (False, True):
        for run in Suite.load(name, quick=quick).runs:
            (dataset,) = find_experiment("icu").required_datasets(run.settings)
            assert dataset in datasets.DATASETS


@pytest.mark.skipif(not (REAL / "mimic3_demo_ihm").is_dir(), reason="needs EDDI_DATA")
def test_the_files_of_mimic3_benchmarks_can_be_used():
    settings = {**SETTINGS, "dataset": "mimic3_demo_ihm", "set_encoder": "pnp"}
    measurements = icu.run(settings, REAL / "unused")
    assert measurements["n_rows"] == {"train": 51, "test": 6}
    assert icu_data.TARGET not in measurements["strategies"]
