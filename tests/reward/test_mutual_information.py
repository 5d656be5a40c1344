"""The reward in the space of the target, by the model's direct beliefs."""

import dataclasses

import numpy as np
import pandas as pd
import pytest
import torch

from eddi import PartialVAE, Schema, Variable
from eddi.errors import StrategyError
from eddi.model.recipe import DEFAULT
from eddi.reward.mutual_information import information
from eddi.strategy import Information
from eddi.table.evidence import Evidence

RECIPE = dataclasses.replace(DEFAULT, objective="direct", draws=1, hidden=(64, 64), term=32)


@pytest.fixture(scope="module")
def direct(people_schema, people):
    model = PartialVAE(people_schema, "stage", recipe=RECIPE, max_steps=200, random_state=0)
    return model.fit(people(300, 0))


@pytest.fixture
def rows(direct, people):
    hidden = np.random.default_rng(1).random((12, 8)) < 0.6
    hidden[:, direct.schema_.position("stage")] = True
    return direct.evidence(people(12, 3)).hide(hidden)


def chances_of(model, evidence, name):
    return torch.from_numpy(model.predict_evidence(evidence, [name])[name].probabilities)


@pytest.mark.parametrize("target", ["stage", "smoker"])
@pytest.mark.parametrize("question", ["smoker", "pain", "town"])
def test_the_reward_of_a_level_is_the_mutual_information_of_the_models_own_beliefs(
    direct, people, target, question
):
    if target == question:
        return
    seen = direct.evidence(people(5, 4)).hide(direct.schema_.positions([target, question]))
    found = information(direct, seen, [target], n_draws=10, seed=0)
    before = chances_of(direct, seen, target)
    answers = chances_of(direct, seen, question)
    position = direct.schema_.position(question)
    expected = torch.zeros(len(seen), dtype=torch.float64)
    for level in range(answers.shape[1]):
        values, observed = seen.values.copy(), seen.observed.copy()
        values[:, position], observed[:, position] = level, True
        after = chances_of(direct, Evidence(values, observed), target)
        expected += answers[:, level] * (after * (after / before).log()).sum(-1)
    place = [each.name for each in direct.schema_.questions].index(question)
    torch.testing.assert_close(found[:, place].double(), expected, rtol=1e-3, atol=1e-5)


def test_no_answer_is_worth_less_than_nothing(direct, rows):
    for target in (["stage"], ["weight"], ["visits"], ["age", "town"]):
        assert (information(direct, rows, target, n_draws=10, seed=0) >= -1e-5).all()


def test_closed_questions_and_the_target_itself_are_worth_nothing(direct, rows):
    found = information(direct, rows, ["weight"], n_draws=10, seed=0)
    closed = rows.observed | rows.observed[:, [5]]
    closed[:, 5] = True
    assert ((found == 0).numpy() == closed).all()


def test_a_row_scores_the_same_alone_and_in_a_batch(direct, rows):
    whole = information(direct, rows, ["stage", "weight"], n_draws=10, seed=0)
    for place in range(3):
        alone = information(direct, rows[place : place + 1], ["stage", "weight"], n_draws=10, seed=0)
        torch.testing.assert_close(alone[0], whole[place], rtol=1e-4, atol=1e-5)


def test_a_quantity_is_met_at_its_atoms_as_at_the_tables_own_values():
    random = np.random.default_rng(0)
    lean = random.normal(size=(400, 1)) + 0.5 * random.normal(size=(400, 3))
    schema = Schema(tuple(Variable(f"x{place}", "real") for place in range(3)))
    model = PartialVAE(schema, "x2", recipe=RECIPE, max_steps=300, random_state=0).fit(lean)
    nothing = Evidence.empty(1, 3)
    (by_atoms,) = information(model, nothing, ["x2"], n_draws=1, seed=0)
    before = model.predict_evidence(nothing, ["x2"])["x2"]
    told = model.predict(np.column_stack([lean[:, 0], np.full((400, 2), np.nan)]), "x2")
    sd, sd2 = told.sd, before.sd[0]
    nats = np.log(sd2 / sd) + 0.5 * ((sd / sd2) ** 2 + ((told.mean - before.mean[0]) / sd2) ** 2 - 1)
    assert float(by_atoms[0]) == pytest.approx(nats.mean(), rel=0.1)


