"""Selection of variables: predictions of a target ignore what does not improve them."""

from dataclasses import replace

import numpy as np
import pytest
import torch

from eddi import Interview, PartialVAE, load, simulate
from eddi.model.files.model_card import model_card
from eddi.model.recipe import DEFAULT
from eddi.model.training.folds import selection
from eddi.model.training.folds.selection import MAX_SELECTION_ROWS
from eddi.strategy import Information, Lookahead

SMALL = replace(DEFAULT, latent=4, identity=4, term=16, hidden=(16, 16), batch_size=16, folds=3)
NOISE = tuple(f"noise{place}" for place in range(6))

pytestmark = pytest.mark.usefixtures("short_rounds")


def draw_table(n_rows=50, seed=0, target=None):
    """A target that follows from one variable, and six variables that have nothing to do with it."""
    random = np.random.default_rng(seed)
    x = random.normal(size=n_rows)
    y = x + 0.3 * random.normal(size=n_rows) if target is None else target(x)
    noise = {name: random.normal(size=n_rows) for name in NOISE}
    return {"x": x, **noise, "copy": noise[NOISE[0]] + 0.1 * random.normal(size=n_rows), "y": y}


def fit(table, **settings):
    settings = {"recipe": SMALL, "target": "y", "max_steps": 60, "random_state": 0, **settings}
    return PartialVAE(**settings).fit(table)


def read(model, rows):
    """Rows with some of the columns."""
    return model.evidence(rows, optional=model.schema.names)


@pytest.fixture(scope="module")
def model():
    return fit(draw_table())


@pytest.fixture(scope="module")
def ignoring():
    """A model whose predictions of y ignore the first two noise variables, whatever the folds say."""
    fitted = fit(draw_table(), max_steps=20).fitted()
    return replace(fitted, ignored_variables={"y": NOISE[:2]})


def test_variables_that_do_not_improve_predictions_are_ignored(model):
    ignored = model.ignored_variables_["y"]
    assert "x" not in ignored
    assert len(set(ignored) & {*NOISE, "copy"}) >= 3


@pytest.mark.parametrize("target", [lambda x: np.where(x > 0, "yes", "no"), None])
def test_the_only_informative_variable_is_always_used(target):
    assert "x" not in fit(draw_table(seed=1, target=target)).ignored_variables_.get("y", ())


@pytest.mark.parametrize(("score_without", "expected"), [(1.0, [4, 7]), (-1.0, [])])
def test_one_variable_is_always_used_and_nothing_is_ignored_unless_that_is_better(
    monkeypatch, score_without, expected
):
    gains = torch.tensor([[-1.0, -0.1, -1.0], [-1.1, -0.2, -1.2]]).repeat(10, 1)
    scores = {True: score_without, False: 0.0}
    monkeypatch.setattr(selection, "_gains", lambda *_: gains)
    monkeypatch.setattr(selection, "_mean_score", lambda _, __, ignored: scores[bool(ignored)])
    assert selection.find_ignored_variables([None], 0, [4, 5, 7]) == expected


def test_copies_of_the_only_informative_variable_are_not_all_ignored():
    table = draw_table()
    random = np.random.default_rng(4)
    copies = {f"copy{n}": table["x"] + 0.2 * random.normal(size=50) for n in range(6)}
    ignored = fit({**copies, **table}).ignored_variables_.get("y", ())
    assert not {"x", *copies} <= set(ignored)


def test_targets_alone_ignore_nothing():
    table = {"x": draw_table()["x"], "y": draw_table()["y"]}
    assert fit(table, target=["x", "y"], max_steps=20).ignored_variables_ == {}


@pytest.mark.parametrize(
    "settings",
    [{"target": None}, {"recipe": "paper"}, {"prior_rows": 20}],
    ids=["no target", "paper", "beliefs"],
)
def test_all_variables_are_used_without_a_target_with_the_paper_s_recipe_and_with_beliefs(settings):
    assert fit(draw_table(), max_steps=20, **settings).ignored_variables_ == {}


def test_all_variables_are_used_if_there_are_enough_rows():
    assert fit(draw_table(MAX_SELECTION_ROWS), max_steps=20).ignored_variables_ == {}


def test_a_variable_with_hardly_any_values_is_not_judged():
    table = draw_table()
    table[NOISE[0]][5:] = np.nan
    assert NOISE[0] not in fit(table).ignored_variables_.get("y", ())


def test_an_ignored_answer_changes_no_prediction_of_the_target(ignoring):
    rows = {"x": [0.5, 0.5], NOISE[0]: [-1.0, 1.0]}
    both = read(ignoring, {**rows, NOISE[2]: [0.0, 0.0]})
    prediction = ignoring.predict_evidence(both, ["y"])["y"]
    assert prediction.mean[0] == pytest.approx(prediction.mean[1])
    assert prediction.sd[0] == pytest.approx(prediction.sd[1])


