"""Encoders crossed with strategies: areas, ranks and tests against what one can reckon by hand."""

import json
import math

import numpy as np
import pandas as pd
import pytest
from scipy import stats

import eddi
from eddi.strategy import FixedOrder, Lasso, Random
from eddi_benchmarks.harness.experiment import Outcome
from eddi_benchmarks.paper import comparison as combination
from eddi_benchmarks.paper.comparison import Areas, Contest
from eddi_benchmarks.paper.curve_figures import dataset_picture

ENCODERS = ("zi", "zi-m", "pnp", "pn")
PAIR = {("eddi", "zi"): 1.25, ("rand", "zi"): 2.0, ("eddi", "pn"): 3.0, ("rand", "pn"): 4.0}


def outcome(dataset, encoder, seed, areas, metric="rmse"):
    """A run whose strategies have these rows' areas, and curves that fall from 2 to 1."""
    strategies = {
        name: {"auic": {metric: rows}, "curves": {metric: [2.0, 1.0 + seed]}}
        for name, rows in areas.items()
    }
    settings = {"dataset": dataset, "set_encoder": encoder, "seed": seed}
    return Outcome(f"{dataset}-{encoder}-{seed}", settings, {"strategies": strategies}, {})


@pytest.fixture
def outcomes():
    """Two repetitions of a dataset of two rows, with two encoders and two strategies."""
    return [
        outcome("a", "zi", 0, {"eddi": [1.0, 2.0], "rand": [3.0, 3.0]}),
        outcome("a", "pn", 0, {"eddi": [2.0, 1.0], "rand": [4.0, 4.0]}),
        outcome("a", "zi", 1, {"eddi": [1.0, 1.0], "rand": [2.0, 2.0]}),
        outcome("a", "pn", 1, {"eddi": [3.0, 2.0], "rand": [4.0, 4.0]}),
    ]


def everyone(rows, better=0.0):
    """The areas of three strategies of every encoder, EDDI's less than the others' by ``better``."""
    return {"eddi": [row - better for row in rows], "rand": list(rows), "sing": list(rows)}


def test_ranks_are_those_reckoned_by_hand(outcomes):
    areas = Areas.of(outcomes, "rmse", list(PAIR))
    # seed 0: (1, 3, 2, 4) and (2, 3, 1, 4); seed 1: (1, 2, 3, 4) and (1, 2.5, 2.5, 4)
    np.testing.assert_allclose(areas.ranks, [[1.5, 3, 1.5, 4], [1, 2.25, 2.75, 4]])


def test_the_grid_shows_ours_theirs_and_the_difference(outcomes):
    grid = combination.rank_grid(outcomes, "rmse", theirs=PAIR, title="Ranks")
    assert grid.columns == ("", "", "ZI", "PN")
    assert grid.rows[0] == ("EDDI", "ours", "1.25 ± 0.25", "2.12 ± 0.62")
    assert grid.rows[1] == ("", "paper", "1.25", "3.00")
    assert grid.rows[2] == ("", "difference", "+0.00", "-0.88")
    assert grid.best == {(0, 2), (1, 2)}
    assert "4 test rows (datasets: 1, repetitions: 2)." in grid.note


def test_where_the_paper_prints_nothing_ours_stand_alone(outcomes):
    grid = combination.rank_grid(outcomes, "rmse", theirs=dict.fromkeys(PAIR), title="Ranks")
    assert [row[:2] for row in grid.rows] == [("EDDI", "ours"), ("Random", "ours")]


def test_every_row_counts_alike_whichever_dataset_it_is_of():
    few = [outcome("a", "zi", 0, {"eddi": [1.0], "rand": [2.0]})]
    many = [outcome("b", "zi", 0, {"eddi": [2.0] * 3, "rand": [1.0] * 3})]
    areas = Areas.of(few + many, "rmse", [("eddi", "zi"), ("rand", "zi")])
    np.testing.assert_allclose(areas.ranks, [[1.75, 1.25]])


def test_a_case_counts_only_when_all_its_encoders_are_finished(outcomes):
    grid = combination.rank_grid(outcomes[:3], "rmse", theirs=PAIR, title="Ranks")
    assert grid.rows[0] == ("EDDI", "ours", "1.50", "1.50")
    assert "1 of 2 dataset-repetitions are finished so far" in grid.note


def test_without_a_finished_case_the_grids_are_empty_but_whole(outcomes):
    ranks = combination.rank_grid(outcomes[:1], "rmse", theirs=PAIR, title="Ranks")
    assert ranks.rows[0] == ("EDDI", "ours", "-", "-")
    tests = combination.test_grid(outcomes[:1], "rmse", title="Tests")
    assert {cell for row in tests.rows for cell in row[2:]} == {"-"}


def test_a_contest_pairs_rows_and_repetitions():
    random = np.random.default_rng(0)
    outcomes, differences = [], []
    for seed in range(6):
        rows, better = random.normal(size=30), random.normal(0.3, 1.0, size=30)
        differences.append(better)
        told = {"eddi": (rows - better).tolist(), "rand": rows.tolist()}
        outcomes.append(outcome("a", "pnp", seed, told))
    one, other = ("eddi", "pnp"), ("rand", "pnp")
    contest = Contest.of(Areas.of(outcomes, "rmse", [one, other]), one, other)
    pooled = np.concatenate(differences)
    assert contest.saved == pytest.approx(pooled.mean())
    assert contest.p_rows == pytest.approx(stats.wilcoxon(pooled).pvalue)
    assert contest.p_cases == pytest.approx(stats.wilcoxon([d.mean() for d in differences]).pvalue)
    assert contest.won == (contest.p_rows < 0.05)


