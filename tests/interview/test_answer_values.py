"""The values of an answer are assigned to the variables of the question."""

import pandas as pd
import pytest

from eddi import DECLINED, UNKNOWN, Variable
from eddi.errors import AnswerError
from eddi.interview.answer_values import assign_values
from eddi.table.cells.multi_select import OptionSource

AGE = Variable("age", "real", missing=(-99,), declined=("refused",))
WEIGHT = Variable("weight", "real")
TOOLS = [
    Variable(
        f"tools: {option}",
        "binary",
        ("no", "yes"),
        missing=("unknown",),
        declined=("refused",),
        source=OptionSource("tools", option),
    )
    for option in ("Excel", "R")
]


def assign(variables, *values, answered=()):
    """The values by variable of an answer to the question "q"."""
    return assign_values("q", variables, values, answered=set(answered))


def test_values_are_given_in_order_or_by_name():
    expected = {"age": 61, "weight": 80}
    assert assign([AGE, WEIGHT], 61, 80) == expected
    assert assign([AGE, WEIGHT], {"weight": 80, "age": 61}) == expected


def test_a_mapping_may_leave_variables_out():
    assert assign([AGE, WEIGHT], {"age": 61}) == {"age": 61, "weight": UNKNOWN}
    assert assign([AGE, WEIGHT], {"age": 61}, answered=["weight"]) == {"age": 61}


@pytest.mark.parametrize("value", [UNKNOWN, None, float("nan"), pd.NA])
def test_a_missing_value_stands_for_all_variables(value):
    assert assign([AGE, WEIGHT], value) == {"age": UNKNOWN, "weight": UNKNOWN}


@pytest.mark.parametrize(
    ("value", "expected"), [(-99, UNKNOWN), ("-99", UNKNOWN), ("Refused", DECLINED), (None, UNKNOWN)]
)
def test_codes_and_missing_values_are_no_answers(value, expected):
    assert assign([AGE, WEIGHT], value, 80) == {"age": expected, "weight": 80}
    assert assign([AGE, WEIGHT], {"age": value, "weight": 80}) == {"age": expected, "weight": 80}


@pytest.mark.parametrize("answer", ["R", " r ", ["R"], {"R"}, {"tools: Excel": "no", "tools: R": "yes"}])
def test_options_are_listed(answer):
    assert assign(TOOLS, answer) == {"tools: Excel": "no", "tools: R": "yes"}


def test_no_option_is_selected_by_an_empty_list():
    assert assign(TOOLS, []) == {"tools: Excel": "no", "tools: R": "no"}


def test_values_may_be_one_list_in_order():
    assert assign([AGE, WEIGHT], [61, None]) == {"age": 61, "weight": UNKNOWN}
    assert assign(TOOLS, ["no", "yes"]) == {"tools: Excel": "no", "tools: R": "yes"}
    with pytest.raises(AnswerError, match=r"'q' takes 2 value\(s\) \(age, weight\), got 0"):
        assign([AGE, WEIGHT], [])


@pytest.mark.parametrize(
    ("code", "expected"), [("unknown", UNKNOWN), ("refused", DECLINED), (None, UNKNOWN)]
)
def test_a_code_stands_for_all_options(code, expected):
    assert assign(TOOLS, code) == {"tools: Excel": expected, "tools: R": expected}


def test_an_unknown_option_is_rejected_with_the_known_ones():
    with pytest.raises(AnswerError, match=r"'tools' has no option 'Julia'. Options are: Excel, R"):
        assign(TOOLS, "Excel; Julia")


def test_too_few_values_are_rejected():
    with pytest.raises(AnswerError, match=r"'q' takes 2 value\(s\) \(age, weight\), got 1"):
        assign([AGE, WEIGHT], 61)
