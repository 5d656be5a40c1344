"""The survey: groups are asked, all results are one target, areas weigh groups by their size."""

import json
import os
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from eddi.errors import TargetError
from eddi.strategy import FixedOrder
from eddi.table.question import Question
from eddi.table.schema import Schema
from eddi.table.variable import Kind, Variable
from eddi_benchmarks.data import nhanes as nhanes_data
from eddi_benchmarks.data.nhanes import Survey
from eddi_benchmarks.harness.experiment import Outcome, experiment
from eddi_benchmarks.harness.suite import Suite
from eddi_benchmarks.paper import nhanes

REAL = Path(os.environ.get("EDDI_DATA") or "nowhere")
ENCODERS = ("zi", "zi-m", "pnp", "pn")
GROUPS = {"diet": ("a", "b", "c"), "sleep": ("d",), "work": ("e", "f")}
LABS = ("iron", "sugar")
SETTINGS = {
    "seed": 0,
    "max_steps": 60,
    "n_draws": 4,
    "loss_draws": 16,
    "n_train": 150,
    "n_test": 9,
}


@pytest.fixture(scope="module")
def survey():
    """Two hundred people, six questions in three groups, two results; a tenth was never examined."""
    random = np.random.default_rng(0)
    answers = random.normal(size=(200, 6))
    labs = np.stack([10 * answers[:, 0], answers[:, 4] - answers[:, 0]], axis=1)
    labs[::10] = np.nan
    labs[1::7, 1] = np.nan
    answers[2::5, 1:3] = np.nan
    answers[3::9, 3] = np.nan
    names = [*(name for group in GROUPS.values() for name in group), *LABS]
    columns = np.concatenate([answers, labs], axis=1).T
    table = pa.table([pa.array(each, from_pandas=True) for each in columns], names=names)
    schema = Schema(
        tuple(Variable(name, Kind.REAL) for name in names),
        tuple(Question(name, reveals) for name, reveals in GROUPS.items()),
        targets=LABS,
    )
    return Survey(table, schema, LABS)


@pytest.fixture(scope="module")
def model(survey):
    train, _ = nhanes.split(survey, SETTINGS)
    return nhanes.fit(survey, train, {**SETTINGS, "set_encoder": "pnp", "max_steps": 300})


@pytest.fixture(scope="module")
def outcomes(survey):
    found = []
    for encoder in ENCODERS:
        for seed in (0, 1):
            settings = {**SETTINGS, "set_encoder": encoder, "seed": seed}
            found.append(
                Outcome(f"{encoder}-{seed}", settings, nhanes.play_survey(survey, settings), {})
            )
    return found


def test_who_is_asked_has_a_result_and_is_not_trained_on(survey):
    train, test = nhanes.split(survey, SETTINGS)
    assert (train.num_rows, test.num_rows) == (150, 9)
    assert not set(train["a"].to_pylist()) & set(test["a"].to_pylist())
    known = [test[name].is_valid().to_numpy() for name in LABS]
    assert np.any(known, axis=0).all()
    assert test.equals(nhanes.split(survey, SETTINGS)[1])
    assert not test.equals(nhanes.split(survey, {**SETTINGS, "seed": 1})[1])


def test_the_network_is_the_papers_for_nhanes(model):
    recipe = model.recipe_
    assert (recipe.latent, recipe.identity, recipe.term, recipe.hidden) == (20, 100, 20, (100, 50))
    assert (recipe.batch_size, recipe.scaling) == (100, "unit")
    assert model.target_ == LABS


def test_losses_are_those_of_the_models_own_predictions_in_coded_units(survey, model):
    _, test = nhanes.split(survey, SETTINGS)
    truth = model.evidence(test)
    seen = truth.hide(model.schema_.positions(LABS))
    losses = nhanes.measured(model, seen, truth, 128)
    positions = model.schema_.positions(LABS)
    known, scale = truth.observed[:, positions], model.coding_.scale[positions]
    predictions = model.predict_evidence(seen, LABS)
    means = np.stack([predictions[name].mean for name in LABS], axis=1)
    errors = (means - model.coding_.decode(truth.values)[:, positions]) / scale
    expected = np.average(errors**2, axis=1, weights=known)
    assert losses["rmse"] == pytest.approx(expected, rel=1e-3)
    log_prob = model.log_prob(seen, truth)[:, positions] + np.log(scale)
    assert losses["nll"] == pytest.approx(np.average(-log_prob, axis=1, weights=known), rel=1e-3)
    assert (losses["draw_rmse"] >= losses["rmse"] - 1e-9).all()


def test_questions_put_are_the_sizes_of_the_groups_in_the_order_they_are_asked(survey, model):
    test = survey.table.slice(11, 2)  # the second gave no answer on b and c, but did on a
    found = nhanes.followed(model, model.evidence(test), FixedOrder(("work", "diet", "sleep")), 8)
    assert found.put.tolist() == [[0, 2, 5, 6], [0, 2, 5, 5]]  # and none on sleep
    assert (found.n_groups, found.n_questions) == (3, 6)


