"""Words for the respondent: fields, answers, beliefs, and what went wrong with what was typed."""

import numpy as np
import pytest

from eddi import Schema, Variable
from eddi.errors import AnswerError
from eddi.interview.explanation import Explanation
from eddi.interview.record import DECLINED, UNKNOWN, Answer
from eddi.model.prediction import Prediction
from eddi.service.web import wording
from eddi.table.question import Question

AGE = Variable("age", "count", low=18, high=90, unit="years")
WEIGHT = Variable("weight", "real", low=0, unit="kg")
SMOKER = Variable("smoker", "binary", levels=("no", "yes"))
SEX = Variable("sex", "binary", levels=(1, 2))
PAIN = Variable("pain", "ordinal", levels=("none", "mild", "strong"))
TOWN = Variable("town", "category", levels=tuple(f"town {n}" for n in range(20)))
RISK = Variable("risk", "real", unit="points")
SCHEMA = Schema(
    (AGE, WEIGHT, SMOKER, SEX, PAIN, TOWN, RISK),
    (
        Question("age", ("age",), "How old are you?"),
        Question("body", ("weight", "smoker"), "Your body?"),
    ),
)


def asked(name):
    return SCHEMA.question(name)


def quantity(low, high):
    middle = np.float64((low + high) / 2)
    return Prediction(RISK, middle, np.float64((high - low) / 3.3), np.array([low, high]))


def levels(*chances):
    return Prediction(PAIN, np.float64(1), np.float64(1), np.array([0.0, 2.0]), np.array(chances))


@pytest.mark.parametrize(
    ("name", "control"),
    [("age", "number"), ("smoker", "buttons"), ("pain", "choices"), ("town", "list")],
)
def test_each_kind_has_its_natural_control(name, control):
    schema = Schema(SCHEMA.variables)
    assert [field.control for field in wording.fields(schema.question(name), schema)] == [control]


def test_a_binary_variable_within_a_panel_is_chosen_not_pressed():
    assert [field.control for field in wording.fields(asked("body"), SCHEMA)] == ["number", "choices"]


def test_what_is_known_already_is_not_asked_again():
    fields = wording.fields(asked("body"), SCHEMA, known={"weight"})
    assert [(field.key, field.label, field.control) for field in fields] == [("v1", "Smoker", "choices")]


def test_yes_comes_before_no_and_other_levels_keep_their_order():
    schema = Schema(SCHEMA.variables)
    shown = {
        name: wording.fields(schema.question(name), schema)[0].options for name in ("smoker", "sex")
    }
    assert shown == {"smoker": (("yes", "Yes"), ("no", "No")), "sex": (("1", "1"), ("2", "2"))}


def test_a_slider_stands_beside_the_box_only_where_both_ends_are_known():
    schema = Schema(SCHEMA.variables)
    slides = {
        name: wording.fields(schema.question(name), schema)[0].slides for name in ("age", "weight")
    }
    assert slides == {"age": True, "weight": False}


@pytest.mark.parametrize(
    ("kind", "low", "high", "step"), [("real", 0, 1, 0.01), ("real", 50, 160, 1), ("count", 0, 20, 1)]
)
def test_a_slider_goes_in_steps_a_hand_can_set(kind, low, high, step):
    schema = Schema((Variable("x", kind, low=low, high=high),))
    assert wording.fields(schema.question("x"), schema)[0].step == pytest.approx(step)


@pytest.mark.parametrize(("typed", "value"), [("61", 61), (" 61 ", 61), ("61,0", 61), ("61.0", 61)])
def test_a_number_is_heard_however_it_is_typed(typed, value):
    assert wording.hear(asked("age"), SCHEMA, {"v0": typed}, known=()).values == {"age": value}


def test_a_decimal_comma_is_a_decimal_point():
    assert wording.value(WEIGHT, "70,5") == 70.5


@pytest.mark.parametrize(
    ("variable", "typed", "words"),
    [
        (AGE, "200", "Enter a whole number between 18 and 90, in years. You typed “200”."),
        (AGE, "old", "Enter a whole number between 18 and 90, in years. You typed “old”."),
        (AGE, "", "Enter a whole number between 18 and 90, in years, or say that you don't know."),
        (WEIGHT, "1,000,5", "Enter a number from 0 up, in kg. You typed “1,000,5”."),
        (WEIGHT, "inf", "Enter a number from 0 up, in kg. You typed “inf”."),
        (PAIN, "", "Choose one of these, or say that you don't know."),
        (PAIN, "awful", "Choose one of these, or say that you don't know."),
    ],
)
def test_a_wrong_answer_is_told_what_is_expected(variable, typed, words):
    with pytest.raises(AnswerError) as error:
        wording.value(variable, typed)
    assert str(error.value) == words


def test_what_was_typed_is_kept_beside_what_was_wrong_with_it():
    heard = wording.hear(asked("body"), SCHEMA, {"v0": "heavy", "v1": "yes"}, known=())
    weight, smoker = wording.fields(asked("body"), SCHEMA, heard=heard)
    assert (weight.typed, weight.error[:14], smoker.typed, smoker.error) == (
        "heavy",
        "Enter a number",
        "yes",
        "",
    )


def test_one_variable_of_a_panel_may_be_unknown():
    heard = wording.hear(asked("body"), SCHEMA, {"v0": "70", "v1-unknown": "1"}, known=())
    assert (heard.values, heard.errors) == ({"weight": 70.0, "smoker": None}, {})


