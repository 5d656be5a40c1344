"""Questions check what they reveal, cost and require."""

import pytest

from eddi.errors import SchemaError
from eddi.table.question import Question


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
