"""The survey: groups of questions, all results as one target, and areas that weigh groups by size."""

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
from eddi_benchmarks.harness.experiment import find_experiment
from eddi_benchmarks.harness.run_result import RunResult
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
    """200 respondents, six questions in three groups, two results, which a tenth does not have."""
    random = np.random.default_rng(0)
    answers = random.normal(size=(200, 6))
    labs = np.stack([10 * answers[:, 0], answers[:, 4] - answers[:, 0]], axis=1)
    labs[::10] = np.nan
    labs[1::7, 1] = np.nan
    answers[2::5, 1:3] = np.nan
    answers[3::9, 3] = np.nan
    names = [*(name for group in GROUPS.values() for name in group), *LABS]
    columns = np.concatenate([answers, labs], axis=1).T
    table = pa.table([pa.array(column, from_pandas=True) for column in columns], names=names)
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
def results(survey):
    results = []
    for encoder in ENCODERS:
        for seed in (0, 1):
            settings = {**SETTINGS, "set_encoder": encoder, "seed": seed}
            measurements = nhanes.run_on_survey(survey, settings)
            results.append(RunResult(f"{encoder}-{seed}", settings, measurements, {}))
    return results


def test_test_respondents_have_a_result_and_are_not_in_training(survey):
    train, test = nhanes.split(survey, SETTINGS)
    assert (train.num_rows, test.num_rows) == (150, 9)
    assert not set(train["a"].to_pylist()) & set(test["a"].to_pylist())
    has_result = [test[name].is_valid().to_numpy() for name in LABS]
    assert np.any(has_result, axis=0).all()
    assert test.equals(nhanes.split(survey, SETTINGS)[1])
    assert not test.equals(nhanes.split(survey, {**SETTINGS, "seed": 1})[1])


def test_the_network_is_that_of_the_paper_for_nhanes(model):
    recipe = model.recipe_
    assert (recipe.latent, recipe.identity, recipe.term, recipe.hidden) == (20, 100, 20, (100, 50))
    assert (recipe.batch_size, recipe.scaling) == (100, "unit")
    assert model.target_ == LABS


def test_losses_are_those_of_the_models_predictions_in_coded_units(survey, model):
    _, test = nhanes.split(survey, SETTINGS)
    truth = model.evidence(test)
    positions = model.schema_.positions(LABS)
    observed = truth.hide(positions)
    losses = nhanes.target_losses(model, observed, truth, n_draws=128)
    weights, scale = truth.observed[:, positions], model.coding_.scale[positions]
    predictions = model.fitted().predict_evidence(observed, LABS)
    means = np.stack([predictions[name].mean for name in LABS], axis=1)
    errors = (means - model.coding_.decode(truth.values)[:, positions]) / scale
    expected = np.average(errors**2, axis=1, weights=weights)
    assert losses["rmse"] == pytest.approx(expected, rel=1e-3)
    log_prob = model.fitted().log_prob(observed, truth)[:, positions] + np.log(scale)
    assert losses["nll"] == pytest.approx(np.average(-log_prob, axis=1, weights=weights), rel=1e-3)
    assert (losses["draw_rmse"] >= losses["rmse"] - 1e-9).all()


def test_the_number_of_questions_grows_by_the_size_of_each_group(survey, model):
    test = survey.table.slice(11, 2)  # the second answers a but not b and c, and not d
    strategy = FixedOrder(("work", "diet", "sleep"))
    losses = nhanes.interview_losses(model, model.evidence(test), strategy, n_draws=8)
    assert losses.n_asked.tolist() == [[0, 2, 5, 6], [0, 2, 5, 5]]
    assert (losses.n_groups, losses.n_questions) == (3, 6)


def test_a_respondent_without_any_result_is_rejected(survey, model):
    evidence = model.evidence(survey.table.slice(10, 1))
    with pytest.raises(TargetError, match="without a laboratory result"):
        nhanes.interview_losses(model, evidence, FixedOrder(()), n_draws=8)


