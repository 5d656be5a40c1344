"""Options that several commands share."""

from inspect import signature
from typing import get_args

import pytest

from eddi import Stop
from eddi.cli.options import (
    OPTION_NAMES,
    InterviewOptions,
    StrategyChoice,
    UnknownRule,
    single_or_list,
    with_interview_options,
)
from eddi.service.settings import RULES, Settings
from eddi.strategy import Information, PerCost
from eddi.strategy.names import StrategyName
from eddi.table.mismatches import Unknown


def test_a_single_target_is_a_string_and_several_are_a_list() -> None:
    assert single_or_list(None) is None
    assert single_or_list([]) is None
    assert single_or_list(["risk"]) == "risk"
    assert single_or_list(["risk", "age"]) == ["risk", "age"]


def test_every_condition_of_a_stopping_rule_is_an_option_and_a_setting() -> None:
    conditions = set(signature(Stop).parameters)
    assert set(OPTION_NAMES) - {"target", "strategy"} == conditions
    assert set(RULES) == conditions


def test_names_are_those_of_the_library() -> None:
    assert tuple(StrategyChoice) == get_args(StrategyName)
    assert tuple(UnknownRule) == get_args(Unknown)
    assert get_args(Settings.model_fields["strategy"].annotation) == ("", *get_args(StrategyName))


def test_the_stopping_rule_has_the_given_conditions(model) -> None:
    options = InterviewOptions(after=3, budget=5.0, risk=0.1, within=2.0, confidence=0.9)
    assert options.build_stop(model.fitted()) == Stop(
        after=3, budget=5.0, risk=0.1, within=2.0, confidence=0.9
    )


def test_options_take_precedence_over_the_stopping_rule_of_the_schema(with_schema, people_schema):
    from dataclasses import replace

    model = with_schema(replace(people_schema, stop={"after": 5, "budget": 9}))
    assert InterviewOptions(after=3).build_stop(model.fitted()) == Stop(after=3, budget=9)


def test_the_default_strategy_depends_on_the_costs(model, body_model) -> None:
    options = InterviewOptions(target=["stage"])
    assert options.build_strategy(model.fitted()) == Information()
    assert options.build_strategy(body_model.fitted()) == PerCost(Information())


def test_a_command_receives_its_shared_options_as_one_object() -> None:
    received = []

    @with_interview_options
    def command(path: str, *, options: InterviewOptions, n: int = 2) -> None:
        received.append((path, options, n))

    assert list(signature(command).parameters) == ["path", *OPTION_NAMES, "n"]
    command(path="x", after=3, target=["age"], n=4)
    assert received == [("x", InterviewOptions(target=["age"], after=3), 4)]


@pytest.mark.parametrize("command", ["ask", "interview", "serve", "simulate"])
def test_every_command_that_holds_interviews_has_the_shared_options(command) -> None:
    import importlib

    function = getattr(importlib.import_module(f"eddi.cli.{command}"), command)
    assert set(OPTION_NAMES) <= set(signature(function).parameters)
