"""A repeated request to start an interview starts one, even if the first attempt was interrupted."""

from concurrent.futures import ThreadPoolExecutor

import pytest

from eddi.errors import TargetError
from eddi.service.errors import InterviewConflictError, InterviewNotFoundError
from eddi.service.interviews.idempotency import claim_interview_key
from eddi.service.interviews.interview_service import InterviewService
from eddi.service.interviews.questionnaire import FixedCatalogue, Questionnaire
from eddi.store.base import StoreUnreachableError
from eddi.store.factory import open_store
from eddi.store.memory import MemoryStore

KEY = "an-unguessable-key"


@pytest.fixture
def service(tmp_path, questionnaire):
    store = open_store(f"sqlite:///{tmp_path}/answers.db")
    service = InterviewService(store, FixedCatalogue((questionnaire,)))
    yield service
    service.close()


def interview_streams(service):
    return list(service.store.streams("interview/"))


def test_a_repeated_request_starts_one_interview_and_has_the_same_response(service):
    first = service.start(idempotency_key=KEY)
    service.add_answer(first.key, first.question.name, None)
    repeated = service.start(idempotency_key=KEY)
    assert (repeated.key, repeated.question, repeated.version, repeated.rewards) == (
        first.key,
        first.question,
        1,
        first.rewards,
    )
    assert interview_streams(service) == [f"interview/{first.key}"]
    assert service.start(idempotency_key="another-unguessable-key").key != first.key


def test_concurrent_repetitions_start_one_interview(service):
    with ThreadPoolExecutor(8) as threads:
        keys = set(threads.map(lambda _: service.start(idempotency_key=KEY).key, range(8)))
    assert len(keys) == len(interview_streams(service)) == 1


def test_another_request_with_the_same_key_is_refused(service):
    service.start(idempotency_key=KEY)
    with pytest.raises(InterviewConflictError, match="already used for another request"):
        service.start(idempotency_key=KEY, target="weight")


def test_an_interrupted_request_continues_with_its_interview(service, monkeypatch):
    def interrupt(*_, **__):
        raise StoreUnreachableError("the store is away")

    with monkeypatch.context() as patch:
        patch.setattr(service, "queue_start", interrupt)
        with pytest.raises(StoreUnreachableError):
            service.start(idempotency_key=KEY)
    assert interview_streams(service) == []
    claim = claim_interview_key(service.store, KEY, {"target": None, "questionnaire": None})
    assert service.start(idempotency_key=KEY).key == claim.interview_key


def test_an_invalid_request_does_not_use_up_its_key(service):
    with pytest.raises(TargetError):
        service.start(idempotency_key=KEY, target="mood")
    assert service.start(idempotency_key=KEY, target="weight").interview.target == ("weight",)


def test_a_forgotten_interview_is_not_started_again_and_its_claim_is_forgotten_too(service):
    key = service.start(idempotency_key=KEY).key
    service.forget(key)
    with pytest.raises((InterviewNotFoundError, LookupError)):
        service.start(idempotency_key=KEY)
    for stream in service.store.streams():
        assert not any(event.facts for event in service.store.read(stream))
    assert service.store.verify() == []


def test_the_idempotency_key_itself_is_not_stored(service):
    service.start(idempotency_key=KEY)
    store = service.store
    documents = [event.to_document() for stream in store.streams() for event in store.read(stream)]
    assert KEY not in str(documents)


def test_an_interview_that_ends_at_once_has_the_same_response(model_file):
    questionnaire = Questionnaire.load(model_file, "stage", rules={"after": 0})
    service = InterviewService(MemoryStore(), FixedCatalogue((questionnaire,)))
    first, repeated = (service.start(idempotency_key=KEY) for _ in range(2))
    assert first.question is repeated.question is None
    assert first.version == repeated.version == 2
    service.close()