def test_an_answer_that_is_mostly_none_is_not_taken_for_a_normal_one():
    """A rare word tells the class when it comes, a noisy number a little always; each worth its nats."""
    random = np.random.default_rng(0)
    n = 4_000
    spam = random.random(n) < 0.5
    word = np.where(spam & (random.random(n) < 0.4), random.gamma(1.0, size=n), 0.0)
    number = 0.6 * spam + random.normal(size=n)
    words = (Variable("word", "real"), Variable("number", "real"))
    schema = Schema((*words, Variable("spam", "binary", levels=(0, 1))))
    model = PartialVAE(schema, "spam", recipe=RECIPE, max_steps=600, random_state=0)
    model.fit(pd.DataFrame({"word": word, "number": number, "spam": spam.astype(int)}))
    (found,) = information(model, Evidence.empty(1, 3), ["spam"], n_draws=1, seed=0)
    odds = 0.5 / 0.8  # of spam where the word is not there: 0.3 of 0.8 rows
    silent = -(0.375 * np.log(0.375) + 0.625 * np.log(odds))
    assert float(found[0]) == pytest.approx(np.log(2) - 0.8 * silent, rel=0.15)  # 0.164 nats
    assert float(found[1]) == pytest.approx(0.043, abs=0.012)  # by numerical integration


def test_a_question_of_several_variables_is_drawn_jointly(people_schema, people):
    schema = people_schema.with_question("body", reveals=["age", "weight"])
    model = PartialVAE(schema, "stage", recipe=RECIPE, max_steps=100, random_state=0).fit(people(200, 0))
    nothing = Evidence.empty(2, 8)
    found = information(model, nothing, ["stage"], n_draws=32, seed=0)
    place = [each.name for each in schema.questions].index("body")
    assert found[0, place] > 0
    torch.testing.assert_close(found[0], found[1])


def test_information_takes_the_best_reward_the_model_has(direct, people_model, rows):
    best = Information().score(direct, rows, ["stage"])
    torch.testing.assert_close(best, Information(reward="target").score(direct, rows, ["stage"]))
    assert not torch.allclose(best, Information(reward="latent").score(direct, rows, ["stage"]))
    with pytest.raises(StrategyError, match="direct beliefs"):
        Information(reward="target").score(people_model(recipe="paper"), rows, ["stage"])


def test_direct_beliefs_survive_a_file(direct, people, tmp_path):
    import eddi

    direct.save(tmp_path / "direct.eddi")
    again = eddi.load(tmp_path / "direct.eddi")
    ours, theirs = direct.predict(people(6, 2), "weight"), again.predict(people(6, 2), "weight")
    assert np.allclose(ours.mean, theirs.mean)
    assert np.allclose(ours.interval, theirs.interval)


def test_the_first_rewards_are_kept_until_the_model_is_fitted_again(people_schema, people):
    model = PartialVAE(people_schema, "stage", recipe=RECIPE, max_steps=20, random_state=0)
    nothing = Evidence.empty(1, 8)
    first = information(model.fit(people(100, 0)), nothing, ["stage"], n_draws=8, seed=0)
    again = information(model, nothing, ["stage"], n_draws=8, seed=0)
    assert torch.equal(first, again)
    again += 1  # what is handed out is a copy
    assert torch.equal(first, information(model, nothing, ["stage"], n_draws=8, seed=0))
    afresh = information(model.fit(people(100, 1)), nothing, ["stage"], n_draws=8, seed=0)
    assert not torch.allclose(first, afresh)
