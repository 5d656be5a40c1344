"""The UCI suite: a run on a small table of our own, and the sections of whatever is finished."""

import os
from itertools import product
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import torch

from eddi.strategy import FixedOrder, Information
from eddi_benchmarks.data import datasets
from eddi_benchmarks.harness.experiment import Outcome
from eddi_benchmarks.harness.suite import Suite
from eddi_benchmarks.paper.uci import experiment as uci
from eddi_benchmarks.paper.uci.experiment import report as uci_report
from eddi_benchmarks.paper.uci.figures import MeanReward

SETTINGS = {"dataset": "small", "set_encoder": "pnp", "seed": 0, "max_steps": 60, "n_draws": 10}
PUBLISHED = {**SETTINGS, "kl": "published", "draws": "means", "masks": "published"}


def make_table(n_rows=120):
    random = np.random.default_rng(0)
    x = random.normal(size=(n_rows, 4))
    table = pd.DataFrame(x, columns=["near", "far", "noise", "dust"])
    table["y"] = 20 * (2 * x[:, 0] - x[:, 1] + 0.1 * random.normal(size=n_rows))
    return table


@pytest.fixture(scope="module")
def figures():
    return uci.play_table(make_table(), SETTINGS)


@pytest.fixture(scope="module")
def outcomes():
    """Two datasets, four encoders, two seeds, hardly trained."""
    found = []
    for dataset, encoder, seed in product(["small", "tiny"], ["zi", "zi-m", "pn", "pnp"], [0, 1]):
        settings = {**SETTINGS, "dataset": dataset, "set_encoder": encoder, "seed": seed, "max_steps": 5}
        table = make_table(60 if dataset == "small" else 40)
        told = uci.play_table(table, settings)
        found.append(Outcome(f"{dataset}-{encoder}-{seed}", settings, told, {"seconds": 1.0}))
    return found


def test_a_run_tells_what_the_sections_need(figures):
    assert figures["n_rows"] == {"train": 108, "test": 12}
    assert set(figures["strategies"]) == {"eddi", "rand", "sing", "lasso"}
    for told in figures["strategies"].values():
        assert set(told["curves"]) == set(told["auic"]) == {"draw_rmse", "rmse", "nll"}
        assert all(len(curve) == 5 for curve in told["curves"].values())
        assert all(len(rows) == 12 for rows in told["auic"].values())
    assert sorted(figures["order"]) == ["dust", "far", "near", "noise"]
    assert {"near", "far"} <= set(figures["lasso"])
    assert figures["seconds"]["fit"] > 0


def test_before_the_first_question_and_after_the_last_all_who_ask_everything_agree(figures):
    for metric in ("draw_rmse", "rmse", "nll"):
        curves = [figures["strategies"][name]["curves"][metric] for name in ("eddi", "rand", "sing")]
        assert len({curve[0] for curve in curves}) == 1
        np.testing.assert_allclose([curve[-1] for curve in curves], curves[0][-1], rtol=1e-4)


def test_a_run_is_a_pure_function_of_its_settings(figures):
    again = uci.play_table(make_table(), SETTINGS)
    assert again["strategies"] == figures["strategies"]
    other = uci.play_table(make_table(), {**SETTINGS, "seed": 1})
    assert other["strategies"] != figures["strategies"]


def test_errors_are_in_units_of_the_targets_range(figures):
    assert 0 < figures["strategies"]["rand"]["curves"]["rmse"][0] < 1


def test_every_column_is_a_number_and_scaled_by_training_rows_alone():
    table = make_table().assign(noise=lambda t: (t["noise"] > 0).astype(int))
    table.loc[0, "far"] = 1e6  # an outlier that may be a test row
    model = uci.fit(table[1:], "y", SETTINGS)
    assert {form.kind.value for form in model.network_.forms} == {"real"}
    np.testing.assert_allclose(model.coding_.scale, np.ptp(table[1:].to_numpy(float), axis=0))


def test_the_published_switches_give_another_run_of_the_same_rows(figures):
    other = uci.play_table(make_table(), PUBLISHED)
    assert other["n_rows"] == figures["n_rows"]
    assert other["strategies"]["eddi"] != figures["strategies"]["eddi"]


def test_the_mean_reward_asks_in_the_single_best_order():
    table = make_table()
    model = uci.fit(table[:100], "y", SETTINGS)
    rows, inner = model.evidence(table[100:]), Information(n_draws=10)
    order = FixedOrder.learn(model, table[100:], "y", strategy=inner).order
    names = [question.name for question in model.schema_.questions]
    asked = np.zeros(5, dtype=bool)
    for name in order:
        seen = rows[:1].hide(~asked[None])
        scores = MeanReward(rows, inner).score(model, seen, ("y",))[0]
        scores[torch.from_numpy(asked)] = -torch.inf
        scores[4] = -torch.inf  # the target
        assert names[int(scores.argmax())] == name
        asked[names.index(name)] = True


