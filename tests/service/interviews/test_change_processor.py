"""Batches of changes: one transaction, isolated failures, and histories in memory that may be outdated."""

from dataclasses import replace

import pytest

from eddi.errors import AnswerError
from eddi.service.errors import InterviewConflictError, InterviewNotFoundError
from eddi.service.interviews.interview_service import InterviewService
from eddi.service.interviews.questionnaire import FixedCatalogue
from eddi.store.factory import open_store
from eddi.strategy import Explore


class CountedStore:
    """A store that counts its calls."""

    def __init__(self, store):
        self._store, self.calls = store, []

    def __getattr__(self, name):
        method = getattr(self._store, name)

        def call(*arguments, **options):
            self.calls.append(name)
            return method(*arguments, **options)

        return call


@pytest.fixture
def services(tmp_path, questionnaire):
    """Two servers on one store."""
    url = f"sqlite:///{tmp_path / 'answers.db'}"
    catalogue = FixedCatalogue((questionnaire,))
    pair = [InterviewService(CountedStore(open_store(url)), catalogue) for _ in range(2)]
    yield pair
    for service in pair:
        service.close()


def answer_together(service, answers):
    """Let all answers wait, and apply them in one batch."""
    service.changes.submit = lambda change: change
    pending = [service.queue_answer(*answer) for answer in answers]
    service.store.calls.clear()
    service.processor.apply(pending)
    return [change.result for change in pending]


def test_a_batch_is_one_transaction_without_a_read(services):
    service, _ = services
    keys = [service.start().key for _ in range(10)]
    results = answer_together(service, [(key, "age", 61) for key in keys])
    assert all(result.result().interview.record.n_answered == 1 for result in results)
    assert service.store.calls == ["append_all"]


def test_interviews_that_are_not_in_memory_are_read_at_once(services):
    service, other = services
    keys = [other.start().key for _ in range(10)]
    results = answer_together(service, [(key, "age", 61) for key in keys])
    assert all(result.exception() is None for result in results)
    assert service.store.calls == ["read_all", "append_all"]


def test_a_change_that_fails_does_not_affect_the_others(services):
    service, _ = services
    good, bad = service.start().key, service.start().key
    answers = [(good, "age", 61), (bad, "age", "old"), ("0" * 32, "age", 61), ("x", "age", 61)]
    accepted, *failed = answer_together(service, answers)
    assert accepted.result().interview.record.n_answered == 1
    errors = [type(result.exception()) for result in failed]
    assert errors == [AnswerError, InterviewNotFoundError, InterviewNotFoundError]


def test_two_answers_to_one_interview_are_applied_one_after_the_other(services):
    service, _ = services
    key = service.start().key
    first, second, third = answer_together(
        service, [(key, "age", 61), (key, "smoker", "yes"), (key, "age", 62)]
    )
    assert first.result().version == 2
    assert second.result().version == 3
    assert isinstance(third.exception(), InterviewConflictError)


def test_an_outdated_history_in_memory_is_replaced(services):
    """Each server changes the interview after the other one has read it."""
    first, second = services
    key = first.start().key
    names = ["age", "smoker", "pain", "town"]
    values = [61, "yes", "mild", "Bala"]
    for number, (name, value) in enumerate(zip(names, values, strict=True), start=1):
        view = services[number % 2].add_answer(key, name, value)
        assert view.interview.record.n_answered == number
    view = first.undo(key)
    assert view.interview.record.n_answered == 3
    assert [a.question for a in second.undo(key).interview.record.answers] == names[:2]


def test_an_error_on_an_outdated_history_is_checked_again(services):
    first, second = services
    key = first.start().key
    second.add_answer(key, "age", 61)
    assert first.undo(key).interview.record.n_answered == 0  # in memory, there was no answer


def test_an_interview_that_another_server_forgot_is_not_continued(services):
    first, second = services
    key = first.start().key
    second.forget(key)
    with pytest.raises(InterviewNotFoundError):
        first.add_answer(key, "age", 61)


def test_a_repeated_request_changes_nothing_on_any_server(services):
    first, second = services
    key = first.start().key
    views = [service.add_answer(key, "age", 61, idempotency_key="once") for service in services * 2]
    assert {view.version for view in views} == {2}
    assert len(second.store.read(f"interview/{key}")) == 2


def test_the_same_next_question_is_asked_from_memory_and_from_the_store(services):
    first, second = services
    view = first.start()
    while view.question is not None:
        name = view.question.name
        [variable] = view.question.reveals
        described = first.catalogue.current().model.schema[variable]
        value = described.levels[0] if described.levels else 60
        view = first.add_answer(view.key, name, value, confirm=True)
        resumed = second.resume(view.key)
        assert resumed.question == view.question
        assert resumed.version == view.version


@pytest.fixture
def exploring(questionnaire):
    """A server whose questions are random in half of the cases."""
    random = replace(questionnaire, strategy=Explore(questionnaire.strategy, 0.5))
    service = InterviewService(open_store("memory:"), FixedCatalogue((random,)))
    yield service
    service.close()


def read_facts(service, key):
    return service.store.read(f"interview/{key}")[-1].facts


def test_the_probability_of_a_random_question_is_stored_with_the_answer(exploring):
    view = exploring.start()
    exploring.add_answer(view.key, view.question.name, {"without": "unknown"})
    facts = read_facts(exploring, view.key)
    assert facts["propensity"] == view.step.propensity
    assert 0 < facts["propensity"] < 1


def test_a_volunteered_answer_has_no_probability(exploring):
    view = exploring.start()
    other = next(name for name in view.step.ranking if name != view.question.name)
    exploring.add_answer(view.key, other, {"without": "unknown"})
    assert "propensity" not in read_facts(exploring, view.key)


def test_a_repeated_request_of_a_random_question_changes_nothing(exploring):
    view = exploring.start()
    for _ in range(2):
        exploring.add_answer(
            view.key, view.question.name, {"without": "unknown"}, idempotency_key="again"
        )
    assert len(exploring.store.read(f"interview/{view.key}")) == 2


def test_without_exploration_no_probability_is_stored(services):
    service, _ = services
    view = service.start()
    service.add_answer(view.key, view.question.name, {"without": "unknown"})
    assert "propensity" not in read_facts(service, view.key)
