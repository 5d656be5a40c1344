"""Schemas check their names and return variables, questions, positions and copies."""

import copy
import pickle

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


def test_a_variable_that_no_question_reveals_gets_its_own_question():
    assert [question.name for question in SCHEMA.questions] == ["blood panel", "age"]


def test_costs_are_in_the_order_of_the_questions():
    np.testing.assert_array_equal(SCHEMA.costs, [40.0, 1.0])


def test_the_mask_says_which_question_reveals_which_variable():
    np.testing.assert_array_equal(SCHEMA.reveals_mask, [[False, True, True], [True, False, False]])
    assert SCHEMA.reveals_mask.dtype == np.bool_


def test_the_mask_of_a_schema_without_variables_is_empty():
    assert Schema(()).reveals_mask.shape == (0, 0)


def test_the_mask_cannot_be_changed():
    with pytest.raises(ValueError, match="read-only"):
        SCHEMA.reveals_mask[0, 0] = True


def test_the_mask_does_not_affect_equality_hashing_or_copying():
    schema, other = (Schema((AGE, LDL, HDL), (PANEL,)) for _ in range(2))
    assert schema.reveals_mask is schema.reveals_mask
    assert schema == other
    assert hash(schema) == hash(other)
    assert copy.deepcopy(schema) == pickle.loads(pickle.dumps(schema)) == other  # noqa: S301
    assert schema.with_question("ldl").reveals_mask.shape == (3, 3)


def test_variables_and_positions_are_found_by_name():
    assert SCHEMA["ldl"] is LDL
    assert SCHEMA.positions(["hdl", "age"]) == [2, 0]


def test_an_unknown_variable_is_rejected_with_a_list_of_the_variables():
    with pytest.raises(SchemaError, match=r"^'ldll' is not a variable.*'age', 'ldl', 'hdl'"):
        SCHEMA["ldll"]


def test_a_set_aside_column_is_rejected_with_the_reason():
    with pytest.raises(SchemaError, match=r"^'note' is set aside and not modelled \(free"):
        SCHEMA.position("note")


def test_an_unknown_question_is_rejected_with_a_list_of_the_questions():
    with pytest.raises(SchemaError, match=r"no question 'ldl'. Questions are: 'blood panel', 'age'"):
        SCHEMA.question("ldl")


def test_a_question_is_found_by_name():
    assert SCHEMA.question("blood panel") is PANEL


def test_a_long_list_of_variables_is_shortened():
    many = Schema(tuple(Variable(f"v{n}", Kind.REAL) for n in range(20)))
    with pytest.raises(SchemaError, match="'v11' and 8 more"):
        many["x"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"variables": (AGE, AGE)}, "the variable name 'age' is used twice"),
        (
            {"variables": (AGE,), "set_aside": (SetAside("age", "x"),)},
            "the variable name 'age' is used twice",
        ),
        (
            {"variables": (AGE, LDL), "explicit_questions": (Question("age", ("ldl",)),)},
            "the question name 'age' is used twice",
        ),
        (
            {"variables": (AGE,), "explicit_questions": (PANEL,)},
            "question 'blood panel' reveals 'ldl', which is not a variable",
        ),
        ({"variables": (AGE,), "targets": ("risk",)}, "targets contain 'risk', which is not"),
    ],
)
def test_a_schema_that_contradicts_itself_is_rejected(arguments, message):
    with pytest.raises(SchemaError, match=message):
        Schema(**arguments)


def test_a_target_may_be_one_name_several_names_or_the_default():
    assert SCHEMA.target_names("ldl") == ("ldl",)
    assert SCHEMA.target_names(["ldl", "hdl"]) == ("ldl", "hdl")
    assert SCHEMA.target_names(None) == ("age",)


def test_an_unknown_target_is_rejected():
    with pytest.raises(TargetError, match="the target 'risk' is not a variable of this schema"):
        SCHEMA.target_names("risk")


def test_a_target_that_was_set_aside_is_rejected_with_the_reason():
    with pytest.raises(TargetError, match=r"the target 'note' is set aside.*Give it a kind"):
        SCHEMA.target_names("note")


def test_with_question_adds_a_question_to_a_copy():
    original = Schema((AGE, LDL))
    changed = original.with_question("age", reveals="age", text="How old are you?", cost=2)
    assert changed.question("age").text == "How old are you?"
    assert original.question("age").text == "age"


def test_with_question_replaces_a_question_of_the_same_name():
    changed = SCHEMA.with_question("blood panel", reveals=["ldl"])
    assert [question.name for question in changed.questions] == ["blood panel", "age", "hdl"]


def test_with_variable_keeps_the_position_of_the_variable():
    changed = SCHEMA.with_variable(Variable("ldl", Kind.COUNT))
    assert changed.names == SCHEMA.names
    assert changed["ldl"].kind is Kind.COUNT


def test_with_variable_models_a_column_that_was_set_aside():
    changed = SCHEMA.with_variable(Variable("note", Kind.CATEGORY, ("a", "b")))
    assert changed.names == ("age", "ldl", "hdl", "note")
    assert changed.set_aside == ()


def test_without_removes_variables_from_questions_and_targets_too():
    changed = SCHEMA.without("ldl", "age", reason="too expensive")
    assert changed.names == ("hdl",)
    assert changed.question("blood panel").reveals == ("hdl",)
    assert changed.targets == ()
    assert SetAside("ldl", "too expensive") in changed.set_aside


def test_without_removes_questions_that_would_reveal_nothing():
    assert [question.name for question in SCHEMA.without("ldl", "hdl").questions] == ["age"]


def test_setting_an_unknown_variable_aside_is_rejected():
    with pytest.raises(SchemaError, match="cannot set aside 'x', which is not a variable"):
        SCHEMA.without("x")


def test_identifiers_come_first_among_the_columns_set_aside():
    note, key = SetAside("note", "text"), SetAside("id", "all different", "identifier")
    assert Schema((AGE,), set_aside=(note, key)).set_aside == (key, note)


SMOKER = Variable("smoker", Kind.BINARY, ("no", "yes"))


def test_a_question_may_be_mandatory_and_conditional():
    schema = Schema((AGE, SMOKER)).with_question("age", always=True, requires={"smoker": "yes"})
    assert schema.question("age") == Question(
        "age", ("age",), always=True, requires={"smoker": ("yes",)}
    )


@pytest.mark.parametrize(
    ("requires", "message"),
    [
        ({"pipe": "yes"}, "question 'age' requires 'pipe', which is not a variable"),
        ({"note": "yes"}, "question 'age' requires 'note', which is set aside"),
        ({"smoker": "often"}, r"'smoker' to be 'often', which is not one of its levels \(no, yes\)"),
        ({"smoker": ("yes", "often")}, "requires 'smoker' to be 'often'"),
        (
            {"ldl": "high"},
            r"'ldl' to be 'high', which is not one of its levels \(it is real and has none",
        ),
        ("smoker > maybe", "'maybe' is not one of its levels"),
        ("ldl > high", r"'ldl' > high, but 'high' is not a number"),
    ],
)
def test_a_requirement_that_can_never_be_met_is_rejected(requires, message):
    schema = Schema((AGE, LDL, SMOKER), set_aside=(SetAside("note", "free text"),))
    with pytest.raises(SchemaError, match=message):
        schema.with_question("age", requires=requires)
