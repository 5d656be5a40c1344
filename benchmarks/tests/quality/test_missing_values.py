"""Missing values have the right share and mechanism, and the report shows their effect."""

import numpy as np
import pandas as pd
import pytest

from eddi_benchmarks.harness.experiment import ExperimentError, find_experiment
from eddi_benchmarks.harness.run_result import RunResult
from eddi_benchmarks.harness.suite import Suite
from eddi_benchmarks.quality import missing_values


@pytest.fixture(scope="module")
def table():
    random = np.random.default_rng(0)
    frame = pd.DataFrame(random.normal(size=(3_000, 6)), columns=list("abcdef"))
    return frame.assign(level=random.integers(3, size=3_000), y=frame.sum(axis=1))


def hide(table, mechanism, share):
    random = np.random.default_rng(1)
    return missing_values.hide_cells(table, "y", mechanism=mechanism, share=share, random=random)


@pytest.mark.parametrize("mechanism", ["chance", "unseen"])
@pytest.mark.parametrize("share", [0.0, 0.3, 0.7])
def test_the_share_is_missing_and_the_target_is_complete(table, mechanism, share):
    incomplete = hide(table, mechanism, share)
    assert incomplete.drop(columns="y").isna().to_numpy().mean() == pytest.approx(share, abs=0.02)
    assert incomplete["y"].notna().all()


def test_missing_at_random_depends_on_variables_that_stay_observed(table):
    incomplete = hide(table, "seen", 0.5)
    assert incomplete[["a", "b", "c"]].notna().all(axis=None)
    is_high = table[["a", "b", "c"]].sum(axis=1) > 1
    assert incomplete.loc[is_high, "e"].isna().mean() > 0.6
    assert incomplete.loc[~is_high, "e"].isna().mean() < 0.5


def test_missing_not_at_random_removes_high_values(table):
    observed = hide(table, "unseen", 0.5)["d"].dropna()
    assert float(observed.mean()) < -0.3


def test_an_unknown_mechanism_is_rejected(table):
    with pytest.raises(ExperimentError, match="must be chance, seen or unseen, got 'spite'"):
        hide(table, "spite", 0.5)


def make_result(name, weigh, seed, auic):
    settings = {"dataset": "energy", "holes": name, "weigh": weigh, "seed": seed}
    return RunResult(f"{name}-{weigh}-{seed}", settings, {"auic": auic}, {})


def test_the_report_has_a_row_for_each_mechanism_and_a_figure(tmp_path):
    results = [
        make_result(name, weigh, seed, 0.1 + seed / 100)
        for name in ("none", "seen-0.5", "unseen-0.5")
        for weigh in (True, False)
        for seed in (0, 1)
    ]
    (section,) = missing_values.report_sections(results, tmp_path)
    (areas,) = section.tables
    assert [row[1] for row in areas.rows] == ["completely at random", "at random", "not at random"]
    assert areas.rows[1][2:] == ("0.1050",) * 4
    assert areas.rows[0][-1] == "-"
    assert section.figures[0].path.stat().st_size > 5_000
    assert missing_values.report_sections([], tmp_path) == []


def test_the_suite_has_120_runs_of_this_experiment():
    suite = Suite.load("holes")
    assert find_experiment(suite.experiment) is missing_values.EXPERIMENT
    assert len(suite.runs) == 120
