"""A run of the decisions suite, and the chapter of whatever is finished."""

from dataclasses import replace
from itertools import product

import pytest

from eddi_benchmarks.decisions import experiment as decisions
from eddi_benchmarks.decisions import problem as problems
from eddi_benchmarks.decisions.report import sections
from eddi_benchmarks.decisions.results import Results
from eddi_benchmarks.harness.experiment import ExperimentError, Outcome, experiment
from eddi_benchmarks.harness.suite import Suite

SETTINGS = {
    **{"max_train": 150, "max_test": 20, "max_test_classes": 20, "max_questions": 20, "most_ahead": 4},
    **{"our_steps": 20, "paper_steps": 20, "peer_steps": 20, "n_draws": 5},
}
MODELS = ("ours", "paper", "gdfs", "dime")


def play(dataset, model, seed=0):
    settings = {**SETTINGS, "dataset": dataset, "model": model, "seed": seed}
    problem = problems.load(settings)
    return Outcome(f"{dataset}-{model}-{seed}", settings, decisions.play_problem(problem, settings), {})


@pytest.fixture(scope="module")
def outcomes():
    """Two seeds of a made-up world, all models, hardly trained."""
    return [play("xor", model, seed) for model, seed in product(MODELS, (0, 1))]


def test_a_run_tells_every_way_of_asking_with_its_model(outcomes):
    figures = outcomes[0].figures
    asked = {"ours", "ours-ahead", "random", "static", "exact", "exact-greedy"}
    assert set(figures["methods"]) == asked
    assert figures["n_rows"] == {"train": 150, "test": 20}
    for told in figures["methods"].values():
        assert set(told["curves"]) == {"accuracy", "nll", "brier", "calibration_error"}
        assert all(len(curve) == 9 for curve in told["curves"].values())
    assert figures["methods"]["ours"]["ms"] > 0
    assert figures["methods"]["exact"]["curves"]["accuracy"][2] == 1.0


@pytest.mark.usefixtures("yacht")
@pytest.mark.filterwarnings("ignore:.*is not the file our numbers")
def test_a_quantity_has_errors_likelihood_and_coverage():
    told = play("yacht", "gdfs").figures["methods"]["gdfs"]["curves"]
    assert set(told) == {"rmse", "nll", "coverage"}
    assert 0.1 < told["rmse"][0] < 0.6  # in units of the range


def test_areas_are_means_over_the_steps_after_the_first_question(outcomes):
    results = Results.of(outcomes, is_class=True)
    curve = outcomes[0].figures["methods"]["exact"]["curves"]["accuracy"]
    assert results.areas("xor", "exact")[0] == pytest.approx(sum(curve[1:]) / 8)
    gains = results.gains("xor", "exact", "random")
    assert len(gains) == 2
    assert gains.min() > 0
    assert results.best("xor") <= {"ours", "random", "static", "paper", "gdfs", "dime", "ours-ahead"}


def test_the_chapter_has_a_table_a_test_and_a_picture_of_each_set(outcomes, tmp_path):
    found = sections(outcomes, tmp_path)
    grids = {grid.title: grid for section in found for grid in section.grids}
    areas = grids["Classes: mean accuracy"]
    assert areas.columns[-1] == "exact, two ahead"
    assert [row[0] for row in areas.rows] == ["xor"]
    assert len(areas.best) == 1
    assert "exact" not in areas.columns[next(iter(areas.best))[1]]
    tests = grids["Gain in accuracy"]
    assert "against DIME" in tests.columns
    assert tests.rows[-1][0] == "all sets"
    pictures = [picture for section in found for picture in section.pictures]
    assert [picture.path.name for picture in pictures] == ["decisions-xor.png"]
    assert pictures[0].path.stat().st_size > 10_000


def test_any_part_of_the_outcomes_makes_a_chapter(outcomes, tmp_path):
    assert sections([], tmp_path) == []
    assert sections(outcomes[2:3], tmp_path)


@pytest.mark.parametrize(("model", "paid"), [("ours", "ours-cost"), ("dime", "dime-cost")])
def test_what_has_a_price_is_told_by_what_was_spent(model, paid, tmp_path):
    settings = {**SETTINGS, "dataset": "xor", "model": model, "seed": 0}
    problem = problems.load(settings)
    dear = replace(problem, schema=problem.schema.with_question("x0", cost=9.0))
    outcome = Outcome("dear", settings, decisions.play_problem(dear, settings), {})
    told = outcome.figures["methods"][paid]["by_cost"]
    assert told["spent"][-1] == 16.0  # nine, and seven questions of one
    assert len(told["curve"]) == len(told["spent"])
    pictures = [picture for section in sections([outcome], tmp_path) for picture in section.pictures]
    assert "decisions-xor-cost.png" in [picture.path.name for picture in pictures]


def test_an_unknown_model_is_refused_by_name():
    with pytest.raises(ExperimentError, match=r"no model 'eddi'. There are ours, paper, gdfs, dime"):
        play("xor", "eddi")


def test_the_suite_has_every_set_and_each_is_a_problem():
    suite = Suite.load("decisions")
    names = {run.settings["dataset"] for run in suite.runs}
    assert len(names) == 22
    assert len(suite.runs) == 22 * 4 * 5
    chosen = experiment(suite.experiment)
    assert chosen is decisions.EXPERIMENT
    assert chosen.datasets({"dataset": "spam"}) == ("spam",)
