"""A UCI run on a small artificial table."""

import os
from pathlib import Path

import numpy as np
import pytest

from eddi_benchmarks.data import datasets
from eddi_benchmarks.harness.suite import Suite
from eddi_benchmarks.paper.uci import experiment as uci

NAMES = ["more_noise", "noise", "strong", "weak"]


@pytest.fixture(scope="module")
def measurements(make_table, settings):
    return uci.run_on_table(make_table(), settings)


def test_a_run_measures_curves_and_areas_of_every_strategy(measurements):
    assert measurements["n_rows"] == {"train": 108, "test": 12}
    assert set(measurements["strategies"]) == {"eddi", "rand", "sing", "lasso"}
    for measured in measurements["strategies"].values():
        assert set(measured["curves"]) == set(measured["auic"]) == {"draw_rmse", "rmse", "nll"}
        assert all(len(curve) == 5 for curve in measured["curves"].values())
        assert all(len(rows) == 12 for rows in measured["auic"].values())
    assert sorted(measurements["order"]) == NAMES
    assert {"strong", "weak"} <= set(measurements["lasso"])
    assert measurements["seconds"]["fit"] > 0


def test_strategies_that_ask_everything_agree_at_the_start_and_at_the_end(measurements):
    for metric in ("draw_rmse", "rmse", "nll"):
        curves = [
            measurements["strategies"][name]["curves"][metric] for name in ("eddi", "rand", "sing")
        ]
        assert len({curve[0] for curve in curves}) == 1
        np.testing.assert_allclose([curve[-1] for curve in curves], curves[0][-1], rtol=1e-4)


def test_a_run_is_a_pure_function_of_its_settings(measurements, make_table, settings):
    repeated = uci.run_on_table(make_table(), settings)
    assert repeated["strategies"] == measurements["strategies"]
    other_seed = uci.run_on_table(make_table(), {**settings, "seed": 1})
    assert other_seed["strategies"] != measurements["strategies"]


def test_errors_are_in_units_of_the_targets_range(measurements):
    assert 0 < measurements["strategies"]["rand"]["curves"]["rmse"][0] < 1


def test_every_column_is_real_and_scaled_by_training_rows_only(make_table, settings):
    table = make_table().assign(noise=lambda t: (t["noise"] > 0).astype(int))
    table.loc[0, "weak"] = 1e6  # an outlier outside the training rows
    model = uci.fit(table[1:], "y", settings)
    assert {spec.kind.value for spec in model.network_.specs} == {"real"}
    np.testing.assert_allclose(model.coding_.scale, np.ptp(table[1:].to_numpy(float), axis=0))


def test_the_published_options_change_the_run_but_not_the_rows(measurements, make_table, settings):
    options = {"kl": "published", "draws": "means", "masks": "published"}
    published = uci.run_on_table(make_table(), {**settings, **options})
    assert published["n_rows"] == measurements["n_rows"]
    assert published["strategies"]["eddi"] != measurements["strategies"]["eddi"]


@pytest.mark.parametrize(("name", "n_seeds"), [("paper-uci", 10), ("paper-uci-published", 5)])
def test_the_suites_combine_six_tables_and_four_encoders_and_are_small_when_quick(name, n_seeds):
    full, quick = Suite.load(name), Suite.load(name, quick=True)
    assert len(full.runs) == 6 * 4 * n_seeds
    assert {run.settings["dataset"] for run in full.runs} == set(datasets.UCI)
    assert len(quick.runs) == 16
    assert all(run.settings["max_steps"] == 600 for run in quick.runs)
    assert uci.EXPERIMENT.required_datasets(full.runs[0].settings) == ("boston",)


@pytest.mark.skipif("EDDI_DATA" not in os.environ, reason="needs the datasets of EDDI_DATA")
def test_a_run_finds_its_dataset(settings):
    yacht = {**settings, "dataset": "yacht", "set_encoder": "zi", "max_steps": 5}
    assert uci.run(yacht, Path("unused"))["n_rows"] == {"train": 277, "test": 31}
