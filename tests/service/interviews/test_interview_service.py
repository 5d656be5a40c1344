"""Interviews in a store: started, resumed on any server, and changed by one request at a time."""

import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager

import pytest

from eddi import DECLINED, UNKNOWN, Stop
from eddi.errors import AnswerError, TargetError
from eddi.service.errors import (
    InterviewConflictError,
    InterviewMovedError,
    InterviewNotFoundError,
    QuestionnaireMissingError,
)
from eddi.service.interviews.interview_service import InterviewService
from eddi.service.interviews.questionnaire import FixedCatalogue, Questionnaire
from eddi.store.base import StoreConflict
from eddi.store.factory import open_store
from eddi.store.memory import MemoryStore


@contextmanager
def open_service(store, *questionnaires):
    service = InterviewService(store, FixedCatalogue(questionnaires))
    yield service
    service.close()


@pytest.fixture(params=["memory", "sqlite"])
def service(request, tmp_path, questionnaire):
    url = "memory:" if request.param == "memory" else f"sqlite:///{tmp_path}/answers.db"
    with open_service(open_store(url), questionnaire) as service:
        yield service


def event_kinds(service, key):
    return [event.kind for event in service.store.read(f"interview/{key}")]


def test_an_interview_starts_with_the_best_question(service, questionnaire):
    view = service.start()
    assert (view.version, view.interview.target) == (1, ("stage",))
    assert view.question == questionnaire.interview().ask()
    assert view.prediction.variable.name == "stage"
    [event] = service.store.read(f"interview/{view.key}")
    assert event.facts == {
        "questionnaire": "people",
        "version": 1,
        "model": questionnaire.model_sha256,
        "target": ["stage"],
        "rules": {},
        "strategy": "information",
    }


def test_another_target_can_be_chosen_if_it_exists(service):
    assert service.start(target="weight").interview.target == ("weight",)
    assert service.start(target=["weight", "age"]).interview.target == ("weight", "age")
    with pytest.raises(TargetError, match="the target 'mood' is not a variable"):
        service.start(target="mood")


def test_the_next_question_is_that_of_the_library(service, questionnaire):
    key = service.start().key
    view = service.add_answer(key, "age", 61)
    interview = questionnaire.interview()
    interview.tell("age", 61)
    assert view.question == interview.ask()
    assert view.version == 2
    assert service.resume(key).interview.record.answers == interview.record.answers


@pytest.mark.parametrize(
    ("given", "values", "without"),
    [
        (61, {"age": 61.0}, {}),
        ("61", {"age": 61.0}, {}),
        ([61], {"age": 61.0}, {}),
        ({"age": 61}, {"age": 61.0}, {}),
        (None, {}, {"age": "unknown"}),
        ([None], {}, {"age": "unknown"}),
        ({"without": "declined"}, {}, {"age": "declined"}),
        ({"age": {"without": "declined"}}, {}, {"age": "declined"}),
        (DECLINED, {}, {"age": "declined"}),
    ],
)
def test_values_have_the_format_of_eddi_ask(service, given, values, without):
    view = service.add_answer(service.start().key, "age", given)
    [answer] = view.interview.record.answers
    assert answer.to_document() == {"question": "age", "values": values, "without": without}


def test_an_invalid_answer_is_not_stored(service):
    key = service.start().key
    for question, value in (("age", "old"), ("mood", 1), ("stage", "late"), ("weight", 1e300)):
        with pytest.raises(AnswerError):
            service.add_answer(key, question, value)
    assert event_kinds(service, key) == ["opened"]


def test_an_answered_question_can_only_be_changed(service):
    key = service.start().key
    service.add_answer(key, "age", 61)
    service.add_answer(key, "smoker", "yes")
    with pytest.raises(InterviewConflictError, match="'age' was already answered"):
        service.add_answer(key, "age", 62)
    view = service.change_answer(key, "age", 62)
    assert [answer.values for answer in view.interview.record.answers] == [
        {"age": 62.0},
        {"smoker": "yes"},
    ]
    with pytest.raises(InterviewConflictError, match="'town' is not answered yet"):
        service.change_answer(key, "town", "Bala")
    with pytest.raises(AnswerError):
        service.change_answer(key, "age", "old")
    assert service.undo(key).interview.record.answered_questions() == {"age"}
    assert event_kinds(service, key) == ["opened", "told", "told", "changed", "undone"]


