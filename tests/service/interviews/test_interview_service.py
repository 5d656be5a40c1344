"""Interviews over a store: opened, gone on with anywhere, changed by one at a time."""

import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager

import pytest

from eddi import DECLINED, UNKNOWN, Stop
from eddi.errors import AnswerError, TargetError
from eddi.service.interviews.interview_service import (
    Desk,
    InterviewConflictError,
    InterviewMovedError,
    InterviewNotFoundError,
    QuestionnaireMissingError,
)
from eddi.service.interviews.questionnaire import Fixed, Questionnaire
from eddi.store.base import StoreConflict
from eddi.store.factory import open_store
from eddi.store.memory import MemoryStore


@contextmanager
def desk_at(store, *questionnaires):
    desk = Desk(store, Fixed(questionnaires))
    yield desk
    desk.close()


@pytest.fixture(params=["memory", "sqlite"])
def desk(request, tmp_path, questionnaire):
    url = "memory:" if request.param == "memory" else f"sqlite:///{tmp_path}/answers.db"
    with desk_at(open_store(url), questionnaire) as one:
        yield one


def kinds(desk, key):
    return [event.kind for event in desk.store.read(f"interview/{key}")]


def test_an_interview_opens_with_the_best_question(desk, questionnaire):
    sitting = desk.open()
    assert (sitting.version, sitting.interview.target) == (1, ("stage",))
    assert sitting.question == questionnaire.interview().ask()
    assert sitting.prediction.variable.name == "stage"
    [opened] = desk.store.read(f"interview/{sitting.key}")
    assert opened.facts == {
        "questionnaire": "people",
        "version": 1,
        "model": questionnaire.seal,
        "target": ["stage"],
        "rules": {},
    }


def test_another_target_may_be_chosen_but_only_a_known_one(desk):
    assert desk.open(target="weight").interview.target == ("weight",)
    assert desk.open(target=["weight", "age"]).interview.target == ("weight", "age")
    with pytest.raises(TargetError, match="the target 'mood' is not a variable"):
        desk.open(target="mood")


def test_an_answer_leads_where_the_library_would_lead(desk, questionnaire):
    key = desk.open().key
    sitting = desk.tell(key, "age", 61)
    alone = questionnaire.interview()
    alone.tell("age", 61)
    assert sitting.question == alone.ask()
    assert sitting.version == 2
    assert desk.resume(key).interview.record.answers == alone.record.answers


