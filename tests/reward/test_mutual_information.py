"""The reward in target space: mutual information under the model's marginal predictions."""

import dataclasses
import gc
import weakref

import numpy as np
import pandas as pd
import pytest
import torch

import eddi
from eddi import PartialVAE, Schema, Variable
from eddi.model.inference.traced import N_CHECKED_CALLS, N_PLAIN_CALLS
from eddi.model.network.atoms import N_ATOMS
from eddi.model.recipe import DEFAULT
from eddi.reward.mutual_information import mutual_information
from eddi.table.evidence import Evidence

RECIPE = dataclasses.replace(DEFAULT, objective="direct", draws=1, hidden=(64, 64), term=32, folds=0)


@pytest.fixture(scope="module")
def estimator(people_schema, people):
    """A small model with marginal predictions."""
    model = PartialVAE(people_schema, "stage", recipe=RECIPE, max_steps=200, random_state=0)
    return model.fit(people(300, 0))


@pytest.fixture(scope="module")
def fitted(estimator):
    return estimator.fitted()


@pytest.fixture
def rows(fitted, people):
    """Partially observed rows without a target value."""
    hidden = np.random.default_rng(1).random((12, 8)) < 0.6
    hidden[:, fitted.schema.position("stage")] = True
    return fitted.evidence(people(12, 3)).hide(hidden)


def predict_probabilities(model, evidence, name):
    return torch.from_numpy(model.predict_evidence(evidence, [name])[name].probabilities)


@pytest.mark.parametrize(
    ("target", "question"),
    [("stage", "smoker"), ("stage", "pain"), ("stage", "town"), ("smoker", "pain"), ("smoker", "town")],
)
def test_the_reward_of_a_variable_with_levels_is_the_mutual_information_of_the_predictions(
    fitted, people, target, question
):
    evidence = fitted.evidence(people(5, 4)).hide(fitted.schema.positions([target, question]))
    rewards = mutual_information(fitted, evidence, [target], n_draws=10, seed=0)
    pairs = ((question, target), (target, question))
    expected = sum(information_after(fitted, evidence, *pair) for pair in pairs) / 2
    place = [q.name for q in fitted.schema.questions].index(question)
    torch.testing.assert_close(rewards[:, place].double(), expected, rtol=1e-3, atol=1e-5)


def information_after(model, evidence, known, predicted):
    """Mutual information if ``known`` is observed and the other one predicted [rows]."""
    answers = predict_probabilities(model, evidence, known)
    position = model.schema.position(known)
    predictions = []
    for level in range(answers.shape[1]):
        values, observed = evidence.values.copy(), evidence.observed.copy()
        values[:, position], observed[:, position] = level, True
        predictions.append(predict_probabilities(model, Evidence(values, observed), predicted))
    joint = answers[..., None] * torch.stack(predictions, dim=1)  # [rows, known, predicted]
    independent = joint.sum(1, keepdim=True) * joint.sum(2, keepdim=True)
    return (joint * (joint / independent).log()).sum((1, 2))


def test_no_reward_is_negative(fitted, rows):
    for target in (["stage"], ["weight"], ["visits"], ["age", "town"]):
        assert (mutual_information(fitted, rows, target, n_draws=10, seed=0) >= -1e-5).all()


def test_closed_questions_and_the_target_have_no_reward(fitted, rows):
    rewards = mutual_information(fitted, rows, ["weight"], n_draws=10, seed=0)
    closed = rows.observed | rows.observed[:, [5]]
    closed[:, 5] = True
    assert ((rewards == 0).numpy() == closed).all()


def test_a_row_has_the_same_rewards_alone_and_in_a_batch(fitted, rows):
    target = ["stage", "weight"]
    in_batch = mutual_information(fitted, rows, target, n_draws=10, seed=0)
    for row in range(3):
        alone = mutual_information(fitted, rows[row : row + 1], target, n_draws=10, seed=0)
        torch.testing.assert_close(alone[0], in_batch[row], rtol=1e-4, atol=1e-5)


def test_enumerating_the_atoms_of_a_quantity_agrees_with_averaging_over_the_tables_values():
    random = np.random.default_rng(0)
    table = random.normal(size=(400, 1)) + 0.5 * random.normal(size=(400, 3))
    schema = Schema(tuple(Variable(f"x{place}", "real") for place in range(3)))
    model = PartialVAE(schema, "x2", recipe=RECIPE, max_steps=300, random_state=0).fit(table)
    no_answers = Evidence.empty(1, 3)
    (rewards,) = mutual_information(model.fitted(), no_answers, ["x2"], n_draws=1, seed=0)
    after = model.predict(np.column_stack([table[:, 0], np.full((400, 2), np.nan)]), "x2")
    mixture_variance = np.mean(after.sd**2) + np.var(after.mean)
    nats = 0.5 * np.log(mixture_variance) - np.log(after.sd).mean()
    assert float(rewards[0]) == pytest.approx(nats, rel=0.1)