def test_undo_returns_to_the_previous_question_until_no_answer_is_left(service):
    first = service.start()
    service.add_answer(first.key, first.question.name, None)
    undone = service.undo(first.key)
    assert (undone.question, undone.version) == (first.question, 3)
    with pytest.raises(InterviewConflictError, match="no answer to undo"):
        service.undo(first.key)


def test_of_two_requests_for_the_same_version_only_the_first_succeeds(service):
    started = service.start()
    service.add_answer(started.key, "age", 61, after=started.version)
    with pytest.raises(InterviewMovedError, match="is at version 2, but this request is for version 1"):
        service.add_answer(started.key, "smoker", "yes", after=started.version)
    with pytest.raises(InterviewMovedError):
        service.undo(started.key, after=1)
    assert service.resume(started.key).interview.record.answered_questions() == {"age"}


def test_concurrent_answers_without_a_version_are_all_stored_once(service):
    key = service.start().key
    values = {"age": 61, "visits": 3, "smoker": "yes", "pain": "mild", "town": "Bala", "weight": 80}
    with ThreadPoolExecutor(6) as threads:
        list(threads.map(lambda name: service.add_answer(key, name, values[name]), values))
    answers = service.resume(key).interview.record.answers
    assert sorted(answer.question for answer in answers) == sorted(values)


def test_of_concurrent_answers_for_one_version_exactly_one_succeeds(service):
    started = service.start()
    barrier = threading.Barrier(6)

    def add_answer(name):
        barrier.wait()
        try:
            return service.add_answer(started.key, name, None, after=1).version
        except InterviewMovedError:
            return None

    names = ["age", "visits", "smoker", "pain", "town", "weight"]
    with ThreadPoolExecutor(6) as threads:
        versions = list(threads.map(add_answer, names))
    assert [version for version in versions if version] == [2]
    assert len(service.resume(started.key).interview.record.answers) == 1


def test_a_repeated_request_changes_nothing_and_has_the_same_response(service):
    key = service.start().key
    first = service.add_answer(key, "age", 61, idempotency_key="one")
    service.add_answer(key, "smoker", "no", idempotency_key="two")
    repeated = service.add_answer(key, "age", 61, idempotency_key="one")
    assert (repeated.version, repeated.question, repeated.rewards) == (
        first.version,
        first.question,
        first.rewards,
    )
    assert repeated.interview.record == first.interview.record
    undone = service.undo(key, idempotency_key="three")
    assert service.undo(key, idempotency_key="three").version == undone.version
    assert event_kinds(service, key) == ["opened", "told", "told", "undone"]
    with pytest.raises(InterviewConflictError, match="already used for another request"):
        service.add_answer(key, "age", 62, idempotency_key="one")
    with pytest.raises(InterviewConflictError, match="already used for another request"):
        service.add_answer(key, "town", "Bala", idempotency_key="three")


def test_concurrent_repetitions_of_a_request_are_stored_once(service):
    key = service.start().key

    def add_answer(_):
        return service.add_answer(key, "age", 61, idempotency_key="one").version

    with ThreadPoolExecutor(8) as threads:
        versions = list(threads.map(add_answer, range(8)))
    assert versions == [2] * 8
    assert event_kinds(service, key) == ["opened", "told"]


def test_the_end_is_stored_and_undo_reopens_the_interview(model_file):
    short = Questionnaire.load(model_file, "stage", rules={"after": 1})
    with open_service(MemoryStore(), short) as service:
        key = service.start().key
        last = service.add_answer(key, "age", 61, idempotency_key="one")
        assert last.question is None
        assert last.version == 3
        assert service.add_answer(key, "age", 61, idempotency_key="one").version == 3
        assert service.store.read(f"interview/{key}")[-1].facts == {"why": "enough"}
        assert service.undo(key).question is not None
        registry = service.metrics.registry
        assert registry.get_sample_value("eddi_interviews_total", {"state": "closed"}) == 1


def test_an_interview_ends_when_no_question_is_left(service):
    view = service.start()
    while view.question is not None:
        view = service.add_answer(view.key, view.question.name, None)
    assert len(view.interview.record.answers) == 7
    assert service.store.read(f"interview/{view.key}")[-1].facts == {"why": "nothing left"}


