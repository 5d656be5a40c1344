"""A question reveals something, has words, and costs something."""

import pytest

from eddi.errors import SchemaError
from eddi.table.question import Question


def test_a_question_without_words_is_asked_by_its_name():
    assert Question("age", ("age",)).text == "age"


def test_a_question_costs_one_unless_told():
    assert Question("age", ("age",)).cost == 1.0


def test_what_is_revealed_may_be_any_sequence():
    assert Question("panel", ["ldl", "hdl"]).reveals == ("ldl", "hdl")


def test_a_question_that_reveals_nothing_is_refused():
    with pytest.raises(SchemaError, match=r"'panel' reveals nothing. Name its variables"):
        Question("panel", ())


def test_a_variable_revealed_twice_is_refused():
    with pytest.raises(SchemaError, match="'panel' names a variable twice"):
        Question("panel", ("ldl", "ldl"))


@pytest.mark.parametrize("cost", [0, -1, float("inf"), float("nan")])
def test_a_cost_is_a_number_above_nought(cost):
    with pytest.raises(SchemaError, match=f"'age' costs {cost:g}; a cost is a number above 0"):
        Question("age", ("age",), cost=cost)


def test_a_question_is_neither_pinned_nor_conditional_unless_told():
    question = Question("age", ("age",))
    assert question.always is False
    assert question.requires == {}


@pytest.mark.parametrize("levels", ["yes", ("yes",), ["yes"], {"yes"}])
def test_one_required_level_or_several_are_kept_as_several(levels):
    question = Question("packs", ("packs",), requires={"smoker": levels})
    assert question.requires == {"smoker": ("yes",)}


def test_a_question_that_requires_what_it_reveals_is_refused():
    with pytest.raises(SchemaError, match="'packs' requires 'packs', which it itself reveals"):
        Question("packs", ("packs",), requires={"packs": "many"})


def test_a_question_is_not_asked_both_always_and_never():
    with pytest.raises(SchemaError, match="cannot be asked both always and never"):
        Question("age", ("age",), always=True, never=True)
