"""Texts for respondents: answers, predictions, changes and explanations."""

import numpy as np
import pytest

from eddi import Schema, Variable
from eddi.interview.explanation import Explanation
from eddi.interview.record import DECLINED, UNKNOWN, Answer
from eddi.model.prediction import Prediction
from eddi.service.web import wording
from eddi.table.question import Question

AGE = Variable("age", "count", low=18, high=90, unit="years")
WEIGHT = Variable("weight", "real", low=0, unit="kg")
SMOKER = Variable("smoker", "binary", levels=("no", "yes"))
PAIN = Variable("pain", "ordinal", levels=("none", "mild", "strong"))
RISK = Variable("risk", "real", unit="points")
SCHEMA = Schema(
    (AGE, WEIGHT, SMOKER, PAIN, RISK),
    (
        Question("age", ("age",), "How old are you?"),
        Question("body", ("weight", "smoker"), "Your body?"),
    ),
)


def quantity(low, high):
    middle = np.float64((low + high) / 2)
    return Prediction(RISK, middle, np.float64((high - low) / 3.3), np.array([low, high]))


def levels(*probabilities):
    return Prediction(PAIN, np.float64(1), np.float64(1), np.array([0.0, 2.0]), np.array(probabilities))


def test_the_parts_of_an_answer_are_in_the_order_of_the_schema():
    text = wording.describe_answer(Answer("body", {"smoker": "yes", "weight": 70.5}), SCHEMA)
    assert (text.question, str(text)) == ("Your body?", "Weight 70.5 kg, Smoker Yes")


def test_a_declined_question_is_described_once():
    declined = Answer("body", {}, {"weight": DECLINED, "smoker": DECLINED})
    mixed = Answer("body", {"weight": 70.0}, {"smoker": UNKNOWN})
    assert str(wording.describe_answer(declined, SCHEMA)) == "Preferred not to say"
    assert str(wording.describe_answer(mixed, SCHEMA)) == "Weight 70 kg, Smoker Not known"


@pytest.mark.parametrize(
    ("variable", "text"),
    [
        (AGE, "a whole number between 18 and 90, in years"),
        (WEIGHT, "a number from 0 up, in kg"),
        (Variable("visits", "count"), "a whole number from 0 up"),
        (Variable("x", "real", high=5), "a number up to 5"),
        (Variable("x", "real"), "a number"),
    ],
)
def test_the_expected_number_names_bounds_and_unit(variable, text):
    assert wording.describe_expected_number(variable) == text


def test_the_prediction_of_a_quantity_names_its_interval():
    text = str(wording.describe_prediction(quantity(-1.25, 3.25), 1))
    assert text == "Risk: 1.0 points. We are 90% sure that it is between \u22121.2 and 3.2."


def test_the_prediction_of_levels_names_the_most_likely_one():
    text = str(wording.describe_prediction(levels(0.2, 0.7, 0.1)))
    assert text == "Pain: Mild. The most likely of 3, with a probability of 70%."


def test_of_two_levels_one_is_more_likely_than_not():
    variable = Variable("ill", "binary", (False, True))
    numbers = np.array(0.0), np.array(0.0), np.zeros(2)
    text = str(wording.describe_prediction(Prediction(variable, *numbers, np.array([0.3, 0.7]))))
    assert text == "Ill: Yes. More likely than not, with a probability of 70%."


@pytest.mark.parametrize(
    ("shift", "prediction", "text"),
    [
        (12.34, quantity(0, 1), "+12.3 points"),
        (-12.34, quantity(0, 1), "\u221212.3 points"),
        (-0.01, quantity(0, 1), "0 points"),
        (0.124, levels(0.5, 0.3, 0.2), "+12 points"),
        (-0.012, levels(0.5, 0.3, 0.2), "\u22121 point"),
    ],
)
def test_a_shift_has_a_sign_and_a_unit(shift, prediction, text):
    assert wording.describe_shift(shift, prediction, 1) == text


@pytest.mark.parametrize(
    ("maximum", "estimate", "text"),
    [
        (0, 1, "No questions left"),
        (1, 1, "The last question"),
        (5, 5, "At most 5 left"),
        (5, 3, "At most 5 left, probably about 3"),
    ],
)
def test_the_number_of_questions_left_is_a_maximum_and_an_estimate(maximum, estimate, text):
    assert wording.describe_questions_left(maximum, estimate) == text


def test_the_length_of_an_interview_is_a_maximum_and_an_estimate():
    assert wording.describe_length(6, 6) == "At most 6, not counting those you skip."
    assert wording.describe_length(6, 4) == "At most 6, not counting those you skip; probably about 4."


def test_numbers_of_answers_are_counted_in_words():
    assert [wording.count_answers(n) for n in (0, 1, 2)] == ["no answers", "one answer", "2 answers"]


def test_the_explanation_says_what_is_expected_in_words():
    question = Question("age", ("age",), "How old are you?", always=True)
    explanation = Explanation(question, "risk", 0.31, 10.0, 8.0, False, ("weight", 0.2))
    text = " ".join(wording.explain_question(explanation, SCHEMA))
    assert "Everyone is asked this question." in text
    assert "Of all questions that are left, your answer is expected to tell us most about risk." in text
    assert "the width of the 90% range of risk to fall from 10 to about 8." in text


def test_the_explanation_does_not_exaggerate():
    question = Question("age", ("age",))
    poor = Explanation(question, "pain", -0.03, 0.3, 0.32, True, None)
    text = " ".join(wording.explain_question(poor, SCHEMA))
    assert "tell us little more about pain." in text
    assert "the probability that our best guess of pain is wrong to rise from 30% to about 32%." in text
    assert "No other question is left." in text
    second_best = Explanation(question, "pain", 0.1, 0.3, 0.3, True, ("weight", 0.2))
    text = " ".join(wording.explain_question(second_best, SCHEMA))
    assert "more than any other" not in text
    assert "One answer alone is unlikely to change our best guess of pain." in text


def test_a_width_that_is_expected_to_stay_is_named():
    explanation = Explanation(Question("age", ("age",)), "risk", 0.1, 10.0, 10.0, False, ("weight", 0.2))
    assert "to stay near 10." in " ".join(wording.explain_question(explanation, SCHEMA))


def test_the_effort_of_a_question_is_part_of_its_explanation():
    question = Question("waist", ("age",), cost=3)
    explanation = Explanation(question, "pain", 0.1, 0.3, 0.3, True, ("weight", 0.2), per_cost=True)
    text = " ".join(wording.explain_question(explanation, SCHEMA))
    assert "Effort counts, too: this question costs 3." in text


def test_the_explanation_of_a_lookahead_question_names_its_effect_on_the_next_question():
    question = Question("age", ("age",))
    explanation = Explanation(question, "pain", 0.0, 0.3, 0.3, True, ("weight", 0.2), 0.4)
    text = " ".join(wording.explain_question(explanation, SCHEMA))
    assert "Your answer decides which question is most informative next." in text
    assert "little more" not in text


def test_decimals_resolve_a_hundredth_of_the_interval():
    assert [wording.count_decimals([quantity(0, width)]) for width in (500, 20, 0.3)] == [0, 1, 3]
