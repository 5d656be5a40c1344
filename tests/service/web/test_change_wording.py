"""Sentences about a change are complete, in every language and for every cause."""

import numpy as np
import pytest

from eddi import Variable
from eddi.model.prediction import Prediction
from eddi.service.interviews.questionnaire_settings import QuestionnaireSettings
from eddi.service.web.change_wording import Cause, describe_change
from eddi.service.web.texts import Texts

PAIN = Variable("pain", "ordinal", levels=("none", "mild", "strong"))
RISK = Variable("risk", "real", unit="points")
GERMAN = Texts(QuestionnaireSettings(languages=("de",)))


def quantity(low, high):
    middle = np.float64((low + high) / 2)
    return Prediction(RISK, middle, np.float64((high - low) / 3.3), np.array([low, high]))


def levels(*probabilities):
    return Prediction(PAIN, np.float64(1), np.float64(1), np.array([0.0, 2.0]), np.array(probabilities))


@pytest.mark.parametrize(
    ("before", "after", "text"),
    [
        (quantity(0, 10), quantity(2, 6), "narrowed the 90% range from 10 to 4."),
        (quantity(0, 10), quantity(0, 14), "widened the 90% range from 10 to 14. A surprising"),
        (quantity(0, 10), quantity(5, 15), "did not change the width of the 90% range"),
        (
            levels(0.5, 0.3, 0.2),
            levels(0.8, 0.1, 0.1),
            "raised the probability of “None” from possible (50%) to likely (80%).",
        ),
        (
            levels(0.8, 0.1, 0.1),
            levels(0.5, 0.3, 0.2),
            "lowered the probability of “None” from likely (80%) to possible (50%).",
        ),
        (
            levels(0.8, 0.1, 0.1),
            levels(0.1, 0.8, 0.1),
            "from unlikely (10%) to likely (80%). Our best guess changed from “None” to “Mild”.",
        ),
        (levels(0.8, 0.1, 0.1), levels(0.8, 0.0, 0.2), "did not change the probability of “None”."),
    ],
)
def test_certainty_may_grow_shrink_or_stay(before, after, text):
    assert text in describe_change(before, after, cause=Cause.ONE_ANSWER)


@pytest.mark.parametrize("cause", Cause)
def test_the_cause_is_the_subject_of_the_sentence(cause):
    changes = [(levels(0.5, 0.3, 0.2), levels(0.8, 0.1, 0.1)), (quantity(0, 10), quantity(2, 6))]
    for before, after in changes:
        assert describe_change(before, after, cause=cause).startswith(f"{cause.value} ")


def test_a_german_verb_agrees_with_its_subject():
    change = levels(0.5, 0.3, 0.2), levels(0.8, 0.1, 0.1)
    one = describe_change(*change, cause=Cause.ONE_ANSWER, texts=GERMAN)
    several = describe_change(*change, cause=Cause.ALL_ANSWERS, texts=GERMAN)
    assert one == (
        "Ihre Antwort hat die Wahrscheinlichkeit von „None“ erhöht: von möglich (50\u00a0%) auf "
        "wahrscheinlich (80\u00a0%)."
    )
    assert several.startswith("Ihre Antworten haben die Wahrscheinlichkeit")


def test_german_numbers_have_a_decimal_comma():
    text = describe_change(quantity(0, 10.5), quantity(2, 6), 1, cause=Cause.LAST_ANSWER, texts=GERMAN)
    assert "von 10,5 auf 4,0." in text
