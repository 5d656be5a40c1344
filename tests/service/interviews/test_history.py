"""The record of an interview follows from its events."""

import pytest

from eddi.interview.record import Answer
from eddi.service.interviews.history import History, replay
from eddi.store.memory import MemoryStore

AGE, OLDER, TOWN = (
    Answer("age", {"age": 61.0}),
    Answer("age", {"age": 62.0}),
    Answer("town", {"town": "Bala"}),
)


@pytest.fixture
def events():
    store = MemoryStore()
    store.append("interview/1", "opened", {"target": ["stage"]}, after=0)
    store.append("interview/1", "told", AGE.to_document() | {"request": "a"}, after=1)
    store.append("interview/1", "told", TOWN.to_document() | {"request": "b"}, after=2)
    store.append("interview/1", "closed", {"why": "enough"}, after=3)
    store.append("interview/1", "changed", OLDER.to_document() | {"request": "c"}, after=4)
    store.append("interview/1", "undone", {}, after=5)
    return store.read("interview/1")


def test_a_replay_adds_changes_and_removes_answers(events):
    answers = [replay("1", events[:n]).answers for n in range(1, len(events) + 1)]
    assert answers == [(), (AGE,), (AGE, TOWN), (AGE, TOWN), (OLDER, TOWN), (OLDER,)]


@pytest.mark.parametrize(
    ("idempotency_key", "version", "answers"),
    [("a", 2, (AGE,)), ("b", 4, (AGE, TOWN)), ("c", 5, (OLDER, TOWN))],
)
def test_the_history_up_to_a_request_includes_the_end_that_it_caused(
    events, questionnaire, idempotency_key, version, answers
):
    history = History("1", tuple(events), questionnaire, replay("1", events))
    earlier = history.up_to_request(idempotency_key)
    assert (earlier.version, earlier.record.answers) == (version, answers)


def test_an_unknown_request_has_no_history(events, questionnaire):
    history = History("1", tuple(events), questionnaire, replay("1", events))
    assert history.up_to_request("d") is None
