"""Weights of logged interviews: their mean over everything that might have been asked is 1."""

import itertools
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from eddi.evaluate.off_policy.logged_interviews import LoggedInterviews
from eddi.evaluate.off_policy.weights import weigh_sequences, weigh_sets
from eddi.interview.next_step import NextSteps
from eddi.interview.rules import InterviewRules
from eddi.strategy import Explore, Information
from eddi.strategy.stopping import Stop

N_QUESTIONS = 3


@pytest.fixture(scope="module")
def all_sequences(rules: InterviewRules, draw_people: Any) -> tuple[LoggedInterviews, Any]:
    """Every interview of three questions with one person, and its probability."""
    policy = replace(rules, strategy=Explore(rules.strategy, 0.3), stop=Stop(after=N_QUESTIONS))
    questions = np.flatnonzero(policy.askable)
    order = np.array(list(itertools.permutations(questions, N_QUESTIONS)))
    numbers = np.repeat(draw_people(1, 5), len(order), axis=0)
    nothing, chances = np.zeros(numbers.shape, dtype=bool), np.ones(order.shape)
    which = np.zeros(len(order), dtype=np.int64)
    schema = policy.model.schema
    logged = LoggedInterviews(schema, numbers, order, chances, nothing, nothing, (policy,), which)
    for step in range(N_QUESTIONS):
        asked = (order[:, :step, None] == np.arange(len(schema.questions))).any(1)
        states = replace(logged.states(policy.model, asked), uniform=np.zeros(len(order)))
        probabilities = NextSteps(policy, states).probabilities
        chances[:, step] = probabilities[np.arange(len(order)), order[:, step]]
    return logged, chances.prod(1)


def ask_same(logged: LoggedInterviews, *questions: int) -> Any:
    return np.tile(np.array(questions), (len(logged), 1))


def test_the_probabilities_of_all_interviews_sum_to_one(all_sequences: Any) -> None:
    assert all_sequences[1].sum() == pytest.approx(1.0)


@pytest.mark.parametrize("weigh", [weigh_sequences, weigh_sets])
def test_the_expected_weight_of_what_the_rules_ask_is_one(all_sequences: Any, weigh: Any) -> None:
    logged, probabilities = all_sequences
    weights = weigh(logged, ask_same(logged, 4, 1))
    np.testing.assert_allclose(probabilities @ weights, [1, 1, 1], rtol=1e-6)


def test_weights_by_set_vary_less_than_weights_by_order(all_sequences: Any) -> None:
    logged, probabilities = all_sequences
    asked = ask_same(logged, 4, 3)  # which the rules rarely ask
    by_order, by_set = weigh_sequences(logged, asked)[:, -1], weigh_sets(logged, asked)[:, -1]
    assert probabilities @ by_set**2 < 0.2 * (probabilities @ by_order**2)


def test_interviews_with_the_same_answers_have_the_same_weight(all_sequences: Any) -> None:
    logged, _ = all_sequences
    weights = weigh_sets(logged, ask_same(logged, 4, 1))[:, -1]
    is_same = (np.sort(logged.order, axis=1) == [1, 3, 4]).all(1)
    assert is_same.sum() == 6
    np.testing.assert_allclose(weights[is_same], weights[is_same][0])


def test_an_answer_that_the_log_does_not_have_gives_weight_zero(all_sequences: Any) -> None:
    logged, _ = all_sequences
    lacks = ~(logged.order == 4).any(1)
    weights = weigh_sets(logged, ask_same(logged, 1, 4))
    assert (weights[lacks, -1] == 0).all()
    assert (weights[~lacks & (logged.order == 1).any(1), -1] > 0).all()


def test_a_long_interview_is_weighted_by_its_order(
    all_sequences: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("eddi.evaluate.off_policy.weights.MAX_SET", 2)
    logged, _ = all_sequences
    asked = ask_same(logged, 4, 1)
    np.testing.assert_array_equal(weigh_sets(logged, asked), weigh_sequences(logged, asked))


def log_in_order(
    rules: InterviewRules, numbers: Any, order: list[int], explore: Explore
) -> LoggedInterviews:
    """Interviews in which these questions were asked."""
    policy = replace(rules, strategy=explore)
    orders = np.tile(np.array(order), (len(numbers), 1))
    nothing, which = np.zeros(numbers.shape, dtype=bool), np.zeros(len(numbers), dtype=np.int64)
    chances = np.full(orders.shape, 0.2)
    schema = policy.model.schema
    return LoggedInterviews(schema, numbers, orders, chances, nothing, nothing, (policy,), which)


@pytest.mark.parametrize("max_set", [0, 8])  # longer interviews are weighted by their order
def test_interviews_that_ask_everything_have_equal_weights(
    rules: InterviewRules, draw_people: Any, monkeypatch: pytest.MonkeyPatch, max_set: int
) -> None:
    monkeypatch.setattr("eddi.evaluate.off_policy.weights.MAX_SET", max_set)
    explore = Explore(rules.strategy, min_answers=np.inf)
    questions = np.flatnonzero(rules.askable).tolist()
    logged = log_in_order(rules, draw_people(2, 5), questions[::-1], explore)
    asked = np.array([[*questions[:2], -1], [questions[2], *questions[:2]]])
    np.testing.assert_allclose(weigh_sets(logged, asked), 1.0, rtol=1e-6)


@pytest.mark.parametrize("explores_all", [False, True])
def test_an_incomplete_interview_is_weighted_by_its_order(
    rules: InterviewRules, draw_people: Any, monkeypatch: pytest.MonkeyPatch, explores_all: bool
) -> None:
    monkeypatch.setattr("eddi.evaluate.off_policy.weights.MAX_SET", 0)
    explore = Explore(rules.strategy, min_answers=np.inf if explores_all else 0)
    first, second, *others = np.flatnonzero(rules.askable).tolist()
    order = [second, first] if explores_all else [second, first, *others]
    logged = log_in_order(rules, draw_people(2, 5), order, explore)
    weights = weigh_sets(logged, ask_same(logged, first, second))
    np.testing.assert_array_equal(weights, [[1, 0, 0]] * 2)


def test_questions_that_overlap_do_not_always_ask_everything(
    with_schema: Any, people_schema: Any
) -> None:
    body = people_schema.with_question("body", reveals=["age", "weight"])
    explore = Explore(Information(), min_answers=np.inf)
    rules = InterviewRules(with_schema(body).fitted(), ("stage",), explore, Stop(after=1))
    assert rules.explores_all  # it replaces both of them
    overlapping = with_schema(body.with_question("age"))
    rules = replace(rules, model=overlapping.fitted())
    assert not rules.explores_all


def test_a_set_that_the_policy_never_asks_is_weighted_by_its_order(
    rules: InterviewRules, draw_people: Any
) -> None:
    first, second, *_ = np.flatnonzero(rules.askable).tolist()
    policy = replace(rules, stop=Stop(after=1))
    logged = log_in_order(policy, draw_people(2, 5), [second, first], Explore(rules.strategy, 0.3))
    asked = ask_same(logged, second, first)
    np.testing.assert_array_equal(weigh_sets(logged, asked), weigh_sequences(logged, asked))