def test_an_ignored_answer_still_predicts_other_variables(ignoring):
    rows = read(ignoring, {NOISE[0]: [-1.0, 1.0]})
    predictions = ignoring.predict_evidence(rows, ["y", "copy"])
    assert predictions["copy"].mean[0] + 1 < predictions["copy"].mean[1]
    assert predictions["y"].mean[0] == pytest.approx(predictions["y"].mean[1])


def test_imputed_values_and_densities_of_the_target_agree_with_its_predictions(ignoring):
    evidence = read(ignoring, {"x": [0.5, -1.0], NOISE[0]: [-1.0, 1.0]})
    place = ignoring.schema.position("y")
    expected = ignoring.predict_evidence(evidence, ["y"])["y"].mean
    np.testing.assert_allclose(ignoring.best_guesses(evidence)[:, place], expected, rtol=1e-5)
    without = evidence.hide(ignoring.schema.positions(NOISE[:2]))
    truth = read(ignoring, {"y": [0.0, 0.0]})
    densities = [ignoring.log_prob(rows, truth)[:, place] for rows in (evidence, without)]
    np.testing.assert_allclose(*densities, rtol=1e-5)


@pytest.mark.parametrize(
    "strategy",
    [Information(), Information(reward="latent"), Lookahead()],
    ids=["information", "latent", "lookahead"],
)
@pytest.mark.parametrize("n_rows", [1, 3])
def test_a_question_about_an_ignored_variable_has_no_score(ignoring, strategy, n_rows):
    evidence = read(ignoring, {"x": [0.5] * n_rows, NOISE[0]: [2.0] * n_rows})
    scores = strategy.score(ignoring, evidence, ["y"])
    names = [question.name for question in ignoring.schema.questions]
    assert (scores[:, names.index(NOISE[1])] == 0).all()
    assert (scores[:, names.index(NOISE[2])] > 0).all()


def test_rewards_about_two_targets_ignore_what_each_of_them_ignores(ignoring):
    evidence = read(ignoring, {"x": [0.5, -0.5], NOISE[0]: [2.0, 2.0]})
    both, first, second = (
        Information().score(ignoring, evidence, target) for target in (["y", "copy"], ["y"], ["copy"])
    )
    asked = [question.name for question in ignoring.schema.questions].index(NOISE[3])
    torch.testing.assert_close(both[:, asked], first[:, asked] + second[:, asked])


def test_drawn_values_of_the_target_do_not_depend_on_ignored_answers(ignoring):
    known = {"x": [0.5], "copy": [0.0], **{name: [0.0] for name in NOISE[2:]}}
    rows = [{**known, NOISE[0]: [value]} for value in (-2.0, 2.0)]
    place = ignoring.schema.position("y")
    low, high = (ignoring.draw_tables(read(ignoring, row), 20, seed=0)[:, 0] for row in rows)
    np.testing.assert_allclose(low[:, place], high[:, place], rtol=1e-5)
    assert np.ptp(low[:, place]) > 0.1


def test_targets_that_ignore_variables_are_drawn_together(ignoring):
    both = replace(ignoring, target=("x", "y"), ignored_variables={"x": NOISE[:1], "y": NOISE[:2]})
    row = read(both, {"copy": [0.0]})
    drawn = both.draw_tables(row, 400, seed=0)[:, 0]
    x, y = (drawn[:, both.schema.position(name)] for name in ("x", "y"))
    assert np.corrcoef(x, y)[0, 1] > 0.8
    assert x.std() == pytest.approx(both.predict_evidence(row, ["x"])["x"].sd[0], rel=0.15)


def test_an_interview_asks_ignored_variables_last(ignoring):
    curves = simulate(ignoring, draw_table(5, seed=2), "y")
    asked = np.array(curves.questions)[curves.order]
    assert {*asked[:, -2:].flatten()} == {*NOISE[:2]}
    np.testing.assert_allclose(curves.mean[:, -3:], curves.mean[:, [-1] * 3], rtol=1e-5)


def test_a_file_keeps_what_is_ignored(model, tmp_path):
    model.save(tmp_path / "m.eddi")
    again = load(tmp_path / "m.eddi")
    assert again.ignored_variables_ == model.ignored_variables_
    first, second = Interview(model), Interview(again)
    assert first.ask().name == second.ask().name


def test_the_model_card_names_ignored_variables(ignoring):
    assert f"- Predictions of y ignore {NOISE[0]}, {NOISE[1]}\n" in model_card(ignoring)
