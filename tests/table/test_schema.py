"""Ordered variables, the questions that reveal them, and what was set aside."""

import numpy as np
import pytest

from eddi.errors import SchemaError, TargetError
from eddi.table.question import Question
from eddi.table.schema import Schema, SetAside
from eddi.table.variable import Kind, Variable

AGE, LDL, HDL = (Variable(name, Kind.REAL) for name in ("age", "ldl", "hdl"))
PANEL = Question("blood panel", ("ldl", "hdl"), cost=40)
SCHEMA = Schema((AGE, LDL, HDL), (PANEL,), targets=("age",), set_aside=(SetAside("note", "free text"),))


def test_names_are_in_the_order_of_the_variables():
    assert SCHEMA.names == ("age", "ldl", "hdl")


def test_a_variable_no_question_reveals_has_one_of_its_own():
    assert [question.name for question in SCHEMA.questions] == ["blood panel", "age"]


def test_costs_are_in_the_order_of_the_questions():
    np.testing.assert_array_equal(SCHEMA.costs, [40.0, 1.0])


def test_a_variable_is_found_by_name_and_place():
    assert SCHEMA["ldl"] is LDL
    assert SCHEMA.positions(["hdl", "age"]) == [2, 0]


def test_an_unknown_variable_is_refused_with_those_there_are():
    with pytest.raises(SchemaError, match=r"'ldll', which is not a variable.*'age', 'ldl', 'hdl'"):
        SCHEMA["ldll"]


def test_a_set_aside_column_is_refused_with_the_reason():
    with pytest.raises(SchemaError, match=r"'note', which is set aside and not modelled \(free"):
        SCHEMA.position("note")


def test_an_unknown_question_is_refused_with_those_there_are():
    with pytest.raises(SchemaError, match=r"no question 'ldl'. Questions are: 'blood panel', 'age'"):
        SCHEMA.question("ldl")


def test_a_question_is_found_by_name():
    assert SCHEMA.question("blood panel") is PANEL


def test_a_long_list_of_variables_is_cut():
    many = Schema(tuple(Variable(f"v{n}", Kind.REAL) for n in range(20)))
    with pytest.raises(SchemaError, match="'v11' and 8 more"):
        many["x"]


@pytest.mark.parametrize(
    ("parts", "words"),
    [
        ({"variables": (AGE, AGE)}, "the variable 'age' is named twice"),
        (
            {"variables": (AGE,), "set_aside": (SetAside("age", "x"),)},
            "the variable 'age' is named twice",
        ),
        (
            {"variables": (AGE, LDL), "explicit_questions": (Question("age", ("ldl",)),)},
            "the question 'age' is named twice",
        ),
        (
            {"variables": (AGE,), "explicit_questions": (PANEL,)},
            "question 'blood panel' reveals 'ldl', which is not a variable",
        ),
        ({"variables": (AGE,), "targets": ("risk",)}, "targets name 'risk', which is not"),
    ],
)
def test_a_schema_that_contradicts_itself_is_refused(parts, words):
    with pytest.raises(SchemaError, match=words):
        Schema(**parts)


def test_a_target_may_be_one_name_several_or_the_schemas_own():
    assert SCHEMA.target_names("ldl") == ("ldl",)
    assert SCHEMA.target_names(["ldl", "hdl"]) == ("ldl", "hdl")
    assert SCHEMA.target_names(None) == ("age",)


def test_an_unknown_target_is_refused_as_a_target():
    with pytest.raises(TargetError, match="the target 'risk' is not a variable of this schema"):
        SCHEMA.target_names("risk")


def test_a_target_that_was_set_aside_is_refused_with_the_reason():
    with pytest.raises(TargetError, match=r"the target 'note' is set aside.*Give it a kind"):
        SCHEMA.target_names("note")


def test_with_question_adds_a_question_and_leaves_the_old_schema():
    bare = Schema((AGE, LDL))
    asked = bare.with_question("age", reveals="age", text="How old are you?", cost=2)
    assert asked.question("age").text == "How old are you?"
    assert bare.question("age").text == "age"


def test_with_question_replaces_a_question_of_the_same_name():
    again = SCHEMA.with_question("blood panel", reveals=["ldl"])
    assert [question.name for question in again.questions] == ["blood panel", "age", "hdl"]


def test_with_variable_replaces_in_place():
    changed = SCHEMA.with_variable(Variable("ldl", Kind.COUNT))
    assert changed.names == SCHEMA.names
    assert changed["ldl"].kind is Kind.COUNT


def test_with_variable_models_what_was_set_aside():
    changed = SCHEMA.with_variable(Variable("note", Kind.CATEGORY, ("a", "b")))
    assert changed.names == ("age", "ldl", "hdl", "note")
    assert changed.set_aside == ()


def test_without_sets_variables_aside_everywhere():
    changed = SCHEMA.without("ldl", "age", reason="too dear")
    assert changed.names == ("hdl",)
    assert changed.question("blood panel").reveals == ("hdl",)
    assert changed.targets == ()
    assert SetAside("ldl", "too dear") in changed.set_aside


def test_a_question_that_would_reveal_nothing_goes_too():
    assert [one.name for one in SCHEMA.without("ldl", "hdl").questions] == ["age"]


def test_without_an_unknown_variable_is_refused():
    with pytest.raises(SchemaError, match="set aside 'x', which is not a variable"):
        SCHEMA.without("x")


def test_identifiers_come_first_among_what_is_set_aside():
    note, key = SetAside("note", "text"), SetAside("id", "all different", "identifier")
    assert Schema((AGE,), set_aside=(note, key)).set_aside == (key, note)


SMOKER = Variable("smoker", Kind.BINARY, ("no", "yes"))


def test_a_question_may_be_pinned_and_conditional():
    schema = Schema((AGE, SMOKER)).with_question("age", always=True, requires={"smoker": "yes"})
    assert schema.question("age") == Question(
        "age", ("age",), always=True, requires={"smoker": ("yes",)}
    )


@pytest.mark.parametrize(
    ("requires", "words"),
    [
        ({"pipe": "yes"}, "question 'age' requires 'pipe', which is not a variable"),
        ({"note": "yes"}, "question 'age' requires 'note', which is set aside"),
        ({"smoker": "often"}, r"'smoker' to be 'often', which is not one of its levels \(no, yes\)"),
        ({"smoker": ("yes", "often")}, "requires 'smoker' to be 'often'"),
        ({"ldl": 3}, r"'ldl' to be 3, which is not one of its levels \(it is real and has none\)"),
    ],
)
def test_a_requirement_that_could_never_be_met_is_refused(requires, words):
    schema = Schema((AGE, LDL, SMOKER), set_aside=(SetAside("note", "free text"),))
    with pytest.raises(SchemaError, match=words):
        schema.with_question("age", requires=requires)
