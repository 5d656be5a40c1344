"""The lookahead gain of a question, against an enumeration of all pairs of answers by hand."""

import dataclasses

import numpy as np
import pandas as pd
import pytest
import torch

from eddi import PartialVAE, Question, Schema, Variable
from eddi.model.recipe import DEFAULT
from eddi.reward.lookahead import (
    FIRST_QUESTION,
    TwoStepLookahead,
    first_question_gain,
    interview_gain,
    overlooks_question,
)
from eddi.reward.mutual_information import mutual_information
from eddi.reward.reward_context import EnumerationSettings
from eddi.table.evidence import Evidence

RECIPE = dataclasses.replace(DEFAULT, hidden=(64, 64), term=32, identity=16, offset=16, folds=0)
NAMES = ("left", "right", "hint", "noise", "differ")
ANY_GAIN = TwoStepLookahead(
    n_candidates=9,
    min_gain=0.0,
    settings=EnumerationSettings(n_points=2, n_draws=16),
    n_first_draws=16,
)
"""Computes the gain of every question, however small it is."""


def make_bits(n_rows, seed):
    """Whether two fair bits differ, a weak hint at it, and a bit that is independent of it."""
    random = np.random.default_rng(seed)
    left, right, noise = random.integers(2, size=(3, n_rows))
    differ = left ^ right
    hint = np.where(random.random(n_rows) < 0.65, differ, 1 - differ)
    columns = (left, right, hint, noise, differ)
    return pd.DataFrame(dict(zip(NAMES, columns, strict=True)))


SCHEMA = Schema(tuple(Variable(name, "binary", levels=(0, 1)) for name in NAMES))


def fit(schema):
    model = PartialVAE(schema, "differ", recipe=RECIPE, max_steps=600, random_state=0)
    return model.fit(make_bits(2000, 0)).fitted()


@pytest.fixture(scope="module")
def xor():
    return fit(SCHEMA)


def to_evidence(answers):
    return Evidence.of([[answers.get(name, np.nan) for name in NAMES]])


def predict_probabilities(model, answers, name):
    """The model's own prediction of a variable after answers given by name [levels]."""
    return model.predict_evidence(to_evidence(answers), [name])[name].probabilities[0]


def reward_by_hand(model, answers, question):
    probabilities = predict_probabilities(model, answers, question)
    after = np.array(
        [
            predict_probabilities(model, {**answers, question: answer}, "differ")
            for answer in range(len(probabilities))
        ]
    )
    return float(probabilities @ (after * np.log(after / (probabilities @ after))).sum(1))


def gain_by_hand(model, answers, question):
    others = [name for name in NAMES[:-1] if name not in answers and name != question]
    best_other = max(reward_by_hand(model, answers, other) for other in others)
    best_after = sum(
        probability
        * max(reward_by_hand(model, {**answers, question: answer}, other) for other in others)
        for answer, probability in enumerate(predict_probabilities(model, answers, question))
    )
    return best_after - best_other


@pytest.mark.parametrize("answers", [{}, {"noise": 1}, {"hint": 0}])
def test_the_gain_equals_an_enumeration_of_all_pairs_of_answers(xor, answers):
    (gain,) = ANY_GAIN.gain(xor, to_evidence(answers), ["differ"])
    for place, name in enumerate(NAMES[:-1]):
        if name not in answers:
            expected = max(0.0, gain_by_hand(xor, answers, name))
            assert float(gain[place]) == pytest.approx(expected, rel=1e-3, abs=1e-4), name


def test_each_half_of_an_exclusive_or_has_a_gain_and_no_reward(xor):
    no_answers = Evidence.empty(1, 5)
    (rewards,) = mutual_information(xor, no_answers, ["differ"], n_draws=1, seed=0)
    (gain,) = ANY_GAIN.gain(xor, no_answers, ["differ"])
    assert (rewards[:2] < 0.02).all()
    assert (gain[:2] > 0.4).all()
    assert (gain[2:] < 0.05).all()


def test_observed_variables_and_the_target_have_no_gain(xor):
    (gain,) = ANY_GAIN.gain(xor, to_evidence({"left": 1, "noise": 0}), ["differ"])
    assert gain[[0, 3, 4]].tolist() == [0, 0, 0]


