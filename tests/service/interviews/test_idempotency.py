"""A request to begin an interview, sent twice, begins one; cut off, it goes on with that one."""

from concurrent.futures import ThreadPoolExecutor

import pytest

from eddi import Stop
from eddi.errors import TargetError
from eddi.service.interviews.idempotency import claimed
from eddi.service.interviews.interview_service import (
    Desk,
    InterviewConflictError,
    InterviewNotFoundError,
)
from eddi.service.interviews.questionnaire import Fixed, Questionnaire
from eddi.store.base import StoreUnreachableError
from eddi.store.factory import open_store
from eddi.store.memory import MemoryStore

NAME = "a-name-nobody-guesses"


@pytest.fixture
def desk(tmp_path, questionnaire):
    desk = Desk(open_store(f"sqlite:///{tmp_path}/answers.db"), Fixed((questionnaire,)))
    yield desk
    desk.close()


def interviews(desk):
    return list(desk.store.streams("interview/"))


def test_the_same_request_begins_one_interview_and_is_answered_the_same(desk):
    first = desk.open(request=NAME)
    desk.tell(first.key, first.question.name, None)
    again = desk.open(request=NAME)
    assert (again.key, again.question, again.version, again.rewards) == (
        first.key,
        first.question,
        1,
        first.rewards,
    )
    assert interviews(desk) == [f"interview/{first.key}"]
    assert desk.open(request="another-name-altogether").key != first.key


def test_the_same_request_at_once_begins_one_interview(desk):
    with ThreadPoolExecutor(8) as people:
        found = set(people.map(lambda _: desk.open(request=NAME).key, range(8)))
    assert len(found) == len(interviews(desk)) == 1


def test_another_request_of_the_same_name_is_refused(desk):
    desk.open(request=NAME)
    with pytest.raises(InterviewConflictError, match="used for another request already"):
        desk.open(request=NAME, target="weight")


def test_a_request_that_was_cut_off_goes_on_with_its_interview(desk, monkeypatch):
    wanted = {"target": None, "questionnaire": None}
    with monkeypatch.context() as patch:
        patch.setattr(desk, "_opened", lambda *_: (_ for _ in ()).throw(StoreUnreachableError("gone")))
        with pytest.raises(StoreUnreachableError):
            desk.open(request=NAME)
    assert interviews(desk) == []
    begun = claimed(desk.store, NAME, wanted).interview
    assert desk.open(request=NAME).key == begun


def test_a_request_that_cannot_be_does_not_use_its_name_up(desk):
    with pytest.raises(TargetError):
        desk.open(request=NAME, target="mood")
    assert desk.open(request=NAME, target="weight").interview.target == ("weight",)


def test_what_is_forgotten_is_not_begun_again_and_its_claim_is_forgotten_too(desk):
    key = desk.open(request=NAME).key
    desk.forget(key)
    with pytest.raises((InterviewNotFoundError, LookupError)):
        desk.open(request=NAME)
    for stream in desk.store.streams():
        assert not any(event.facts for event in desk.store.read(stream))
    assert desk.store.verify() == []


def test_the_name_of_a_request_is_not_kept(desk):
    desk.open(request=NAME)
    kept = [event.to_document() for stream in desk.store.streams() for event in desk.store.read(stream)]
    assert NAME not in str(kept)


def test_an_interview_that_was_over_at_once_is_answered_the_same(model_file):
    store = MemoryStore()
    desk = Desk(store, Fixed((Questionnaire.load(model_file, "stage", stop=Stop(after=0)),)))
    first, again = (desk.open(request=NAME) for _ in range(2))
    assert first.question is again.question is None
    assert first.version == again.version == 2
    desk.close()
