"""Outcomes are recorded, corrected, withdrawn and erased with the interview."""

import pytest

from eddi.errors import AnswerError, OutOfRangeError
from eddi.service.interviews.history import interview_stream, name_person
from eddi.service.interviews.outcomes.outcome import read_outcome
from eddi.service.interviews.outcomes.recording import (
    OutcomeRequest,
    PersonNotFoundError,
    parse_values,
)
from eddi.store.base import PendingAppend
from eddi.table.schema import Schema
from eddi.table.variable import Variable


def read(service, key):
    return read_outcome(service.store.read(interview_stream(key)))


def test_an_outcome_is_an_event_of_the_interview(service, recorder):
    key = service.start().key
    recorder.record("people", name_person(key), "late", by="ada-1")
    event = service.store.read(interview_stream(key))[-1]
    assert (event.kind, event.facts) == ("outcome", {"values": {"stage": "late"}, "by": "ada-1"})
    assert read(service, key).values == {"stage": "late"}
    assert service.store.verify() == []


def test_the_last_outcome_counts(service, recorder):
    key = service.start().key
    for value in ("early", "late", None, "last"):
        recorder.record("people", name_person(key), value, by="ada")
    assert read(service, key).values == {"stage": "last"}
    recorder.record("people", name_person(key), None, by="ada")
    assert read(service, key) is None


def test_recording_the_same_outcome_again_adds_no_event(service, recorder):
    key = service.start().key
    first = recorder.record("people", name_person(key), "early", by="ada")
    again = recorder.record("people", name_person(key), " early ", by="bob")
    assert (first.is_stored, again.is_stored) == (True, False)
    assert again.outcome == first.outcome
    assert len(service.store.read(interview_stream(key))) == 2


def test_the_interview_goes_on_after_an_outcome(service, recorder):
    """An answer at the version before the outcome is accepted: the respondent saw nothing of it."""
    view = service.start()
    recorder.record("people", name_person(view.key), "early", by="ada")
    after = service.add_answer(view.key, "age", 61, after=view.version)
    assert after.interview.record.n_answered == 1
    assert service.resume(view.key).interview.record == after.interview.record


def test_deleting_the_interview_erases_the_outcome(service, recorder):
    key = service.start().key
    recorder.record("people", name_person(key), "early", by="ada")
    service.forget(key)
    assert read(service, key) is None
    assert all(
        "early" not in event.facts.values() for event in service.store.read(interview_stream(key))
    )
    with pytest.raises(LookupError, match="was forgotten"):
        recorder.record("people", name_person(key), "early", by="ada")


def test_a_value_that_the_target_cannot_take_is_refused(service, recorder):
    person = name_person(service.start().key)
    with pytest.raises(AnswerError, match="'stage' must be one of early, late, last"):
        recorder.record("people", person, "IX", by="ada")
    with pytest.raises(AnswerError, match="'age' is not a target of this interview"):
        recorder.record("people", person, {"age": 3}, by="ada")


@pytest.mark.parametrize("person", ["", "0" * 16, "../x", "é" * 60])
def test_a_person_who_does_not_exist_is_named_in_the_error(recorder, person):
    with pytest.raises(PersonNotFoundError, match=r"nobody called .* exported answers"):
        recorder.record("people", person, "early", by="ada")


def test_a_person_who_answered_another_questionnaire_is_not_found(service, recorder):
    person = name_person(service.start().key)
    with pytest.raises(PersonNotFoundError):
        recorder.record("other", person, "early", by="ada")


def test_a_batch_stores_what_is_valid(service, recorder):
    keys = [service.start().key for _ in range(3)]
    requests = [
        OutcomeRequest(name_person(keys[0]), "early"),
        OutcomeRequest("nobody", "early"),
        OutcomeRequest(name_person(keys[1]), "wrong"),
        OutcomeRequest(name_person(keys[2]), "late"),
        OutcomeRequest(name_person(keys[0]), "last"),
    ]
    recorder.record_all("people", requests, by="ada")
    assert [request.is_stored for request in requests] == [True, False, False, True, True]
    assert [request.error is None for request in requests] == [True, False, False, True, True]
    assert read(service, keys[0]).values == {"stage": "last"}


def test_another_writer_at_the_same_time_is_no_error(service, recorder, monkeypatch):
    key = service.start().key
    stream, append_all, conflicts = interview_stream(key), service.store.append_all, iter(range(3))

    def append_late(requests):
        if next(conflicts, None) is not None:  # another server is first
            after = len(service.store.read(stream))
            append_all([PendingAppend(stream, "undone", {}, after)])
        append_all(requests)

    monkeypatch.setattr(service.store, "append_all", append_late)
    assert recorder.record("people", name_person(key), "early", by="ada").is_stored
    kinds = [event.kind for event in service.store.read(stream)]
    assert kinds == ["opened", "undone", "undone", "undone", "outcome"]


def test_values_of_several_targets_are_given_by_name():
    schema = Schema([Variable("risk", "binary", ("no", "yes")), Variable("ldl", "real", low=0, high=9)])
    targets = ("risk", "ldl")
    assert parse_values({"risk": "yes", "ldl": None}, schema, targets) == {"risk": "yes"}
    with pytest.raises(AnswerError, match="several targets: risk, ldl"):
        parse_values(3, schema, targets)
    with pytest.raises(OutOfRangeError, match="between 0 and 9"):
        parse_values({"ldl": 12}, schema, targets)
    assert parse_values({"ldl": "12"}, schema, targets, confirm=True) == {"ldl": 12.0}
