"""Questions check what they reveal, cost and require."""

import numpy as np
import pytest

from eddi.errors import SchemaError
from eddi.table.question import Comparison, Question, format_requires, is_met, parse_requires
from eddi.table.schema import Schema
from eddi.table.variable import Variable


@pytest.mark.parametrize(
    ("text", "title", "note"),
    [
        ("How old are you?", "How old are you?", ""),
        ("How old? (80 at most.)", "How old?", "80 at most."),
        ("How much (in kg)? (Guess.)", "How much (in kg)?", "Guess."),
        ("weight (kg)", "weight (kg)", ""),  # a unit is not a sentence
        ("(Guess.)", "(Guess.)", ""),
    ],
)
def test_a_sentence_in_parentheses_at_the_end_of_a_text_is_a_note(text, title, note):
    question = Question("age", ("age",), text)
    assert (question.title, question.note) == (title, note)


def test_a_question_without_text_uses_its_name():
    assert Question("age", ("age",)).text == "age"


def test_a_question_costs_one_by_default():
    assert Question("age", ("age",)).cost == 1.0


def test_the_revealed_variables_may_be_any_sequence():
    assert Question("panel", ["ldl", "hdl"]).reveals == ("ldl", "hdl")


def test_a_question_that_reveals_nothing_is_rejected():
    with pytest.raises(SchemaError, match=r"'panel' reveals no variables. Name at least one"):
        Question("panel", ())


def test_a_variable_listed_twice_is_rejected():
    with pytest.raises(SchemaError, match="'panel' lists a variable twice"):
        Question("panel", ("ldl", "ldl"))


@pytest.mark.parametrize("cost", [0, -1, float("inf"), float("nan")])
def test_a_cost_must_be_a_finite_number_above_zero(cost):
    with pytest.raises(SchemaError, match=f"'age' costs {cost:g}; a cost is a number above 0"):
        Question("age", ("age",), cost=cost)


def test_a_question_is_neither_mandatory_nor_conditional_by_default():
    question = Question("age", ("age",))
    assert question.always is False
    assert question.requires == {}


@pytest.mark.parametrize("levels", ["yes", ("yes",), ["yes"], {"yes"}])
def test_a_single_required_level_becomes_a_tuple(levels):
    question = Question("packs", ("packs",), requires={"smoker": levels})
    assert question.requires == {"smoker": ("yes",)}


def test_a_question_that_requires_what_it_reveals_is_rejected():
    with pytest.raises(SchemaError, match="'packs' requires 'packs', which it itself reveals"):
        Question("packs", ("packs",), requires={"packs": "many"})


def test_a_question_cannot_be_both_always_and_never_asked():
    with pytest.raises(SchemaError, match="cannot be asked both always and never"):
        Question("age", ("age",), always=True, never=True)


@pytest.mark.parametrize(
    ("text", "requires"),
    [
        ("years > 3", {"years": (Comparison(">", 3.0),)}),
        ("years>=3.5", {"years": (Comparison(">=", 3.5),)}),
        ("pain < strong", {"pain": (Comparison("<", "strong"),)}),
        ("smoker = yes", {"smoker": ("yes",)}),
        ("smoker == yes, sometimes", {"smoker": ("yes", "sometimes")}),
        ("packs a day != 0", {"packs a day": (Comparison("!=", 0.0),)}),
        ("age was answered", {"age": (Comparison("was answered"),)}),
        ("age is answered", {"age": (Comparison("was answered"),)}),
        (["years > 3", "years <= 9"], {"years": (Comparison(">", 3.0), Comparison("<=", 9.0))}),
        ([{"smoker": "yes"}, "years > 3"], {"smoker": ("yes",), "years": (Comparison(">", 3.0),)}),
    ],
)
def test_a_prerequisite_may_be_written_as_text(text, requires):
    question = Question("packs", ("packs",), requires=text)
    assert question.requires == requires
    assert parse_requires(format_requires(requires)) == requires


@pytest.mark.parametrize("text", ["smoker", "> 3", "years >", ""])
def test_text_that_is_not_a_condition_is_refused(text):
    with pytest.raises(SchemaError, match=r"is not a condition. Write, for example"):
        Question("packs", ("packs",), requires=text or " ")


YEARS = Variable("years", "real")
PAIN = Variable("pain", "ordinal", levels=("none", "mild", "strong"))
GRADE = Variable("grade", "ordinal", levels=(1, 2, 4))


@pytest.mark.parametrize(
    ("variable", "condition", "expected"),
    [
        (YEARS, "years > 1", [False, False, True]),
        (YEARS, "years >= 1", [False, True, True]),
        (YEARS, "years != 1", [True, False, True]),
        (YEARS, "years = 1", [False, True, False]),
        (YEARS, "years was answered", [True, True, True]),
        (PAIN, "pain > none", [False, True, True]),
        (PAIN, "pain <= mild", [True, True, False]),
        (PAIN, "pain = none, strong", [True, False, True]),
        (GRADE, "grade > 1", [False, True, True]),
        (GRADE, "grade < 3", [True, True, False]),
    ],
)
def test_a_requirement_is_met_by_some_values(variable, condition, expected):
    [requirement] = parse_requires(condition).values()
    Schema((variable, Variable("x", "real"))).with_question("x", requires=condition)
    assert is_met(requirement, variable, np.array([0.0, 1.0, 2.0])).tolist() == expected


def test_a_category_has_no_order():
    town = Variable("town", "category", levels=("Aber", "Bala"))
    with pytest.raises(SchemaError, match="'town' is a category, which has no order"):
        Schema((town, YEARS)).with_question("years", requires="town > Aber")
