"""Intensive care: one model examines the same held-out stays by three strategies."""

import json
import os
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from eddi_benchmarks.data import datasets
from eddi_benchmarks.data import icu as icu_data
from eddi_benchmarks.harness.experiment import Outcome, experiment
from eddi_benchmarks.harness.suite import Suite
from eddi_benchmarks.paper import icu

REAL = Path(os.environ.get("EDDI_DATA") or "nowhere")
ENCODERS = ("zi", "zi-m", "pnp", "pn")
SETTINGS = {"dataset": "physionet2012", "seed": 0, "max_steps": 40, "n_draws": 5, "max_test": 12}


@pytest.fixture(scope="module")
def stays():
    """Two hundred stays: pressure tells who dies, colour nothing, and a third is seldom measured."""
    random = np.random.default_rng(0)
    pressure, colour, seldom = random.normal(size=(3, 200))
    seldom[10:] = np.nan
    return pa.table(
        {
            "pressure": pressure,
            "colour": colour,
            "seldom": pa.array(seldom, from_pandas=True),
            "death": (pressure > 0.3).astype(int),
        }
    )


@pytest.fixture(scope="module")
def outcomes(stays):
    found = []
    for encoder in ENCODERS:
        for seed in (0, 1):
            settings = {**SETTINGS, "set_encoder": encoder, "seed": seed}
            found.append(Outcome(f"{encoder}-{seed}", settings, icu.play_table(stays, settings), {}))
    return found


def test_a_tenth_is_held_out_and_at_most_so_many_of_it_are_examined(stays):
    train, test = icu.split(stays, seed=3, max_test=12)
    assert (train.num_rows, test.num_rows) == (180, 12)
    again = icu.split(stays, seed=3, max_test=12)
    assert test.equals(again[1])
    assert not test.equals(icu.split(stays, seed=4, max_test=12)[1])
    whole = icu.split(stays, seed=3, max_test=1_000)[1]
    assert whole.num_rows == 20
    seen = {*train["pressure"].to_pylist(), *whole["pressure"].to_pylist()}
    assert len(seen) == 200  # no stay is in both


def test_those_examined_have_their_share_of_deaths_in_every_repetition(stays):
    share = np.mean(stays["death"].to_pylist())
    parts = [part for seed in range(5) for part in icu.split(stays, seed=seed, max_test=20)]
    assert [np.mean(part["death"].to_pylist()) for part in parts] == pytest.approx(
        [share] * 10, abs=0.03
    )


def test_trimming_moves_the_outermost_readings_to_the_edge_that_training_rows_set():
    train = pa.table({"pH": [*np.linspace(7, 8, 101), None], "death": [0] * 102})
    test = pa.table({"pH": [128.0, 7.5, None, 0.0], "death": [1, 0, 1, 0]})
    trimmed, kept = icu.trimmed(train, test, 0.01)
    assert kept["pH"].to_pylist() == [pytest.approx(7.99), 7.5, None, pytest.approx(7.01)]
    assert max(trimmed["pH"].drop_null().to_pylist()) == pytest.approx(7.99)
    assert kept["death"].to_pylist() == [1, 0, 1, 0]
    assert icu.trimmed(train, test, 0.0)[1] is test


def test_a_run_tells_curves_of_every_strategy_and_an_area_of_every_stay(outcomes):
    figures = outcomes[0].figures
    json.dumps(figures, allow_nan=False)
    assert figures["n_rows"] == {"train": 180, "test": 12}
    assert set(figures["strategies"]) == {"eddi", "rand", "sing"}
    assert set(figures["seconds"]) == {"fit", "eddi", "rand", "sing"}
    for told in figures["strategies"].values():
        assert {name: len(curve) for name, curve in told["curves"].items()} == dict.fromkeys(
            ("nll", "accuracy", "brier", "auroc"), 4
        )
        assert len(told["auic"]["nll"]) == 12
        assert np.mean(told["auic"]["nll"]) == pytest.approx(np.mean(told["curves"]["nll"]), rel=1e-4)


def test_strategies_agree_before_the_first_question_and_after_the_last(outcomes):
    for outcome in outcomes:
        curves = [told["curves"]["nll"] for told in outcome.figures["strategies"].values()]
        assert curves[0][0] == curves[1][0] == curves[2][0]
        assert curves[0][-1] == pytest.approx(curves[1][-1], rel=1e-4)


def test_a_variable_that_no_training_row_knows_is_set_aside(stays):
    empty = stays.append_column("never", pa.nulls(stays.num_rows, pa.float64()))
    figures = icu.play_table(empty, {**SETTINGS, "set_encoder": "zi"})
    assert figures["n_variables"] == 3


def test_the_section_has_ranks_beside_the_papers_tests_numbers_and_pictures(outcomes, tmp_path):
    (section,) = icu.sections(outcomes, tmp_path)
    ranks, tests, numbers = section.grids
    assert "4.39" in str(ranks.rows)
    assert "theirs on MIMIC-III" in ranks.title
    assert "p, rows" in str(tests.rows)
    assert numbers.rows[0][:2] == ("AUROC", "EDDI")
    assert numbers.rows[0][2].startswith("0.500 / ")
    assert all(picture.path.stat().st_size > 10_000 for picture in section.pictures)
    assert "This is not the paper's data" in section.words[0]


def test_stays_of_which_nobody_died_have_no_auroc_and_spoil_no_mean(outcomes, tmp_path):
    survivors = json.loads(json.dumps(outcomes[0].figures))
    for told in survivors["strategies"].values():
        told["curves"]["auroc"] = [None] * 4
    alone = Outcome("x", outcomes[0].settings, survivors, {})
    assert icu.sections([alone], tmp_path)[0].grids[2].rows[0][2] == "-"
    before = icu.sections(outcomes, tmp_path)[0].grids[2].rows[0][2]
    assert icu.sections([*outcomes, alone], tmp_path)[0].grids[2].rows[0][2] == before


def test_a_part_of_the_runs_is_enough_for_a_section(outcomes, tmp_path):
    (section,) = icu.sections(outcomes[:1], tmp_path)
    assert "nothing can be ranked" in " ".join(section.words)
    assert icu.sections([], tmp_path) == []


def test_other_settings_than_the_papers_are_said(outcomes, tmp_path):
    longer = {**outcomes[0].settings, "max_steps": 30_000, "trim": 0.01}
    outcome = Outcome("x", longer, outcomes[0].figures, {})
    words = " ".join(icu.sections([outcome], tmp_path)[0].words)
    assert "Not the paper's settings: 30,000 training steps" in words
    assert "Not the paper's settings" not in " ".join(icu.sections(outcomes, tmp_path)[0].words)


@pytest.mark.parametrize("name", ["paper-icu", "paper-icu-mimic3", "paper-icu-published"])
def test_the_suites_name_datasets_that_exist(name):
    for quick in (False, True):
        for run in Suite.load(name, quick=quick).runs:
            (wanted,) = experiment("icu").datasets(run.settings)
            assert wanted in datasets.DATASETS


@pytest.mark.skipif(not (REAL / "mimic3_demo_ihm").is_dir(), reason="needs EDDI_DATA")
def test_what_mimic3_benchmarks_wrote_can_be_played():
    settings = {**SETTINGS, "dataset": "mimic3_demo_ihm", "set_encoder": "pnp"}
    figures = icu.play(settings, REAL / "unused")
    assert figures["n_rows"] == {"train": 51, "test": 6}
    assert icu_data.TARGET not in figures["strategies"]
