"""Strategies by name, and the default strategy."""

from dataclasses import replace
from typing import get_args

import pytest

from eddi import Interview, Stop, simulate
from eddi.errors import StrategyError
from eddi.strategy import (
    Balance,
    Explore,
    FixedOrder,
    Information,
    Lasso,
    PerCost,
    Priced,
    Randomesque,
)
from eddi.strategy.names import (
    DESCRIPTIONS,
    StrategyName,
    constrain,
    default_strategy,
    make_strategy,
    name_strategy,
    reseed,
    summarize_strategy,
)
from eddi.strategy.random import Random

TARGET = ("stage",)


@pytest.mark.parametrize("name", get_args(StrategyName))
def test_every_name_makes_a_strategy_that_is_called_so(fitted, name, monkeypatch):
    monkeypatch.setattr("eddi.strategy.fixed_order.N_DRAWN_ROWS", 4)
    strategy = make_strategy(name, fitted, TARGET)
    assert name_strategy(strategy) == name
    assert summarize_strategy(strategy) == DESCRIPTIONS[name]
    assert Interview(fitted, "stage", strategy=strategy).ask() is not None


def test_an_unknown_name_is_refused(fitted):
    with pytest.raises(
        StrategyError, match=r"there is no strategy 'best'. Choose one of: information, "
    ):
        make_strategy("best", fitted, TARGET)


def test_a_strategy_without_a_name_is_called_by_its_class():
    assert name_strategy(Lasso(("age",))) == summarize_strategy(Lasso(("age",))) == "Lasso"
    assert name_strategy(Priced(Information(), 0.1)) == "Priced"


def test_equal_costs_need_no_division(fitted):
    assert default_strategy(fitted, TARGET) == make_strategy("", fitted, TARGET) == Information()


def test_different_costs_are_considered_by_default(fitted):
    priced = replace(fitted, schema=fitted.schema.with_question("age", cost=3))
    assert default_strategy(priced, TARGET) == PerCost(Information())
    assert Interview(priced, "stage").rules.strategy == PerCost(Information())


def test_the_cost_of_the_target_does_not_count(fitted):
    priced = replace(fitted, schema=fitted.schema.with_question("stage", cost=3))
    assert default_strategy(priced, TARGET) == Information()


def test_an_expensive_question_is_asked_later(fitted, people):
    first = Interview(fitted, "stage").ask().name
    priced = replace(fitted, schema=fitted.schema.with_question(first, cost=100))
    assert Interview(priced, "stage").ask().name != first
    curves = simulate(priced, people(20, 3, missing=0.0), "stage", max_steps=2)
    assert first not in {curves.questions[place] for place in curves.order.flat}


def test_rewards_are_not_divided_by_costs(fitted):
    priced = replace(fitted, schema=fitted.schema.with_question("age", cost=100))
    assert Interview(priced, "stage").rewards() == Interview(fitted, "stage").rewards()


def test_the_smallest_reward_is_not_divided_by_costs(fitted):
    questions = fitted.schema.questions
    schema = fitted.schema
    for question in questions:
        schema = schema.with_question(question.name, cost=50 if question.name != "age" else 60)
    priced = replace(fitted, schema=schema)
    highest = max(Interview(fitted, "stage").rewards().values())
    assert Interview(priced, "stage", stop=Stop(reward_below=0.9 * highest)).ask() is not None


def test_an_order_is_learned_without_a_table(fitted, monkeypatch):
    monkeypatch.setattr("eddi.strategy.fixed_order.N_DRAWN_ROWS", 16)
    order = FixedOrder.learn(fitted, target="stage").order
    assert set(order) == {q.name for q in fitted.schema.questions} - {"stage"}


def test_only_a_strategy_with_a_seed_is_reseeded():
    assert reseed(Random(), 3) == Random(3)
    assert reseed(Information(), 3) == Information()


def test_constraints_wrap_a_strategy():
    constrained = constrain(Information(), n_best=3, shares={"mood": 0.5})
    assert constrained == Balance(Randomesque(Information(), k=3), {"mood": 0.5})
    assert constrain(Information()) == Information()


def test_drawing_from_the_best_questions_replaces_other_exploration():
    assert constrain(Explore(Information()), n_best=2) == Randomesque(Information(), k=2)
