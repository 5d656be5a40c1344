"""One order of questions for everybody."""

import pytest
import torch

from eddi.errors import SchemaError, TargetError
from eddi.strategy import FixedOrder, Information, Random

TARGET = ("stage",)


def question_names(model, places):
    return [model.schema.questions[place].name for place in places]


def test_every_row_has_the_same_order(fitted, no_answers):
    scores = FixedOrder(("town", "age")).score(fitted, no_answers(), TARGET)
    assert torch.equal(scores[0], scores[2])
    first_two = scores[0].argsort(descending=True)[:2].tolist()
    assert question_names(fitted, first_two) == ["town", "age"]


def test_questions_that_are_not_named_come_last(fitted, no_answers):
    scores = FixedOrder(("town",)).score(fitted, no_answers(1), TARGET)[0]
    assert (scores > 0).sum() == 1


def test_an_order_may_be_given_as_a_list():
    assert FixedOrder(["a", "b"]) == FixedOrder(("a", "b"))


def test_an_order_of_unknown_questions_is_refused(fitted, no_answers):
    with pytest.raises(SchemaError, match=r"'mood', which is not a question. Questions are: 'age'"):
        FixedOrder(("age", "mood")).score(fitted, no_answers(), TARGET)


def test_an_order_that_names_a_question_twice_is_refused():
    with pytest.raises(SchemaError, match="the fixed order names a question twice: age, town, age"):
        FixedOrder(("age", "town", "age"))


def test_a_learned_order_contains_every_question_except_the_target(model, fitted, people, no_answers):
    order = FixedOrder.learn(model, people(30, seed=3), "stage").order
    assert sorted(order) == sorted(set(fitted.schema.names) - {"stage"})
    best = Information().score(fitted, no_answers(1), TARGET)[0].argmax()
    assert order[0] == question_names(fitted, [best])[0]


def test_a_learned_order_follows_the_given_strategy(model, people):
    expected = FixedOrder(("town", "colour", "age", "pain", "visits", "weight", "smoker"))
    learned = FixedOrder.learn(model, people(5, seed=3), "stage", strategy=expected)
    assert learned == expected


def test_an_order_is_learned_for_the_declared_target_by_default(people_model, people):
    model = people_model(target="stage")
    assert "stage" not in FixedOrder.learn(model, people(5, seed=3), strategy=Random()).order


def test_an_order_can_be_learned_with_the_estimator_or_with_its_fitted_model(model, people):
    table = people(5, seed=3)
    assert FixedOrder.learn(model, table, "stage") == FixedOrder.learn(model.fitted(), table, "stage")


def test_learning_an_order_for_an_unknown_target_is_refused(model, people):
    with pytest.raises(TargetError, match="the target 'mood' is not a variable"):
        FixedOrder.learn(model, people(5, seed=3), "mood")