def test_min_gain_subtracts_a_share_of_the_information_of_two_greedy_questions(xor):
    no_answers = Evidence.empty(1, 5)
    (any_gain,) = ANY_GAIN.gain(xor, no_answers, ["differ"])
    (gain,) = dataclasses.replace(ANY_GAIN, min_gain=0.5).gain(xor, no_answers, ["differ"])
    greedy = max(NAMES[:-1], key=lambda name: reward_by_hand(xor, {}, name))
    others = [name for name in NAMES[:-1] if name != greedy]
    after = [
        probability * max(reward_by_hand(xor, {greedy: answer}, name) for name in others)
        for answer, probability in enumerate(predict_probabilities(xor, {}, greedy))
    ]
    expected = float(any_gain[0]) - 0.5 * (reward_by_hand(xor, {}, greedy) + sum(after))
    assert greedy == "hint"
    assert float(gain[0]) == pytest.approx(expected, rel=1e-3)


def test_a_question_that_reveals_several_variables_has_a_gain_too():
    model = fit(SCHEMA.with_question("first", reveals=["left", "noise"]))
    names = [question.name for question in model.schema.questions]
    (gain,) = ANY_GAIN.gain(model, Evidence.empty(1, 5), ["differ"])
    # "first" reveals "left", so it and "right" make each other informative.
    assert float(gain[names.index("first")]) == pytest.approx(
        float(gain[names.index("right")]), rel=0.15
    )
    assert gain[names.index("first")] > 0.4


def test_a_row_has_the_same_gain_alone_and_in_a_batch(xor):
    numbers = [[left, np.nan, hint, np.nan, np.nan] for left in (0, 1) for hint in (0, 1)]
    evidence = Evidence.of(numbers * 20)
    lookahead = dataclasses.replace(ANY_GAIN, n_candidates=2)
    in_batch = lookahead.gain(xor, evidence, ["differ"])
    for row in (0, 1, 3, 79):
        alone = lookahead.gain(xor, evidence[row : row + 1], ["differ"])
        torch.testing.assert_close(in_batch[row], alone[0], rtol=1e-3, atol=1e-5)


def test_a_question_that_is_never_asked_gives_no_gain_to_the_question_before_it(xor):
    never = Question("right", ("right",), never=True)
    schema = dataclasses.replace(SCHEMA, explicit_questions=(never,))
    other = dataclasses.replace(xor, schema=schema)
    (gain,) = ANY_GAIN.gain(other, Evidence.empty(1, 5), ["differ"])
    names = [question.name for question in schema.questions]
    assert gain[names.index("left")] < 0.05
    assert gain[names.index("right")] > 0.4  # its answer may be volunteered


def test_only_candidates_have_a_gain(xor):
    no_answers = Evidence.empty(1, 5)
    single_candidate = dataclasses.replace(ANY_GAIN, n_candidates=1)
    (gain_of_one,) = single_candidate.gain(xor, no_answers, ["differ"])
    (gain_of_all,) = ANY_GAIN.gain(xor, no_answers, ["differ"])
    assert gain_of_one[:2].tolist() == [0, 0]  # the hint has the highest reward
    assert (gain_of_all[:2] > 0).all()


def test_more_draws_of_a_first_answer_leave_the_other_gains_unchanged():
    model = fit(SCHEMA.with_question("first", reveals=["left", "noise"]))
    few, many = (
        dataclasses.replace(ANY_GAIN, n_first_draws=n).gain(model, Evidence.empty(1, 5), ["differ"])[0]
        for n in (2, 64)
    )
    torch.testing.assert_close(few[1:], many[1:])  # "right", "hint", "differ" and so on: enumerated
    assert few[0] != many[0]
    assert float(many[0]) == pytest.approx(float(many[1]), rel=0.1)


def test_the_first_question_needs_a_smaller_share_than_later_ones(xor):
    assert FIRST_QUESTION.min_gain < TwoStepLookahead.min_gain
    (gain,) = first_question_gain(xor, ["differ"])[None]
    (later,) = TwoStepLookahead().gain(xor, Evidence.empty(1, 5), ["differ"])
    assert (gain[:2] > later[:2]).all()


def test_the_gain_of_the_first_question_is_computed_once_for_a_model(xor, monkeypatch):
    first = first_question_gain(xor, ["differ"])
    expected = FIRST_QUESTION.gain(xor, Evidence.empty(1, 5), ["differ"])[0]
    assert torch.equal(first, expected)
    monkeypatch.setattr(TwoStepLookahead, "gain", None)
    assert first_question_gain(xor, ["differ"]) is first