@pytest.mark.parametrize(
    ("said", "values", "without"),
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
def test_values_are_said_as_eddi_ask_takes_them(desk, said, values, without):
    sitting = desk.tell(desk.open().key, "age", said)
    [answer] = sitting.interview.record.answers
    assert answer.to_document() == {"question": "age", "values": values, "without": without}


def test_an_answer_that_does_not_fit_is_not_kept(desk):
    key = desk.open().key
    for question, value in (("age", "old"), ("mood", 1), ("stage", "late"), ("weight", 1e300)):
        with pytest.raises(AnswerError):
            desk.tell(key, question, value)
    assert kinds(desk, key) == ["opened"]


def test_what_was_answered_is_not_answered_again_but_changed(desk):
    key = desk.open().key
    desk.tell(key, "age", 61)
    desk.tell(key, "smoker", "yes")
    with pytest.raises(InterviewConflictError, match="'age' was answered already"):
        desk.tell(key, "age", 62)
    sitting = desk.change(key, "age", 62)
    assert [answer.values for answer in sitting.interview.record.answers] == [
        {"age": 62.0},
        {"smoker": "yes"},
    ]
    with pytest.raises(InterviewConflictError, match="'town' was not answered yet"):
        desk.change(key, "town", "Bala")
    with pytest.raises(AnswerError):
        desk.change(key, "age", "old")
    assert desk.undo(key).interview.record.closed() == {"age"}
    assert kinds(desk, key) == ["opened", "told", "told", "changed", "undone"]


def test_undo_gives_the_same_question_again_until_nothing_is_left(desk):
    first = desk.open()
    desk.tell(first.key, first.question.name, None)
    back = desk.undo(first.key)
    assert (back.question, back.version) == (first.question, 3)
    with pytest.raises(InterviewConflictError, match="no answer to undo"):
        desk.undo(first.key)


def test_of_two_who_saw_the_same_only_the_first_is_heard(desk):
    seen = desk.open()
    desk.tell(seen.key, "age", 61, after=seen.version)
    with pytest.raises(InterviewMovedError, match="is at version 2, and this was meant for version 1"):
        desk.tell(seen.key, "smoker", "yes", after=seen.version)
    with pytest.raises(InterviewMovedError):
        desk.undo(seen.key, after=1)
    assert desk.resume(seen.key).interview.record.closed() == {"age"}


def test_many_at_once_without_a_version_are_all_heard_and_none_twice(desk):
    key = desk.open().key
    said = {"age": 61, "visits": 3, "smoker": "yes", "pain": "mild", "town": "Bala", "weight": 80}
    with ThreadPoolExecutor(6) as people:
        list(people.map(lambda name: desk.tell(key, name, said[name]), said))
    answers = desk.resume(key).interview.record.answers
    assert sorted(answer.question for answer in answers) == sorted(said)


def test_of_many_at_one_version_exactly_one_is_heard(desk):
    sitting = desk.open()
    start = threading.Barrier(6)

    def tell(name):
        start.wait()
        try:
            return desk.tell(sitting.key, name, None, after=1).version
        except InterviewMovedError:
            return None

    names = ["age", "visits", "smoker", "pain", "town", "weight"]
    with ThreadPoolExecutor(6) as people:
        versions = list(people.map(tell, names))
    assert [version for version in versions if version] == [2]
    assert len(desk.resume(sitting.key).interview.record.answers) == 1


def test_the_same_request_again_changes_nothing_and_is_answered_the_same(desk):
    key = desk.open().key
    first = desk.tell(key, "age", 61, request="one")
    desk.tell(key, "smoker", "no", request="two")
    again = desk.tell(key, "age", 61, request="one")
    assert (again.version, again.question, again.rewards) == (
        first.version,
        first.question,
        first.rewards,
    )
    assert again.interview.record == first.interview.record
    undone = desk.undo(key, request="three")
    assert desk.undo(key, request="three").version == undone.version
    assert kinds(desk, key) == ["opened", "told", "told", "undone"]
    with pytest.raises(InterviewConflictError, match="used for another request already"):
        desk.tell(key, "age", 62, request="one")
    with pytest.raises(InterviewConflictError, match="used for another request already"):
        desk.tell(key, "town", "Bala", request="three")


def test_the_same_request_at_once_is_done_once(desk):
    key = desk.open().key
    with ThreadPoolExecutor(8) as people:
        found = list(people.map(lambda _: desk.tell(key, "age", 61, request="one").version, range(8)))
    assert found == [2] * 8
    assert kinds(desk, key) == ["opened", "told"]


def test_enough_is_noted_and_undo_goes_on(model_file):
    short = Questionnaire.load(model_file, "stage", stop=Stop(after=1))
    with desk_at(MemoryStore(), short) as desk:
        key = desk.open().key
        done = desk.tell(key, "age", 61, request="one")
        assert done.question is None
        assert done.version == 3
        assert desk.tell(key, "age", 61, request="one").version == 3
        assert desk.store.read(f"interview/{key}")[-1].facts == {"why": "enough"}
        assert desk.undo(key).question is not None
        assert desk.metrics.registry.get_sample_value("eddi_interviews_total", {"state": "closed"}) == 1


def test_when_all_was_asked_nothing_is_left(desk):
    sitting = desk.open()
    while sitting.question is not None:
        sitting = desk.tell(sitting.key, sitting.question.name, None)
    assert len(sitting.interview.record.answers) == 7
    assert desk.store.read(f"interview/{sitting.key}")[-1].facts == {"why": "nothing left"}


def test_what_is_forgotten_cannot_be_found(desk):
    key = desk.open().key
    desk.tell(key, "town", "Conwy")
    desk.forget(key)
    for act in (desk.resume, desk.undo, desk.forget, lambda key: desk.tell(key, "age", 61)):
        with pytest.raises(InterviewNotFoundError, match="never begun, or was forgotten"):
            act(key)
    assert "Conwy" not in str(desk.store.read(f"interview/{key}"))


@pytest.mark.parametrize("key", ["", "x", "0" * 32, "../../key/1", "A" * 32, "0" * 31 + "\n"])
def test_what_was_never_begun_cannot_be_found(desk, key):
    with pytest.raises(InterviewNotFoundError):
        desk.resume(key)


def test_another_desk_on_the_same_store_gives_the_same_next_question(store_url, model_file):
    desks = [
        Desk(open_store(store_url), Fixed((Questionnaire.load(model_file, "stage"),))) for _ in range(2)
    ]
    sitting = desks[0].open()
    for turn in range(4):
        other = desks[(turn + 1) % 2].resume(sitting.key)
        assert (other.question, other.version, other.rewards) == (
            sitting.question,
            sitting.version,
            sitting.rewards,
        )
        sitting = desks[turn % 2].tell(sitting.key, sitting.question.name, None)
    for desk in desks:
        desk.close()


def test_an_interview_stays_with_the_model_it_began_with(tmp_path, people_model, questionnaire):
    other_file = tmp_path / "people.eddi"
    people_model("zi").save(other_file)
    other = Questionnaire.load(other_file, "stage")
    store = MemoryStore()
    old, new = Desk(store, Fixed((questionnaire,))), Desk(store, Fixed((questionnaire, other)))
    key = old.open().key
    assert new.resume(key).questionnaire is questionnaire
    assert new.open().questionnaire is other
    only_new = Desk(store, Fixed((other,)))
    with pytest.raises(QuestionnaireMissingError, match="began with version 1 of 'people', whose model"):
        only_new.resume(key)
    only_new.forget(key)
    for desk in (old, new, only_new):
        desk.batcher.close()


def test_an_interview_ends_by_the_rules_it_began_with(model_file):
    brief, long = (Questionnaire.load(model_file, "stage", stop=Stop(after=n, budget=9)) for n in (1, 5))
    store = MemoryStore()
    before, after = Desk(store, Fixed((brief,))), Desk(store, Fixed((long,)))
    key = before.open().key
    assert store.read(f"interview/{key}")[0].facts["rules"] == {"after": 1, "budget": 9}
    gone_on = after.resume(key)
    assert gone_on.interview.turns.stop == Stop(after=1, budget=9)
    assert after.tell(key, gone_on.question.name, None).question is None
    assert after.open().interview.turns.stop == Stop(after=5, budget=9)
    for desk in (before, after):
        desk.batcher.close()


def test_one_step_without_a_memory_is_that_of_the_library(desk, questionnaire):
    sitting = desk.ask({"answers": {"age": 61, "town": None}})
    alone = questionnaire.interview()
    alone.tell("age", 61)
    alone.tell("town", UNKNOWN)
    assert sitting.question == alone.ask()
    assert desk.ask({"answers": {}, "target": "weight"}).interview.target == ("weight",)
    assert list(desk.store.streams()) == []
    with pytest.raises(AnswerError, match="not an object of answers"):
        desk.ask([1])


def test_who_is_always_second_is_told_so(desk, monkeypatch):
    key = desk.open().key

    def conflict(*_, **__):
        raise StoreConflict("somebody else was first")

    monkeypatch.setattr(desk.store, "append", conflict)
    with pytest.raises(InterviewMovedError, match="at the same moment"):
        desk.tell(key, "age", 61)
