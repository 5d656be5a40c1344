"""The fields of a question, and how a submitted form becomes an answer."""

import pytest

from eddi import Schema, Variable
from eddi.errors import AnswerError
from eddi.interview.record import UNKNOWN, Answer
from eddi.service.web.answer_form import FormInput, build_fields, parse_form, parse_value
from eddi.table.cells.number_format import NumberFormat
from eddi.table.question import Question

AGE = Variable("age", "count", low=18, high=90, unit="years")
WEIGHT = Variable("weight", "real", low=0, unit="kg")
SMOKER = Variable("smoker", "binary", levels=("no", "yes"))
SEX = Variable("sex", "binary", levels=(1, 2))
PAIN = Variable("pain", "ordinal", levels=("none", "mild", "strong"))
TOWN = Variable("town", "category", levels=tuple(f"town {n}" for n in range(20)))
SINGLE = Schema((AGE, WEIGHT, SMOKER, SEX, PAIN, TOWN))
SCHEMA = Schema(
    SINGLE.variables,
    (
        Question("age", ("age",), "How old are you?"),
        Question("body", ("weight", "smoker"), "Your body?"),
    ),
)
BODY = SCHEMA.question("body")


def single_field(schema, name):
    [field] = build_fields(schema.question(name), schema)
    return field


@pytest.mark.parametrize("name", ["age", "smoker"])
def test_the_note_of_a_question_is_a_hint(name):
    note = "Guess if you are not sure."
    field = single_field(SCHEMA.with_question(name, text=f"What about you? ({note})"), name)
    assert field.label == "What about you?"
    assert field.hint.endswith(note)


@pytest.mark.parametrize(
    ("name", "control"),
    [("age", "number"), ("smoker", "buttons"), ("pain", "choices"), ("town", "list")],
)
def test_each_kind_has_its_control(name, control):
    assert single_field(SINGLE, name).control == control


def test_a_binary_variable_of_a_longer_question_has_choices():
    assert [field.control for field in build_fields(BODY, SCHEMA)] == ["number", "choices"]


def test_a_variable_that_is_already_answered_has_no_field():
    [field] = build_fields(BODY, SCHEMA, answered={"weight"})
    assert (field.key, field.label, field.control) == ("v1", "Smoker", "choices")


def test_yes_comes_before_no_and_other_levels_keep_their_order():
    assert single_field(SINGLE, "smoker").options == (("yes", "Yes"), ("no", "No"))
    assert single_field(SINGLE, "sex").options == (("1", "1"), ("2", "2"))


def test_there_is_a_slider_only_if_both_bounds_are_known():
    assert single_field(SINGLE, "age").has_slider
    assert not single_field(SINGLE, "weight").has_slider


@pytest.mark.parametrize(
    ("kind", "low", "high", "step"), [("real", 0, 1, 0.01), ("real", 50, 160, 1), ("count", 0, 20, 1)]
)
def test_a_slider_has_about_a_hundred_steps(kind, low, high, step):
    schema = Schema((Variable("x", kind, low=low, high=high),))
    assert single_field(schema, "x").step == pytest.approx(step)


@pytest.mark.parametrize(("typed", "value"), [("61", 61), (" 61 ", 61), ("61,0", 61), ("61.0", 61)])
def test_a_number_can_be_typed_in_different_ways(typed, value):
    question = SCHEMA.question("age")
    assert parse_form(question, SCHEMA, {"v0": typed}, answered=()).values == {"age": value}


def test_a_decimal_comma_is_accepted():
    assert parse_value(WEIGHT, "70,5") == 70.5


@pytest.mark.parametrize(
    ("variable", "typed", "message"),
    [
        (
            AGE,
            "200",
            "Enter a whole number between 18 and 90, in years. You typed “200”. If that is correct, "
            "confirm it below.",
        ),
        (AGE, "old", "Enter a whole number between 18 and 90, in years. You typed “old”."),
        (AGE, "", "Enter a whole number between 18 and 90, in years, or say that you don't know."),
        (WEIGHT, "1,000,5", "Enter a number from 0 up, in kg. You typed “1,000,5”."),
        (WEIGHT, "inf", "Enter a number from 0 up, in kg. You typed “inf”."),
        (PAIN, "", "Choose one of these, or say that you don't know."),
        (PAIN, "awful", "Choose one of these, or say that you don't know."),
    ],
)
def test_an_invalid_input_is_told_what_is_expected(variable, typed, message):
    with pytest.raises(AnswerError) as error:
        parse_value(variable, typed)
    assert str(error.value) == message


def test_a_value_out_of_range_can_be_confirmed():
    question = SCHEMA.question("age")
    form_input = parse_form(question, SCHEMA, {"v0": "200"}, answered=())
    assert build_fields(question, SCHEMA, form_input=form_input)[0].can_confirm
    confirmed = parse_form(question, SCHEMA, {"v0": "200", "v0-confirm": "200"}, answered=())
    assert (confirmed.values, confirmed.errors) == ({"age": 200}, {})


def test_another_value_must_be_confirmed_again():
    question = SCHEMA.question("age")
    form_input = parse_form(question, SCHEMA, {"v0": "300", "v0-confirm": "200"}, answered=())
    assert form_input.unconfirmed == {"age"}


def test_an_invalid_input_is_kept_with_its_error():
    form_input = parse_form(BODY, SCHEMA, {"v0": "heavy", "v1": "yes"}, answered=())
    weight, smoker = build_fields(BODY, SCHEMA, form_input=form_input)
    assert (weight.typed, weight.error[:14]) == ("heavy", "Enter a number")
    assert (smoker.typed, smoker.error) == ("yes", "")


def test_one_variable_of_a_question_can_be_unknown():
    form_input = parse_form(BODY, SCHEMA, {"v0": "70", "v1-unknown": "1"}, answered=())
    assert (form_input.values, form_input.errors) == ({"weight": 70.0, "smoker": None}, {})


def test_a_whole_question_can_be_declined():
    form_input = parse_form(BODY, SCHEMA, {"act": "declined", "v0": "junk"}, answered=())
    assert form_input.values == {"weight": {"without": "declined"}, "smoker": {"without": "declined"}}


def test_an_earlier_answer_fills_the_form():
    form_input = FormInput.from_answer(Answer("body", {"weight": 70.5}, {"smoker": UNKNOWN}), SCHEMA)
    weight, smoker = build_fields(BODY, SCHEMA, form_input=form_input)
    assert (weight.typed, smoker.typed, smoker.is_unknown) == ("70.5", "", True)


def test_a_number_is_typed_and_shown_in_the_format_of_its_variable():
    pay = Variable("pay", "real", format=NumberFormat.from_example("1.234,5 €"))
    assert [parse_value(pay, typed) for typed in ("1.200 €", "36,6", "36.6")] == [1200, 36.6, 36.6]
    schema = Schema((pay,))
    form_input = FormInput.from_answer(Answer("pay", {"pay": 33.125}), schema)
    assert form_input.typed == {"pay": "33,125"}
    assert parse_value(pay, form_input.typed["pay"]) == 33.125
