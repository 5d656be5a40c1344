"""DRAL against EDDI, on a small made-up Boston."""

import numpy as np
import pytest

from eddi.errors import EddiWarning
from eddi_benchmarks.harness.experiment import Outcome, experiment
from eddi_benchmarks.harness.suite import Suite
from eddi_benchmarks.paper import dral

pytestmark = pytest.mark.filterwarnings(f"ignore::{EddiWarning.__module__}.EddiWarning")

SETTINGS = {
    **{"row": 0, "seed": 0, "max_steps": 100, "n_draws": 5, "n_factors": 2, "burn_in": 10},
    **{"n_sweeps": 3, "settle": 1, "n_answers": 2},
}


@pytest.fixture
def boston(data):
    """60 rows of four related numbers under the name of boston."""
    random = np.random.default_rng(0)
    rows = random.normal(size=(60, 1)) + 0.5 * random.normal(size=(60, 4))
    lines = ["CRIM,RM,LSTAT,MEDV", *(",".join(f"{x:.5f}" for x in row) for row in rows)]
    (data / "boston").mkdir()
    (data / "boston" / "data.csv").write_text("\n".join(lines) + "\n")


@pytest.mark.usefixtures("boston")
def test_a_run_asks_one_row_everything_by_every_method(tmp_path):
    figures = dral.play(SETTINGS, tmp_path / "unused")
    assert figures["n_rows"] == {"train": 54, "test": 1}
    assert set(figures["methods"]) == {"eddi", "dral", "dral-row"}
    for told in figures["methods"].values():
        assert sorted(told["order"]) == ["CRIM", "LSTAT", "RM"]
        assert len(told["mean"]) == 4
        assert set(told["seconds"]) == {"fit", "ask"}
    assert not (tmp_path / "unused").exists()


@pytest.mark.usefixtures("boston")
def test_another_row_has_another_truth(tmp_path):
    truths = {dral.play({**SETTINGS, "row": row}, tmp_path)["truth"] for row in (0, 1)}
    assert len(truths) == 2


def outcome(row, eddi_means, dral_means, *, eddi_seconds=0.1, dral_seconds=50.0):
    def told(means, seconds):
        return {"order": ["a"], "mean": means, "seconds": {"fit": 1.0, "ask": seconds}}

    methods = {"eddi": told(eddi_means, eddi_seconds), "dral": told(dral_means, dral_seconds)}
    methods["dral-row"] = told(dral_means, 0.2)
    figures = {"truth": 20.0, "methods": methods}
    return Outcome(str(row), {**SETTINGS, "row": row}, figures, {})


def test_the_table_shows_seconds_beside_the_papers(tmp_path):
    (section,) = dral.sections([outcome(0, [22.0, 20.0], [22.0, 21.0])], tmp_path / "pictures")
    seconds, errors = section.grids
    assert seconds.rows[0] == ("EDDI (PNP)", "0.100", "2.64", "-2.54", "1.00")
    assert seconds.rows[1] == ("DRAL", "50.000", "2747.16", "-2697.16", "1.00")
    assert errors.rows[1] == ("1", "0.00", "1.00", "1.00", "-1.00")
    assert "500 times faster" in " ".join(section.words)
    assert section.pictures[0].path.stat().st_size > 1000


def test_the_words_follow_the_numbers(tmp_path):
    better = [outcome(row, [22.0, 20.0], [22.0, 21.0 + row]) for row in range(3)]
    worse = [outcome(row, [22.0, 25.0], [22.0, 21.0 + row]) for row in range(3)]
    assert "after 1 of 1 answers, as in the paper" in " ".join(dral.sections(better, tmp_path)[0].words)
    assert "after 0 of 1 answers, where the paper" in " ".join(dral.sections(worse, tmp_path)[0].words)


def test_no_finished_run_is_said_so(tmp_path):
    (section,) = dral.sections([], tmp_path)
    assert section.words == ("No run is finished yet.",)


@pytest.mark.parametrize("quick", [True, False])
def test_the_suite_has_all_that_a_run_needs(quick):
    suite = Suite.load("paper-dral", quick=quick)
    assert experiment(suite.experiment) is dral.EXPERIMENT
    assert set(suite.runs[0].settings) == set(SETTINGS)
    assert len(suite.runs) == (3 if quick else 10)