def test_a_forgotten_interview_cannot_be_found(service):
    key = service.start().key
    service.add_answer(key, "town", "Conwy")
    service.forget(key)
    for act in (
        service.resume,
        service.undo,
        service.forget,
        lambda key: service.add_answer(key, "age", 61),
    ):
        with pytest.raises(InterviewNotFoundError, match="never started, or it was forgotten"):
            act(key)
    assert "Conwy" not in str(service.store.read(f"interview/{key}"))


@pytest.mark.parametrize("key", ["", "x", "0" * 32, "../../key/1", "A" * 32, "0" * 31 + "\n"])
def test_an_unknown_key_finds_no_interview(service, key):
    with pytest.raises(InterviewNotFoundError):
        service.resume(key)


def test_two_servers_on_one_store_give_the_same_next_question(store_url, model_file):
    services = [
        InterviewService(
            open_store(store_url), FixedCatalogue((Questionnaire.load(model_file, "stage"),))
        )
        for _ in range(2)
    ]
    view = services[0].start()
    for step in range(4):
        other = services[(step + 1) % 2].resume(view.key)
        assert (other.question, other.version, other.rewards) == (
            view.question,
            view.version,
            view.rewards,
        )
        view = services[step % 2].add_answer(view.key, view.question.name, None)
    for service in services:
        service.close()


def test_an_interview_stays_on_the_model_it_started_with(tmp_path, people_model, questionnaire):
    other_file = tmp_path / "people.eddi"
    people_model("zi").save(other_file)
    other = Questionnaire.load(other_file, "stage")
    store = MemoryStore()
    old = InterviewService(store, FixedCatalogue((questionnaire,)))
    both = InterviewService(store, FixedCatalogue((questionnaire, other)))
    only_new = InterviewService(store, FixedCatalogue((other,)))
    key = old.start().key
    assert both.resume(key).questionnaire is questionnaire
    assert both.start().questionnaire is other
    with pytest.raises(
        QuestionnaireMissingError, match="started with version 1 of 'people', whose model"
    ):
        only_new.resume(key)
    only_new.forget(key)
    for service in (old, both, only_new):
        service.batcher.close()


def test_an_interview_ends_by_the_rules_it_started_with(model_file):
    brief, long = (
        Questionnaire.load(model_file, "stage", rules={"after": n, "budget": 9}) for n in (1, 5)
    )
    store = MemoryStore()
    before, after = (
        InterviewService(store, FixedCatalogue((questionnaire,))) for questionnaire in (brief, long)
    )
    key = before.start().key
    assert store.read(f"interview/{key}")[0].facts["rules"] == {"after": 1, "budget": 9}
    resumed = after.resume(key)
    assert resumed.interview.rules.stop == Stop(after=1, budget=9)
    assert after.add_answer(key, "age", None).question is not None  # it does not count
    assert after.add_answer(key, "town", "Bala").question is None
    assert after.start().interview.rules.stop == Stop(after=5, budget=9)
    for service in (before, after):
        service.batcher.close()


def test_a_single_step_is_that_of_the_library_and_stores_nothing(service, questionnaire):
    view = service.ask({"answers": {"age": 61, "town": None}})
    interview = questionnaire.interview()
    interview.tell("age", 61)
    interview.tell("town", UNKNOWN)
    assert view.question == interview.ask()
    assert service.ask({"answers": {}, "target": "weight"}).interview.target == ("weight",)
    assert list(service.store.streams()) == []
    with pytest.raises(AnswerError, match="must be an object of answers"):
        service.ask([1])


def test_a_request_that_is_never_first_is_told_so(service, monkeypatch):
    key = service.start().key

    def conflict(requests):
        for request in requests:
            request.error = StoreConflict("another request was first")

    monkeypatch.setattr(service.store, "append_all", conflict)
    with pytest.raises(InterviewMovedError, match="at the same time"):
        service.add_answer(key, "age", 61)


def test_an_interview_keeps_the_strategy_it_started_with(model_file):
    random, default = (Questionnaire.load(model_file, "stage", strategy=name) for name in ("random", ""))
    store = MemoryStore()
    before, after = (
        InterviewService(store, FixedCatalogue((questionnaire,))) for questionnaire in (random, default)
    )
    started = before.start()
    resumed = after.resume(started.key)
    assert resumed.questionnaire.strategy_name == "random"
    assert resumed.question == started.question
    assert after.start().questionnaire.strategy_name == "information"
    for service in (before, after):
        service.batcher.close()