def test_a_whole_panel_may_be_declined():
    heard = wording.hear(asked("body"), SCHEMA, {"act": "declined", "v0": "junk"}, known=())
    assert heard.values == {"weight": {"without": "declined"}, "smoker": {"without": "declined"}}


def test_an_answer_is_read_back_in_the_order_of_the_schema():
    said = wording.said(Answer("body", {"smoker": "yes", "weight": 70.5}), SCHEMA)
    assert (said.question, str(said)) == ("Your body?", "Weight 70.5 kg, Smoker Yes")


def test_a_silence_about_everything_is_read_back_once():
    declined = Answer("body", {}, {"weight": DECLINED, "smoker": DECLINED})
    mixed = Answer("body", {"weight": 70.0}, {"smoker": UNKNOWN})
    assert str(wording.said(declined, SCHEMA)) == "Rather not said"
    assert str(wording.said(mixed, SCHEMA)) == "Weight 70 kg, Smoker Not known"


def test_an_earlier_answer_comes_back_into_the_form():
    heard = wording.remembered(Answer("body", {"weight": 70.5}, {"smoker": UNKNOWN}))
    weight, smoker = wording.fields(asked("body"), SCHEMA, heard=heard)
    assert (weight.typed, smoker.typed, smoker.unknown) == ("70.5", "", True)


def test_a_belief_about_a_quantity_says_its_range():
    believed = wording.belief(quantity(-1.25, 3.25), 1)
    assert str(believed) == "Risk: 1.0 points. We are 90% sure that it lies between \u22121.2 and 3.2."


def test_a_belief_about_levels_says_how_likely():
    assert str(wording.belief(levels(0.2, 0.7, 0.1))).startswith("Pain: Mild. The likeliest of 3")
    assert "70%" in str(wording.belief(levels(0.2, 0.7, 0.1)))


@pytest.mark.parametrize(
    ("chance", "words"),
    [(0.999, "over 99%"), (0.001, "under 1%"), (0.5, "50%"), (1.0, "100%"), (0, "0%")],
)
def test_no_certainty_is_claimed_that_nobody_has(chance, words):
    assert wording.share(chance) == words


@pytest.mark.parametrize(
    ("before", "after", "word"),
    [
        (quantity(0, 10), quantity(2, 6), "narrowed the 90% range from 10 to 4."),
        (quantity(0, 10), quantity(0, 14), "widened the 90% range from 10 to 14. A surprising"),
        (quantity(0, 10), quantity(5, 15), "left the 90% range as wide as it was"),
        (levels(0.5, 0.3, 0.2), levels(0.8, 0.1, 0.1), "surer: the likeliest went from 50% to 80%"),
        (levels(0.8, 0.1, 0.1), levels(0.5, 0.3, 0.2), "less sure"),
        (levels(0.8, 0.1, 0.1), levels(0.1, 0.8, 0.1), "left how sure we are as it was"),
    ],
)
def test_certainty_may_rise_fall_or_stay_and_the_words_say_which(before, after, word):
    assert word in wording.change(before, after, by="Your answer")


@pytest.mark.parametrize(
    ("shift", "belief", "words"),
    [
        (12.34, quantity(0, 1), "+12.3 points"),
        (-12.34, quantity(0, 1), "\u221212.3 points"),
        (-0.01, quantity(0, 1), "0 points"),
        (0.124, levels(0.5, 0.3, 0.2), "+12 points"),
        (-0.012, levels(0.5, 0.3, 0.2), "\u22121 point"),
    ],
)
def test_how_far_an_answer_moved_the_guess(shift, belief, words):
    assert wording.shift_words(shift, belief, 1) == words


@pytest.mark.parametrize(
    ("most", "about", "words"),
    [
        (0, 1, "No questions left"),
        (1, 1, "The last question"),
        (5, 5, "5 left at most"),
        (5, 3, "about 3"),
    ],
)
def test_how_many_questions_are_left(most, about, words):
    assert words in wording.left(most, about)


def test_why_says_what_the_answer_tells_and_what_it_is_expected_to_change():
    question = Question("age", ("age",), "How old are you?", always=True)
    told = Explanation(question, "risk", 0.31, 10.0, 8.0, False, ("weight", 0.2))
    words = " ".join(wording.why(told, SCHEMA))
    assert "Everyone is asked" in words
    assert "0.31 nats about risk: of all that can be asked now, this tells most" in words
    assert "the width of the 90% range of risk to fall from 10 to about 8" in words


def test_why_does_not_boast_of_a_question_that_tells_nothing_or_less_than_another():
    question = Question("age", ("age",))
    poor = Explanation(question, "pain", -0.03, 0.3, 0.32, True, None)
    words = " ".join(wording.why(poor, SCHEMA))
    assert "little more about pain" in words
    assert "rise from 30% to about 32%" in words
    assert "Nothing else is left" in words
    second = Explanation(question, "pain", 0.1, 0.3, 0.3, True, ("weight", 0.2))
    assert "tells most" not in " ".join(wording.why(second, SCHEMA))


def test_why_says_that_an_answer_opens_the_next_question():
    told = Explanation(Question("age", ("age",)), "pain", 0.0, 0.3, 0.3, True, ("weight", 0.2), 0.4)
    assert "what to ask you after it" in " ".join(wording.why(told, SCHEMA))


def test_numbers_have_as_many_decimals_as_their_belief_deserves():
    assert [wording.decimals([quantity(0, width)]) for width in (500, 20, 0.3)] == [0, 1, 3]
