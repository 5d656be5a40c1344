"""DRAL against EDDI on a small artificial Boston table."""

import numpy as np
import pytest

from eddi.errors import EddiWarning
from eddi_benchmarks.harness.experiment import find_experiment
from eddi_benchmarks.harness.run_result import RunResult
from eddi_benchmarks.harness.suite import Suite
from eddi_benchmarks.paper import dral

pytestmark = pytest.mark.filterwarnings(f"ignore::{EddiWarning.__module__}.EddiWarning")

SETTINGS = {
    **{"row": 0, "seed": 0, "max_steps": 100, "n_draws": 5, "n_factors": 2, "burn_in": 10},
    **{"n_sweeps": 3, "settle": 1, "n_answers": 2},
}


@pytest.fixture
def boston(data):
    """60 rows of four correlated numbers, named boston."""
    random = np.random.default_rng(0)
    rows = random.normal(size=(60, 1)) + 0.5 * random.normal(size=(60, 4))
    lines = ["CRIM,RM,LSTAT,MEDV", *(",".join(f"{x:.5f}" for x in row) for row in rows)]
    (data / "boston").mkdir()
    (data / "boston" / "data.csv").write_text("\n".join(lines) + "\n")


@pytest.mark.usefixtures("boston")
def test_a_run_asks_one_row_everything_with_every_method(tmp_path):
    measurements = dral.run(SETTINGS, tmp_path / "unused")
    assert measurements["n_rows"] == {"train": 54, "test": 1}
    assert set(measurements["methods"]) == {"eddi", "dral", "dral-row"}
    for measured in measurements["methods"].values():
        assert sorted(measured["order"]) == ["CRIM", "LSTAT", "RM"]
        assert len(measured["mean"]) == 4
        assert set(measured["seconds"]) == {"fit", "ask"}
    assert not (tmp_path / "unused").exists()


@pytest.mark.usefixtures("boston")
def test_the_setting_row_selects_the_test_row(tmp_path):
    truths = {dral.run({**SETTINGS, "row": row}, tmp_path)["truth"] for row in (0, 1)}
    assert len(truths) == 2


def make_result(row, eddi_means, dral_means, *, eddi_seconds=0.1, dral_seconds=50.0):
    def measured(means, seconds):
        return {"order": ["a"], "mean": means, "seconds": {"fit": 1.0, "ask": seconds}}

    methods = {
        "eddi": measured(eddi_means, eddi_seconds),
        "dral": measured(dral_means, dral_seconds),
        "dral-row": measured(dral_means, 0.2),
    }
    measurements = {"truth": 20.0, "methods": methods}
    return RunResult(str(row), {**SETTINGS, "row": row}, measurements, {})


def report_text(results, folder):
    (section,) = dral.report_sections(results, folder)
    return " ".join(section.paragraphs)


def test_the_tables_show_seconds_next_to_the_papers_and_errors_by_step(tmp_path):
    results = [make_result(0, [22.0, 20.0], [22.0, 21.0])]
    (section,) = dral.report_sections(results, tmp_path / "figures")
    seconds, errors = section.tables
    assert seconds.rows[0] == ("EDDI (PNP)", "0.100", "2.64", "-2.54", "1.00")
    assert seconds.rows[1] == ("DRAL", "50.000", "2747.16", "-2697.16", "1.00")
    assert errors.rows[1] == ("1", "0.00", "1.00", "1.00", "-1.00")
    assert errors.rows[2] == ("mean", "1.00", "1.50", "1.50", "-0.50")
    assert {(1, 1), (2, 1)} <= errors.best
    assert "500 times faster" in " ".join(section.paragraphs)
    assert section.figures[0].path.stat().st_size > 1000


def test_the_text_follows_the_numbers(tmp_path):
    better = [make_result(row, [22.0, 20.0], [22.0, 21.0 + row]) for row in range(3)]
    worse = [make_result(row, [22.0, 25.0], [22.0, 21.0 + row]) for row in range(3)]
    assert "after 1 of 1 answers, as in the paper" in report_text(better, tmp_path)
    assert "after 0 of 1 answers, while in the paper" in report_text(worse, tmp_path)


def test_a_report_without_results_says_so(tmp_path):
    assert report_text([], tmp_path) == "No run is finished yet."


@pytest.mark.parametrize("quick", [True, False])
def test_the_suite_has_all_settings_of_a_run(quick):
    suite = Suite.load("paper-dral", quick=quick)
    assert find_experiment(suite.experiment) is dral.EXPERIMENT
    assert set(suite.runs[0].settings) == set(SETTINGS)
    assert len(suite.runs) == (3 if quick else 10)
