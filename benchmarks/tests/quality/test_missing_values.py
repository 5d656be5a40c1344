"""Holes of the right share and for the right reason, and a chapter of whatever is finished."""

import numpy as np
import pandas as pd
import pytest

from eddi_benchmarks.harness.experiment import ExperimentError, Outcome, experiment
from eddi_benchmarks.harness.suite import Suite
from eddi_benchmarks.quality import missing_values as holes


@pytest.fixture(scope="module")
def table():
    random = np.random.default_rng(0)
    frame = pd.DataFrame(random.normal(size=(3_000, 6)), columns=list("abcdef"))
    return frame.assign(level=random.integers(3, size=3_000), y=frame.sum(axis=1))


def holed(table, hidden_by, share):
    return holes.with_holes(table, "y", hidden_by, share, np.random.default_rng(1))


@pytest.mark.parametrize("hidden_by", ["chance", "unseen"])
@pytest.mark.parametrize("share", [0.0, 0.3, 0.7])
def test_the_share_is_hidden_and_never_the_target(table, hidden_by, share):
    found = holed(table, hidden_by, share)
    assert found.drop(columns="y").isna().to_numpy().mean() == pytest.approx(share, abs=0.02)
    assert found["y"].notna().all()


def test_by_what_is_seen_leaves_a_third_known_and_takes_rows_high_in_it(table):
    found = holed(table, "seen", 0.5)
    assert found[["a", "b", "c"]].notna().all(axis=None)
    high = table[["a", "b", "c"]].sum(axis=1) > 1
    assert found.loc[high, "e"].isna().mean() > 0.6
    assert found.loc[~high, "e"].isna().mean() < 0.5


def test_by_what_is_hidden_takes_high_values(table):
    known = holed(table, "unseen", 0.5)["d"].dropna()
    assert float(known.mean()) < -0.3


def test_an_unknown_reason_is_refused(table):
    with pytest.raises(ExperimentError, match="by chance, seen or unseen"):
        holed(table, "spite", 0.5)


def outcome(name, weigh, seed, auic):
    settings = {"dataset": "energy", "holes": name, "weigh": weigh, "seed": seed}
    return Outcome(f"{name}-{weigh}-{seed}", settings, {"auic": auic}, {})


def test_the_chapter_has_a_line_a_reason_and_a_picture(tmp_path):
    outcomes = [
        outcome(name, weigh, seed, 0.1 + seed / 100)
        for name in ("none", "seen-0.5", "unseen-0.5")
        for weigh in (True, False)
        for seed in (0, 1)
    ]
    (section,) = holes.sections(outcomes, tmp_path)
    (grid,) = section.grids
    assert [row[1] for row in grid.rows] == ["by chance", "by what is seen", "by what is hidden"]
    assert grid.rows[1][2:] == ("0.1050",) * 4
    assert grid.rows[0][-1] == "-"
    assert section.pictures[0].path.stat().st_size > 5_000
    assert holes.sections([], tmp_path) == []


def test_the_suite_names_its_experiment():
    suite = Suite.load("holes")
    assert experiment(suite.experiment) is holes.EXPERIMENT
    assert len(suite.runs) == 120