def test_the_mean_loss_gives_every_question_the_same_weight():
    n_asked = np.array([0.0, 1.0, 10.0])
    assert nhanes.mean_loss(n_asked, np.array([3.0, 3.0, 3.0])) == pytest.approx(3)
    assert nhanes.mean_loss(n_asked, np.array([0.0, 1.0, 10.0])) == pytest.approx(5)
    early = nhanes.mean_loss(np.array([0.0, 1.0, 10.0]), np.array([1.0, 0.0, 0.0]))
    late = nhanes.mean_loss(np.array([0.0, 9.0, 10.0]), np.array([1.0, 0.0, 0.0]))
    assert early < 0.1 < late


def test_steps_after_the_end_of_an_interview_do_not_change_the_mean_loss():
    losses = np.array([1.0, 0.5, 0.2])
    short = nhanes.mean_loss(np.array([0.0, 2.0, 5.0]), losses)
    padded = nhanes.mean_loss(np.array([0.0, 2.0, 5.0, 5.0, 5.0]), np.append(losses, [0.2, 0.2]))
    assert padded == pytest.approx(short)
    nothing_asked = nhanes.mean_loss(np.zeros(3), np.full(3, 0.7))
    assert nothing_asked == pytest.approx(0.7)


def test_the_spline_does_not_overshoot():
    n_asked = np.array([0.0, 1.0, 2.0, 74.0, 75.0])
    losses = np.array([1.0, 0.9, 0.2, 0.19, 0.8])
    values = nhanes.loss_spline(n_asked, losses)(np.linspace(0, 75, 400))
    assert values.min() >= 0.19 - 1e-12
    assert values.max() <= 1 + 1e-12


def test_a_run_measures_curves_by_group_and_by_question_and_an_area_of_every_respondent(results):
    measurements = results[0].measurements
    json.dumps(measurements, allow_nan=False)
    assert measurements["n_variables"] == {"asked": 6, "groups": 3, "labs": 2}
    for measured in measurements["strategies"].values():
        curves, by_size = measured["curves"], measured["by_size"]
        assert len(curves["rmse"]) == 4
        assert len(by_size["rmse"]) == len(by_size["at"]) == nhanes.N_POINTS
        assert by_size["at"][-1] == 6
        assert by_size["rmse"][0] == pytest.approx(curves["rmse"][0], rel=1e-4)
        assert by_size["nll"][-1] == pytest.approx(curves["nll"][-1], rel=1e-4)
        assert len(measured["auic"]["draw_rmse"]) == 9


def test_the_section_has_ranks_tests_and_curves_by_question(results, tmp_path):
    (section,) = nhanes.report_sections(results, tmp_path)
    assert "4.80" in str(section.tables[0].rows)
    assert "p over rows" in str(section.tables[2].rows)
    assert all(figure.path.stat().st_size > 10_000 for figure in section.figures)
    assert "6 questionnaire variables in 3 groups" in section.paragraphs[0]
    by_question = nhanes.with_curves_by_question(results)[0].measurements["strategies"]["eddi"]
    assert len(by_question["curves"]["rmse"]) == 7


def test_a_report_works_with_some_of_the_runs(results, tmp_path):
    (section,) = nhanes.report_sections(results[:3], tmp_path)
    assert "nothing can be ranked" in " ".join(section.paragraphs)
    assert nhanes.report_sections([], tmp_path) == []


def test_the_suite_has_the_numbers_of_the_paper():
    suite = Suite.load("paper-nhanes", quick=False)
    assert len(suite.runs) == 4 * 5
    settings = suite.runs[0].settings
    assert (settings["n_train"], settings["n_test"], settings["max_steps"]) == (8_000, 100, 1_000)
    assert (settings["n_draws"], settings["loss_draws"]) == (10, 10)
    assert find_experiment("nhanes").required_datasets(settings) == ("nhanes_2015_2016",)


@pytest.mark.skipif(not (REAL / "nhanes_2015_2016").is_dir(), reason="needs EDDI_DATA")
def test_the_real_survey_can_be_used_although_some_columns_are_empty():
    survey = nhanes_data.read_survey(REAL / "nhanes_2015_2016")
    settings = {**SETTINGS, "n_train": 300, "n_test": 2, "max_steps": 5, "set_encoder": "pnp"}
    train, _ = nhanes.split(survey, settings)
    model = nhanes.fit(survey, train, settings)
    set_aside = {column.name for column in model.schema_.set_aside}
    assert "MCQ230D" in set_aside
    assert len(model.target_) + len(set_aside & set(survey.labs)) == 139
