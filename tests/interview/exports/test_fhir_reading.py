"""Exported QuestionnaireResponses are read back unchanged."""

import json
from dataclasses import replace

import pytest

from eddi.errors import AnswerError
from eddi.interview.exports.answer_file import write_answers
from eddi.interview.exports.answer_format import AnswerFormat
from eddi.interview.exports.fhir import to_questionnaire_response
from eddi.interview.exports.fhir_reading import read_bundle
from eddi.interview.exports.xlsform import to_submissions


def test_a_bundle_is_read_back_unchanged(people, schema):
    text = write_answers(people, schema, AnswerFormat.FHIR)
    read = read_bundle(json.loads(text), schema)
    assert [person.name for person in read] == ["p1", "p2"]
    assert [person.is_finished for person in read] == [True, False]
    assert [person.ended_at for person in read] == [person.ended_at for person in people]
    for person, original in zip(read, people, strict=True):
        assert replace(person.record, key="") == replace(original.record, key="")


def test_answers_that_were_read_can_be_exported_as_a_table(people, schema):
    text = write_answers(people, schema, AnswerFormat.FHIR)
    table = to_submissions(read_bundle(json.loads(text), schema), schema)
    answers = [name for name in table.column_names if name not in ("start", "end", "KEY")]
    assert table.select(answers) == to_submissions(people, schema).select(answers)


def test_a_single_response_and_scores_of_adaptive_forms_are_accepted(people, schema):
    response = to_questionnaire_response(people[0], schema)
    response["item"].append({"linkId": "prediction/score", "item": []})
    (read,) = read_bundle(response, schema)
    assert len(read.record.answers) == 8


def response_with(item):
    return {"resourceType": "QuestionnaireResponse", "status": "completed", "item": [item]}


@pytest.mark.parametrize(
    ("document", "message"),
    [
        ([], "must be a JSON object"),
        ({"resourceType": "Patient"}, "must be a QuestionnaireResponse, got 'Patient'"),
        ({"resourceType": "Bundle", "entry": {}}, "must be a list"),
        (response_with({"linkId": "wieght"}), "no question 'wieght'. Did you mean 'weight'"),
        (response_with({"linkId": "weight"}), "must have one answer, got 0"),
        (response_with({"linkId": "weight", "answer": [{}]}), "needs one of valueBoolean"),
        (
            response_with({"linkId": "weight", "answer": [{"valueDecimal": "heavy"}]}),
            "'weight' must be a number",
        ),
        (
            response_with({"linkId": "sex", "answer": [{"valueCoding": {"code": "3"}}]}),
            "'sex' must be one of 1, 2, got '3'",
        ),
        (
            response_with({"linkId": "weight", "answer": [{"valueBoolean": True}]}),
            "not answered with true or false",
        ),
        (
            response_with({"linkId": "tool", "answer": [{"valueCoding": {"code": "hammer"}}]}),
            "expected some of a, b, got 'hammer'",
        ),
        (
            response_with({"linkId": "panel", "item": [{"linkId": "panel/x"}]}),
            "expected: panel/ldl, panel/hdl",
        ),
    ],
)
def test_an_answer_that_does_not_fit_is_named(schema, document, message):
    with pytest.raises(AnswerError, match=message):
        read_bundle(document, schema)