def test_an_interview_looks_ahead_until_nothing_depends_on_the_order(xor):
    hinted, half_known = to_evidence({"hint": 1}), to_evidence({"left": 1})
    evidence = Evidence.concatenate([Evidence.empty(1, 5), hinted, half_known])
    gain = interview_gain(xor, evidence, ["differ"])
    assert torch.equal(gain[0], first_question_gain(xor, ["differ"]))
    assert (gain[1, :2] > 0.1).all()  # the halves of the exclusive or
    assert not gain[2].any()


def test_later_questions_have_no_gain_if_none_is_overlooked_or_there_are_many(xor, monkeypatch):
    hinted = to_evidence({"hint": 1})
    monkeypatch.setattr("eddi.reward.lookahead.MAX_LATER_QUESTIONS", 3)
    assert not interview_gain(dataclasses.replace(xor), hinted, ["differ"]).any()  # without its cache
    monkeypatch.setattr("eddi.reward.lookahead.MAX_LATER_QUESTIONS", 4)  # without the target
    assert interview_gain(dataclasses.replace(xor), hinted, ["differ"]).any()
    monkeypatch.setattr("eddi.reward.lookahead.overlooks_question", lambda *_: False)
    assert not interview_gain(xor, hinted, ["differ"]).any()


def test_less_is_subtracted_to_find_an_overlooked_question_than_to_ask_it_first(xor, monkeypatch):
    shares = []

    def record(self, *_):
        shares.append(self.min_gain)
        return torch.ones(1, 5)

    monkeypatch.setattr(TwoStepLookahead, "gain", record)
    fresh = dataclasses.replace(xor)  # without its cache
    overlooks_question(fresh, ["differ"])
    first_question_gain(fresh, ["differ"])
    assert shares[0] < shares[1]


@pytest.mark.parametrize(
    ("gain", "is_overlooked"),
    [
        ([0.3, 0.0, 0.0, 0.0, 0.0], True),  # half of the exclusive or has almost no reward
        ([0.0, 0.0, 0.1, 0.0, 0.0], False),  # the hint has the highest reward
        ([0.0, 0.0, 3.0, 0.0, 0.0], True),  # but far less than this
        ([0.0, 0.0, 0.0, 0.0, 0.0], False),
    ],
)
def test_a_question_is_overlooked_if_it_has_a_gain_and_almost_no_reward(
    xor, gain, is_overlooked, monkeypatch
):
    monkeypatch.setattr(TwoStepLookahead, "gain", lambda *_: torch.tensor([gain]))
    without_cache = dataclasses.replace(xor)
    assert overlooks_question(without_cache, ["differ"]) == is_overlooked


def test_a_question_that_is_never_asked_is_not_overlooked(xor, monkeypatch):
    monkeypatch.setattr(TwoStepLookahead, "gain", lambda *_: torch.tensor([[0.3, 0, 0, 0, 0]]))
    never = Question("left", ("left",), never=True)
    schema = dataclasses.replace(SCHEMA, explicit_questions=(never,))
    names = [question.name for question in schema.questions]
    assert names[0] == "left"
    assert not overlooks_question(dataclasses.replace(xor, schema=schema), ["differ"])


@pytest.fixture(scope="module")
def product():
    """Whether the product of two quantities is above 0, and a third quantity independent of it."""
    random = np.random.default_rng(0)
    table = pd.DataFrame(random.normal(size=(2000, 3)), columns=["a", "b", "c"])
    table["above"] = (table.a * table.b > 0).astype(int)
    model = PartialVAE(target="above", recipe=RECIPE, max_steps=600, random_state=0)
    return model.fit(table).fitted()


def test_a_gain_found_with_few_answers_is_computed_with_all_answers(product):
    evidence = product.evidence(
        pd.DataFrame({"a": [np.nan, 1.2], "b": np.nan, "c": [0.1, np.nan]}), optional=["above"]
    )
    coarse = TwoStepLookahead(min_gain=0.0)
    fine = TwoStepLookahead(min_gain=0.0, settings=EnumerationSettings(n_draws=8))
    found, expected = (lookahead.gain(product, evidence, ["above"]) for lookahead in (coarse, fine))
    has_gain = found > 0
    assert has_gain[0, 0]
    torch.testing.assert_close(found[has_gain], expected[has_gain], rtol=1e-4, atol=1e-5)


def test_an_empty_batch_has_an_empty_gain(xor):
    assert ANY_GAIN.gain(xor, Evidence.empty(0, 5), ["differ"]).shape == (0, 5)