def test_a_quantity_that_is_mostly_zero_is_not_treated_as_normal():
    """A rare word reveals the class if it occurs; a noisy number is a little informative throughout."""
    random = np.random.default_rng(0)
    n = 4_000
    spam = random.random(n) < 0.5
    word = np.where(spam & (random.random(n) < 0.4), random.gamma(1.0, size=n), 0.0)
    number = 0.6 * spam + random.normal(size=n)
    quantities = (Variable("word", "real"), Variable("number", "real"))
    schema = Schema((*quantities, Variable("spam", "binary", levels=(0, 1))))
    # PNP needs half the steps of the default encoder, which starts from a linear prediction.
    model = PartialVAE(schema, "spam", recipe=RECIPE, set_encoder="pnp", max_steps=600, random_state=0)
    model.fit(pd.DataFrame({"word": word, "number": number, "spam": spam.astype(int)}))
    (rewards,) = mutual_information(model.fitted(), Evidence.empty(1, 3), ["spam"], n_draws=1, seed=0)
    # The word is absent in 0.8 of the rows; 0.3 / 0.8 of those are spam.
    entropy_if_absent = -(0.375 * np.log(0.375) + 0.625 * np.log(0.625))
    assert float(rewards[0]) == pytest.approx(np.log(2) - 0.8 * entropy_if_absent, rel=0.15)  # 0.164
    assert float(rewards[1]) == pytest.approx(0.043, abs=0.012)  # by numerical integration


def test_a_question_that_reveals_several_variables_has_the_same_reward_for_equal_rows(
    people_schema, people
):
    schema = people_schema.with_question("body", reveals=["age", "weight"])
    model = PartialVAE(schema, "stage", recipe=RECIPE, max_steps=100, random_state=0).fit(people(200, 0))
    rewards = mutual_information(model.fitted(), Evidence.empty(2, 8), ["stage"], n_draws=32, seed=0)
    place = [question.name for question in schema.questions].index("body")
    assert rewards[0, place] > 0
    torch.testing.assert_close(rewards[0], rewards[1])


def test_marginal_predictions_are_the_same_after_loading_a_file(estimator, people, tmp_path):
    estimator.save(tmp_path / "people.eddi")
    loaded = eddi.load(tmp_path / "people.eddi")
    saved, read = (model.predict(people(6, 2), "weight") for model in (estimator, loaded))
    assert np.allclose(saved.mean, read.mean)
    assert np.allclose(saved.interval, read.interval)


def test_the_first_rewards_are_cached_until_the_model_is_fitted_again(people_schema, people):
    model = PartialVAE(people_schema, "stage", recipe=RECIPE, max_steps=20, random_state=0)

    def first_rewards():
        return mutual_information(model.fitted(), Evidence.empty(1, 8), ["stage"], n_draws=8, seed=0)

    model.fit(people(100, 0))
    first, second = first_rewards(), first_rewards()
    assert torch.equal(first, second)
    second += 1  # a caller gets a copy of the cached rewards
    assert torch.equal(first, first_rewards())
    model.fit(people(100, 1))
    assert not torch.allclose(first, first_rewards())


@pytest.mark.parametrize("target", ["age", "visits", "smoker", "stage", "town"])
def test_rewards_of_one_row_are_traced_and_stay_the_same(fitted, people, target):
    position, n_calls = fitted.schema.position(target), 2 * (N_PLAIN_CALLS + N_CHECKED_CALLS)
    hidden = np.random.default_rng(1).random((40, 8)) < 0.6
    hidden[:, position] = True
    rows = fitted.evidence(people(40, 3)).hide(hidden)
    together = mutual_information(fitted, rows, [target], n_draws=10, seed=0)
    for number in range(n_calls):
        mutual_information(fitted, rows[[number % 40]], [target], n_draws=10, seed=0)
    traced = fitted.cache.get(("row_rewards", (position,), N_ATOMS), lambda: pytest.fail("no trace"))
    assert traced.is_traced
    alone = [mutual_information(fitted, rows[[k]], [target], n_draws=10, seed=0) for k in range(40)]
    # The divergence of counts is a sum over quantiles, and a rounding error may move one to the next number.
    rtol = 5e-3 if target == "visits" else 1e-4
    torch.testing.assert_close(torch.cat(alone), together, rtol=rtol, atol=1e-6)


def test_predictions_use_the_encoding_that_the_rewards_of_one_row_needed(fitted, rows, monkeypatch):
    row = rows[[0]]
    expected = fitted.frozen.encode(fitted.code(row))
    mutual_information(fitted, row, ["stage"], n_draws=10, seed=0)
    monkeypatch.setattr(type(fitted.frozen), "encode_inputs", lambda *_: pytest.fail("encoded again"))
    remembered = fitted.encode(row)
    for found, tensor in zip(remembered.tensors(), expected.tensors(), strict=True):
        torch.testing.assert_close(found, tensor)


def test_rewards_that_take_several_batches_are_not_traced(fitted, rows, monkeypatch):
    together = mutual_information(fitted, rows, ["stage"], n_draws=10, seed=0)
    monkeypatch.setattr("eddi.reward.mutual_information.BATCH_ANSWERS", 4)
    other = dataclasses.replace(fitted)  # without cached results
    alone = [mutual_information(other, rows[[k]], ["stage"], n_draws=10, seed=0) for k in range(12)]
    position = fitted.schema.position("stage")
    assert other.cache.get(("row_rewards", (position,), N_ATOMS), lambda: "nothing") is None
    torch.testing.assert_close(torch.cat(alone), together, rtol=1e-4, atol=1e-6)


def test_a_model_with_traced_rewards_is_freed_without_garbage_collection(fitted, rows):
    model = dataclasses.replace(fitted)
    for _ in range(N_PLAIN_CALLS + N_CHECKED_CALLS):
        mutual_information(model, rows[[0]], ["stage"], n_draws=10, seed=0)
    freed = weakref.ref(model)
    gc.disable()
    try:
        del model
        assert freed() is None
    finally:
        gc.enable()
