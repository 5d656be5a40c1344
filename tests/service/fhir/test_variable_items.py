"""Variables of every kind as items, and answers to them as values."""

import pytest

from eddi import DECLINED, UNKNOWN, Variable
from eddi.service.fhir.operation_outcome import ResourceError
from eddi.service.fhir.schemas import ItemAnswerIn
from eddi.service.fhir.variable_items import describe_variable, level_codes, read_value
from eddi.service.fhir.vocabulary import DATA_ABSENT_REASONS, MAX_VALUE, MIN_VALUE, UNIT
from eddi.service.interviews.questionnaire_settings import QuestionnaireSettings
from eddi.service.web.texts import PLAIN, Texts

AGE = Variable("age", "real", low=18, high=90, unit="years")
VISITS = Variable("visits", "count")
SMOKER = Variable("smoker", "binary", levels=("no", "yes"))
SEX = Variable("sex", "binary", levels=(0, 1), labels=("Female", "Male"))
PAIN = Variable("pain", "ordinal", levels=("none", "very  strong"))


def read(variable, answer, texts=PLAIN):
    return read_value(variable, [ItemAnswerIn.model_validate(answer)], texts, path="item[0]")


def test_a_quantity_is_a_decimal_with_its_unit_and_range():
    assert describe_variable(AGE, PLAIN) == {
        "type": "decimal",
        "extension": [
            {"url": MIN_VALUE, "valueDecimal": 18},
            {"url": MAX_VALUE, "valueDecimal": 90},
            {"url": UNIT, "valueCoding": {"display": "years"}},
        ],
    }


def test_a_count_is_an_integer_from_0_up():
    item = describe_variable(VISITS, PLAIN)
    assert item == {"type": "integer", "extension": [{"url": MIN_VALUE, "valueInteger": 0}]}


def test_yes_and_no_are_a_boolean():
    assert describe_variable(SMOKER, PLAIN) == {"type": "boolean"}
    assert read(SMOKER, {"valueBoolean": True}) == "yes"


def test_two_levels_with_labels_are_a_choice():
    item = describe_variable(SEX, PLAIN)
    assert [option["valueCoding"]["display"] for option in item["answerOption"]] == [
        "Female",
        "Male",
        "I don’t know",  # noqa: RUF001
        "Prefer not to say",
    ]
    assert read(SEX, {"valueCoding": {"code": "1"}}) == 1


def test_labels_of_the_settings_turn_a_boolean_into_a_choice():
    texts = Texts(QuestionnaireSettings(labels={"smoker": {"yes": "I smoke"}}))
    item = describe_variable(SMOKER, texts)
    assert item["answerOption"][1]["valueCoding"]["display"] == "I smoke"


def test_a_level_that_is_no_valid_code_has_its_number_as_code():
    assert level_codes(PAIN) == ["none", "level-2"]
    assert read(PAIN, {"valueCoding": {"code": "level-2"}}) == "very  strong"


@pytest.mark.parametrize(
    ("variable", "answer", "value"),
    [
        (AGE, {"valueDecimal": 61.5}, 61.5),
        (AGE, {"valueInteger": 61}, 61.0),
        (AGE, {"valueQuantity": {"value": 61, "unit": "Years"}}, 61.0),
        (AGE, {"valueQuantity": {"value": 61}}, 61.0),
        (VISITS, {"valueInteger": 3}, 3),
        (PAIN, {"valueCoding": {"system": "urn:eddi:variable:pain", "code": "none"}}, "none"),
        (PAIN, {"valueCoding": {"system": DATA_ABSENT_REASONS, "code": "asked-declined"}}, DECLINED),
        (PAIN, {"valueCoding": {"system": DATA_ABSENT_REASONS, "code": "asked-unknown"}}, UNKNOWN),
    ],
)
def test_an_answer_is_read(variable, answer, value):
    assert read(variable, answer) == value


@pytest.mark.parametrize(
    ("variable", "answer", "message"),
    [
        (AGE, {"valueBoolean": True}, "'age' takes one valueDecimal, got valueBoolean"),
        (AGE, {"valueDecimal": 1.0, "valueInteger": 1}, "got valueDecimal, valueInteger"),
        (AGE, {"valueQuantity": {"value": 61, "unit": "months"}}, "must be a number in years"),
        (AGE, {"valueQuantity": {"unit": "years"}}, "must be a number in years"),
        (AGE, {}, "got no value"),
        (VISITS, {"valueDecimal": 3.0}, "'visits' takes one valueInteger"),
        (SMOKER, {"valueCoding": {"code": "yes"}}, "'smoker' takes one valueBoolean"),
        (PAIN, {"valueCoding": {"code": "mild"}}, "must be one of the codes none, level-2"),
        (PAIN, {"valueCoding": {"system": "http://x", "code": "none"}}, "of urn:eddi:variable:pain"),
        (PAIN, {"valueCoding": {"system": DATA_ABSENT_REASONS, "code": "x"}}, "is not supported"),
    ],
)
def test_an_answer_that_does_not_suit_is_refused(variable, answer, message):
    with pytest.raises(ResourceError, match=message) as refused:
        read(variable, answer)
    assert refused.value.expression == "item[0].answer[0]"


@pytest.mark.parametrize("n_answers", [0, 2])
def test_a_variable_has_one_answer(n_answers):
    answers = [ItemAnswerIn.model_validate({"valueInteger": 1})] * n_answers
    with pytest.raises(ResourceError, match=f"takes one answer, got {n_answers}"):
        read_value(VISITS, answers, PLAIN, path="item[0]")
