"""The plain facts of an interview survive JSON, and what is no record is refused."""

import json

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


def test_a_record_survives_json():
    assert Record.from_document(json.loads(json.dumps(RECORD.to_document()))) == RECORD


def test_an_answer_is_a_question_its_values_and_why_some_are_missing():
    assert RECORD.to_document()["answers"][1] == {
        "question": "blood panel",
        "values": {"ldl": 3.1},
        "without": {"hdl": "unknown"},
    }


def test_a_record_knows_what_is_closed_known_and_declined():
    assert RECORD.closed() == {"age", "blood panel", "smoker"}
    assert RECORD.known() == {"age", "ldl"}
    assert RECORD.declined() == {"smoker"}


def test_growing_and_shrinking_leave_the_old_record_alone():
    longer = RECORD.plus(Answer("sex", {"sex": "f"}))
    assert len(longer.answers) == 4
    assert longer.minus_last() == RECORD
    assert longer.key == RECORD.key


def test_every_interview_has_a_key_of_its_own():
    assert Record(("risk",)).key != Record(("risk",)).key


def test_one_target_may_be_written_without_a_list():
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
def test_what_is_no_record_is_refused_in_words(document):
    with pytest.raises(AnswerError, match=r"not the record of an interview.*Record.to_document"):
        Record.from_document(document)
