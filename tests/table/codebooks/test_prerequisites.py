"""Conditions become prerequisites; what has no such form is reported."""

import pytest

from eddi.table.codebooks.expression import parse_redcap
from eddi.table.codebooks.prerequisites import KnownEntry, find_prerequisites, to_requires
from eddi.table.question import ANSWERED, Comparison
from eddi.table.variable import Variable

SEX = Variable("sex", "binary", (1, 2))
SMOKE = Variable("smoke", "ordinal", (0, 1, 2), declined=(9,))
AGE = Variable("age", "real")
COUGH, FEVER = Variable("s___1", "binary", (0, 1)), Variable("s___2", "binary", (0, 1))
ENTRIES = {
    "sex": KnownEntry(SEX, {"1": 1, "2": 2}),
    "smoke": KnownEntry(SMOKE, {"0": 0, "1": 1, "2": 2, "9": 9}),
    "age": KnownEntry(AGE),
    "s": KnownEntry(None, options={"1": COUGH, "2": FEVER}),
}
VARIABLES = {v.name: v for v in (SEX, SMOKE, AGE, COUGH, FEVER)}


def convert(text):
    found = find_prerequisites(parse_redcap(text), ENTRIES)
    return to_requires(found.allowed, VARIABLES), found.losses


@pytest.mark.parametrize(
    ("text", "requires"),
    [
        ("[sex] = '2'", {"sex": (2,)}),
        ("[sex] = '2.0'", {"sex": (2,)}),
        ("[smoke] = '1' or [smoke] = '2'", {"smoke": (1, 2)}),
        ("[smoke] >= 1", {"smoke": (1, 2)}),
        ("[smoke] > 0 and [smoke] < 2", {"smoke": (1,)}),
        ("[smoke] <> ''", {"smoke": (Comparison(ANSWERED),)}),
        ("[age] > 17 and [age] < 50", {"age": (Comparison("<", 50), Comparison(">", 17))}),
        ("[age] = 18 or [age] = 21", {"age": (18, 21)}),
        ("[age] <> ''", {"age": (Comparison(ANSWERED),)}),
        ("[s(1)] = '1' and [sex] = '2'", {"s___1": (1,), "sex": (2,)}),
        ("[s(2)] = '0'", {"s___2": (0,)}),
        ("[s(2)] <> '1'", {"s___2": (0,)}),
        ("1 = 1", {}),
    ],
)
def test_a_condition_with_one_requirement_per_variable_is_exact(text, requires):
    assert convert(text) == (requires, ())


@pytest.mark.parametrize(
    ("text", "requires", "loss"),
    [
        ("[sex] = '2' or [age] > 50", {}, "no 'or' between different variables"),
        ("[sex]='2' and ([age]>50 or [smoke]='1')", {"sex": (2,)}, "no 'or'"),
        ("([sex]='2' and [smoke]='1') or ([sex]='2' and [age]>3)", {"sex": (2,)}, "no 'or'"),
        ("[other] = '1' and [sex] = '1'", {"sex": (1,)}, "other is not a variable"),
        ("[sex] = ''", {}, "was not answered"),
        ("[sex] = '7'", {}, "'7' is not an answer to sex"),
        ("[smoke] = '9'", {}, "'9' is not an answer to smoke"),
        ("[s(7)] = '1'", {}, "'7' is not a choice of s"),
        ("[smoke] <> '2'", {"smoke": (0, 1)}, "asked only after smoke was answered"),
        ("[sex] = '1' and [sex] = '2'", {"sex": (1,)}, "cannot have all the values"),
        ("[age] > 60 or [age] < 18", {}, "no 'or'"),
        ("1 = 2", {}, "never holds"),
    ],
)
def test_what_follows_is_kept_and_the_rest_is_reported(text, requires, loss):
    found, losses = convert(text)
    assert found == requires
    assert any(loss in text for text in losses), losses