def test_the_tests_set_a_significant_win_bold_and_leave_the_one_itself_out():
    rows = np.linspace(1, 2, 40).tolist()
    outcomes = [outcome("a", e, 0, everyone(rows, better=0.1 * (e == "pnp"))) for e in ENCODERS]
    theirs = {("eddi", "zi"): "< 1e-48"}
    grid = combination.test_grid(outcomes, "rmse", theirs=theirs, title="Tests")
    by_words = {(row[0], row[1]): row[2:] for row in grid.rows}
    assert by_words["EDDI-PNP against EDDI", "p, rows"][2] == "-"
    assert float(by_words["EDDI-PNP against EDDI", "p, rows"][0]) < 1e-6
    assert grid.rows[2] == ("", "saved", "+0.1000", "+0.1000", "-", "+0.1000")
    assert grid.rows[3] == ("", "paper's p", "< 1e-48", "-", "-", "-")
    assert {(2, 2), (2, 3), (2, 5)} <= grid.best
    assert by_words["EDDI against Random, same encoder", "p, rows"][0] == "1.000"
    assert by_words["EDDI against Random, same encoder", "p, rows"][2] != "1.000"


def test_a_loss_is_never_bold():
    rows = np.linspace(1, 2, 40).tolist()
    outcomes = [outcome("a", e, 0, everyone(rows, better=-0.1)) for e in ENCODERS]
    grid = combination.pair_grid(outcomes, "rmse", strategies=("eddi", "rand"), title="Pairs")
    assert grid.rows[2] == ("", "saved", *["-0.1000"] * 4)
    assert grid.best == frozenset()


@pytest.mark.parametrize(
    ("p", "words"),
    [(None, "-"), (0.0, "< 1e-300"), (3.2e-5, "3e-05"), (0.0123, "0.012"), (1.0, "1.000")],
)
def test_p_values_are_short(p, words):
    assert combination.p_words(p) == words


def test_numbers_are_rounded_to_six_digits():
    assert combination.plain(np.array([1 / 3, math.nan, 1234567.0])) == [0.333333, None, 1234570.0]


@pytest.fixture(scope="module")
def fitted():
    """A model with the paper's recipe, and rows it has not seen; the target's range is far from 1."""
    random = np.random.default_rng(0)
    x = random.normal(size=(140, 3))
    table = pd.DataFrame(x, columns=["a", "b", "c"])
    table["y"] = 500 + 100 * (x[:, 0] - x[:, 1])
    model = eddi.PartialVAE(target="y", recipe="paper", max_steps=100, random_state=0)
    return model.fit(table[:120]), table[120:]


def test_play_tells_curves_and_areas_in_coded_units(fitted):
    model, test = fitted
    figures = combination.play(model, test, "y", {"rand": Random(3)}, ("rmse", "draw_rmse", "nll"))
    curves = eddi.simulate(model, test, "y", strategy=Random(3))
    scale = model.coding_.scale[3]
    assert scale > 100
    told = figures["strategies"]["rand"]
    np.testing.assert_allclose(told["curves"]["rmse"], curves.rmse / scale, rtol=1e-5)
    np.testing.assert_allclose(told["curves"]["nll"], curves.nll - np.log(scale), rtol=1e-4)
    np.testing.assert_allclose(
        told["auic"]["draw_rmse"], curves.row_area("draw_rmse") / scale, rtol=1e-5
    )
    assert figures["n_rows"] == {"train": 120, "test": 20}
    assert set(figures["seconds"]) == {"fit", "rand"}
    assert json.loads(json.dumps(figures)) == figures


def test_who_stops_early_keeps_its_last_prediction(fitted):
    model, test = fitted
    strategies = {"lasso": Lasso(("b",)), "sing": FixedOrder(("b", "a", "c"))}
    found = combination.play(model, test, "y", strategies, ("rmse",))["strategies"]
    lasso, sing = found["lasso"]["curves"]["rmse"], found["sing"]["curves"]["rmse"]
    assert lasso[:2] == sing[:2]
    assert lasso[1:] == [lasso[1]] * 3
    assert found["lasso"]["n_asked"] == 1
    assert found["sing"]["n_asked"] == 3
    assert len(found["lasso"]["auic"]["rmse"]) == 20


def test_the_picture_has_a_panel_for_each_encoder_that_is_finished(outcomes, tmp_path):
    picture = combination.curve_picture(outcomes, "rmse", tmp_path / "new" / "a.svg", dataset="a")
    assert picture.path.is_file()
    assert "Mean of 2 repetitions" in picture.words
    from matplotlib.image import imread

    paths = [tmp_path / "one.png", tmp_path / "two.png"]
    combination.curve_picture(outcomes[::2], "rmse", paths[0], dataset="a")
    combination.curve_picture(outcomes, "rmse", paths[1], dataset="a")
    one, two = (imread(path).shape[1] for path in paths)
    assert two > 1.5 * one


def test_the_picture_of_datasets_keeps_to_one_encoder(outcomes, tmp_path):
    picture = dataset_picture(outcomes[:2], "rmse", tmp_path / "b.png", set_encoder="zi")
    assert picture.path.is_file()
    assert picture.words.endswith("One repetition.")