def test_a_person_without_any_result_cannot_be_judged(survey, model):
    with pytest.raises(TargetError, match="without any laboratory result"):
        nhanes.followed(model, model.evidence(survey.table.slice(10, 1)), FixedOrder(()), 8)


def test_an_area_weighs_every_question_alike():
    put = np.array([0.0, 1.0, 10.0])
    assert nhanes.area(put, np.array([3.0, 3.0, 3.0])) == pytest.approx(3)
    assert nhanes.area(put, np.array([0.0, 1.0, 10.0])) == pytest.approx(5)
    early = nhanes.area(np.array([0.0, 1.0, 10.0]), np.array([1.0, 0.0, 0.0]))
    late = nhanes.area(np.array([0.0, 9.0, 10.0]), np.array([1.0, 0.0, 0.0]))
    assert early < 0.1 < late


def test_a_person_who_has_stopped_adds_nothing_to_the_area():
    losses = np.array([1.0, 0.5, 0.2])
    short = nhanes.area(np.array([0.0, 2.0, 5.0]), losses)
    stopped = nhanes.area(np.array([0.0, 2.0, 5.0, 5.0, 5.0]), np.append(losses, [0.2, 0.2]))
    assert stopped == pytest.approx(short)
    assert nhanes.area(np.zeros(3), np.full(3, 0.7)) == pytest.approx(0.7)  # nothing could be asked


def test_the_spline_never_leaves_what_was_measured():
    put = np.array([0.0, 1.0, 2.0, 74.0, 75.0])
    losses = np.array([1.0, 0.9, 0.2, 0.19, 0.8])
    between = nhanes.spline(put, losses)(np.linspace(0, 75, 400))
    assert between.min() >= 0.19 - 1e-12
    assert between.max() <= 1 + 1e-12


def test_a_run_tells_curves_by_group_and_by_question_and_an_area_of_every_person(outcomes):
    figures = outcomes[0].figures
    json.dumps(figures, allow_nan=False)
    assert figures["n_variables"] == {"asked": 6, "groups": 3, "labs": 2}
    for told in figures["strategies"].values():
        assert len(told["curves"]["rmse"]) == 4
        assert len(told["by_size"]["rmse"]) == len(told["by_size"]["at"]) == nhanes.N_POINTS
        assert told["by_size"]["at"][-1] == 6
        assert told["by_size"]["rmse"][0] == pytest.approx(told["curves"]["rmse"][0], rel=1e-4)
        assert told["by_size"]["nll"][-1] == pytest.approx(told["curves"]["nll"][-1], rel=1e-4)
        assert len(told["auic"]["draw_rmse"]) == 9


def test_the_section_has_ranks_beside_the_papers_tests_and_curves_against_questions(outcomes, tmp_path):
    (section,) = nhanes.sections(outcomes, tmp_path)
    assert "4.80" in str(section.grids[0].rows)
    assert "p, rows" in str(section.grids[2].rows)
    assert all(picture.path.stat().st_size > 10_000 for picture in section.pictures)
    assert "6 questionnaire variables in 3 groups" in section.words[0]
    curve = nhanes.by_size(outcomes)[0].figures["strategies"]["eddi"]["curves"]["rmse"]
    assert len(curve) == 7


def test_a_part_of_the_runs_is_enough_for_a_section(outcomes, tmp_path):
    (section,) = nhanes.sections(outcomes[:3], tmp_path)
    assert "nothing can be ranked" in " ".join(section.words)
    assert nhanes.sections([], tmp_path) == []


def test_the_suite_has_the_papers_numbers():
    suite = Suite.load("paper-nhanes", quick=False)
    assert len(suite.runs) == 4 * 5
    settings = suite.runs[0].settings
    assert (settings["n_train"], settings["n_test"], settings["max_steps"]) == (8_000, 100, 1_000)
    assert (settings["n_draws"], settings["loss_draws"]) == (10, 10)
    assert experiment("nhanes").datasets(settings) == ("nhanes_2015_2016",)


@pytest.mark.skipif(not (REAL / "nhanes_2015_2016").is_dir(), reason="needs EDDI_DATA")
def test_the_real_survey_can_be_trained_on_where_some_columns_are_empty():
    survey = nhanes_data.read_survey(REAL / "nhanes_2015_2016")
    settings = {**SETTINGS, "n_train": 300, "n_test": 2, "max_steps": 5, "set_encoder": "pnp"}
    train, _ = nhanes.split(survey, settings)
    model = nhanes.fit(survey, train, settings)
    aside = {each.name for each in model.schema_.set_aside}
    assert "MCQ230D" in aside
    assert len(model.target_) + len(aside & set(survey.labs)) == 139
