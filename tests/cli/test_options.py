"""Options that several commands share."""

import math

from eddi import Stop
from eddi.cli.options import build_stopping_rule, single_or_list


def test_a_single_target_is_a_string_and_several_are_a_list() -> None:
    assert single_or_list(None) is None
    assert single_or_list([]) is None
    assert single_or_list(["risk"]) == "risk"
    assert single_or_list(["risk", "age"]) == ["risk", "age"]


def test_the_stopping_rule_has_the_given_conditions() -> None:
    rule = build_stopping_rule(after=3, budget=5.0, risk=0.1, within=2.0)
    assert rule == Stop(after=3, budget=5.0, risk=0.1, within=2.0)


def test_without_options_the_stopping_rule_has_no_limit() -> None:
    rule = build_stopping_rule(after=None, budget=None, risk=None, within=None)
    assert rule == Stop()
    assert math.isinf(rule.budget)