def test_the_chosen_run_draws_its_decisions(tmp_path):
    figures = uci.play_table(make_table(60), {**SETTINGS, "max_steps": 5}, pictures=tmp_path / "run")
    assert sorted(figures["pictures"]) == ["choices.png", "eddi.png", "sing.png"]
    assert all((tmp_path / "run" / name).stat().st_size > 10_000 for name in figures["pictures"])
    settings = {**SETTINGS, "max_steps": 5}
    one = Outcome("small-pnp-0", settings, figures, {"seconds": 1.0}, tmp_path / "run")
    told = {section.title: section for section in uci.EXPERIMENT.sections([one], tmp_path / "report")}
    shown = told["UCI: the decision process on Boston housing"].pictures
    assert [picture.path.name for picture in shown] == [
        f"decisions-{name}" for name in figures["pictures"]
    ]
    assert all(
        picture.path.parent == tmp_path / "report" and picture.path.is_file() for picture in shown
    )


def test_the_sections_show_all_the_paper_shows(outcomes, tmp_path):
    sections = uci.EXPERIMENT.sections(outcomes, tmp_path)
    ranks = sections[0].grids[0]
    assert ranks.columns == ("", "", "ZI", "ZI-m", "PNP", "PN")
    assert ranks.rows[1] == ("", "paper", "5.72", "5.54", "5.08", "5.25")
    assert ranks.rows[7] == ("", "paper", "8.68", "5.50", "5.20", "5.28")
    ours = [[float(cell.split()[0]) for cell in row[2:]] for row in ranks.rows[::3]]
    assert np.sum(ours) == pytest.approx(78, abs=0.07)  # the ranks from 1 to 12
    lasso = next(section for section in sections if "LASSO" in section.title)
    assert lasso.grids[0].rows[1] == ("", "paper", "4.66", "4.53", "4.14", "4.24")
    assert lasso.grids[1].rows[-1] == ("", "paper's p", "< 1e-4", "< 1e-6", "< 1e-24", "< 1e-19")
    pictures = [picture.path for section in sections for picture in section.pictures]
    assert len(pictures) == 8
    assert all(path.is_file() and tmp_path in path.parents for path in pictures)


def test_the_verdict_follows_the_numbers(outcomes):
    def shifted(outcome, by):
        told = {
            name: {**one, "auic": {"draw_rmse": [row + by(name) for row in one["auic"]["draw_rmse"]]}}
            for name, one in outcome.figures["strategies"].items()
        }
        return Outcome(outcome.run, outcome.settings, {"strategies": told}, {})

    good = [
        shifted(o, lambda n, o=o: -9 - (o.settings["set_encoder"] == "pnp") if n == "eddi" else 0)
        for o in outcomes
    ]
    words = uci_report.verdict(good)
    assert "EDDI-PNP has the best average rank of the twelve, 1.00 (the paper: first with 5.08)" in words
    assert "Against Random, EDDI is better with ZI (+" in words
    bad = [shifted(o, lambda n: 9 if n == "eddi" else 0) for o in outcomes]
    words = uci_report.verdict(bad)
    assert "EDDI-PNP does not have the best average rank of the twelve: it is number" in words
    assert "Against Random, EDDI is worse with ZI (-" in words


def test_the_sections_work_with_a_part_of_the_runs(outcomes, tmp_path):
    assert uci.EXPERIMENT.sections([], tmp_path) == []
    sections = uci.EXPERIMENT.sections(outcomes[:3], tmp_path)
    assert "nothing can be ranked" in sections[0].words[1]
    assert sections[0].grids[0].rows[0][2] == "-"


@pytest.mark.parametrize(("name", "n_seeds"), [("paper-uci", 10), ("paper-uci-published", 5)])
def test_the_suites_cross_six_tables_and_four_encoders_and_are_few_when_quick(name, n_seeds):
    whole, quick = Suite.load(name), Suite.load(name, quick=True)
    assert len(whole.runs) == 6 * 4 * n_seeds
    assert {run.settings["dataset"] for run in whole.runs} == set(datasets.UCI)
    assert len(quick.runs) == 16
    assert all(run.settings["max_steps"] == 600 for run in quick.runs)
    assert uci.EXPERIMENT.datasets(whole.runs[0].settings) == ("boston",)


@pytest.mark.skipif("EDDI_DATA" not in os.environ, reason="needs the datasets of EDDI_DATA")
def test_a_run_finds_its_dataset():
    settings = {**SETTINGS, "dataset": "yacht", "set_encoder": "zi", "max_steps": 5}
    assert uci.play(settings, Path("unused"))["n_rows"] == {"train": 277, "test": 31}
