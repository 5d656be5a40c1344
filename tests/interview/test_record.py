"""The record of an interview, and its JSON document."""

import json
from dataclasses import replace

import pytest

from eddi import DECLINED, UNKNOWN
from eddi.errors import AnswerError
from eddi.interview.record import Answer, Record

RECORD = Record(
    ("risk",),
    (
        Answer("age", {"age": 61.0}),
        Answer("blood panel", {"ldl": 3.1}, {"hdl": UNKNOWN}),
        Answer("smoker", {}, {"smoker": DECLINED}),
    ),
    "key 1",
)


def test_a_record_is_unchanged_by_a_round_trip_through_json():
    assert Record.from_document(json.loads(json.dumps(RECORD.to_document()))) == RECORD


def test_questions_that_are_withheld_survive_a_round_trip_through_json():
    record = replace(RECORD, withheld=("weight",))
    assert Record.from_document(json.loads(json.dumps(record.to_document()))) == record
    assert "withheld" not in RECORD.to_document()


def test_the_document_of_an_answer_has_question_values_and_reasons_for_missing_values():
    assert RECORD.to_document()["answers"][1] == {
        "question": "blood panel",
        "values": {"ldl": 3.1},
        "without": {"hdl": "unknown"},
    }


def test_a_record_lists_answered_questions_and_answered_and_declined_variables():
    assert RECORD.answered_questions() == {"age", "blood panel", "smoker"}
    assert RECORD.answered_variables() == {"age", "ldl"}
    assert RECORD.declined_variables() == {"smoker"}


def test_adding_and_removing_an_answer_do_not_change_the_original_record():
    longer = RECORD.plus(Answer("sex", {"sex": "f"}))
    assert len(longer.answers) == 4
    assert longer.minus_last() == RECORD
    assert longer.key == RECORD.key


def test_every_record_has_its_own_key():
    assert Record(("risk",)).key != Record(("risk",)).key


def test_a_single_target_may_be_given_as_a_string():
    assert Record.from_document({"key": "k", "target": "risk", "answers": []}).target == ("risk",)


@pytest.mark.parametrize(
    "document",
    [
        [],
        {},
        {"key": "k", "target": ["risk"]},
        {"key": "k", "target": None, "answers": []},
        {"key": "k", "target": ["risk"], "answers": [{}]},
        {"key": "k", "target": ["risk"], "answers": ["age"]},
        {"key": "k", "target": ["risk"], "answers": [{"question": "a", "values": 3}]},
        {"key": "k", "target": ["risk"], "answers": [{"question": "a", "without": {"a": "lost"}}]},
    ],
)
def test_a_document_that_is_not_a_record_is_refused(document):
    with pytest.raises(AnswerError, match=r"not the record of an interview.*Record.to_document"):
        Record.from_document(document)


def test_the_probability_of_a_question_is_part_of_the_record():
    answer = Answer("age", {"age": 61}, propensity=0.25)
    assert answer.to_document()["propensity"] == 0.25
    assert Answer.from_document(answer.to_document()) == answer
    assert "propensity" not in Answer("age", {"age": 61}).to_document()


def test_a_probability_above_one_is_refused():
    document = {"key": "a", "target": "ill", "answers": [{"question": "age", "propensity": 1.5}]}
    with pytest.raises(AnswerError, match=r"a propensity is a probability from 0 to 1, got 1.5"):
        Record.from_document(document)
