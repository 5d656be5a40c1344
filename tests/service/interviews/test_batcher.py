"""Who waits together is worked out together, and gets what it would get alone."""

import threading
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import numpy as np
import pytest

from eddi import UNKNOWN, Stop
from eddi.errors import AnswerError
from eddi.service.interviews.batcher import Batcher, BusyError, Row, standings
from eddi.strategy.information import Information
from eddi.strategy.random import Random

SAID = {
    "visits": (2, 9),
    "smoker": ("no", "yes"),
    "pain": ("none", "worst"),
    "town": ("Aber", None),
    "weight": (61.0, 90.0),
    "colour": ("red", "blue"),
}


def interviews(questionnaire, n, target=None, seed=0):
    """People no two of whom are alike, who have answered some questions each, in any order."""
    random = np.random.default_rng(seed)
    held = []
    for number in range(n):
        interview = questionnaire.interview(target)
        interview.tell("age", 30 + number / 2)
        for name in random.permutation(list(SAID))[: random.integers(len(SAID) + 1)]:
            if name not in interview.target:
                value = SAID[name][random.integers(2)]
                interview.tell(str(name), UNKNOWN if value is None else value)
        held.append(interview)
    return held


@pytest.fixture
def batcher():
    made = []

    def make(**rules):
        made.append(Batcher(**rules))
        return made[-1]

    yield make
    for one in made:
        one.close()


def assert_as_alone(standing, interview):
    assert standing.question == interview.ask()
    alone = interview.rewards()
    assert set(standing.rewards) == set(alone)
    assert [standing.rewards[name] for name in alone] == pytest.approx(list(alone.values()), abs=1e-5)
    for name in interview.target:
        belief = interview.predict(name)
        assert standing.predictions[name].mean == pytest.approx(belief.mean, rel=1e-4, nan_ok=True)
        if belief.probabilities is not None:
            assert standing.predictions[name].probabilities == pytest.approx(
                belief.probabilities, abs=1e-5
            )


def test_a_row_gets_in_any_company_what_it_gets_alone(questionnaire):
    held = interviews(questionnaire, 40)
    for standing, interview in zip(standings([Row.of(one) for one in held]), held, strict=True):
        assert_as_alone(standing, interview)


def test_rewards_come_best_first(questionnaire):
    [standing] = standings([Row.of(questionnaire.interview())])
    assert list(standing.rewards.values()) == sorted(standing.rewards.values(), reverse=True)
    assert standing.question.name == next(iter(standing.rewards))


def test_another_strategy_asks_by_its_scores_and_still_tells_nats(questionnaire):
    shuffled = replace(questionnaire, strategy=Random(seed=3))
    [standing] = standings([Row.of(interview := shuffled.interview())])
    assert standing.question == interview.ask()
    assert standing.rewards == pytest.approx(questionnaire.interview().rewards(), abs=1e-5)


def test_who_comes_at_once_is_gathered_whatever_their_target(questionnaire, batcher):
    sizes = []
    gathering = batcher(on_batch=sizes.append, window_s=0.05)
    held = interviews(questionnaire, 24) + interviews(questionnaire, 8, "weight")
    with ThreadPoolExecutor(len(held)) as people:
        found = list(people.map(lambda one: gathering.standing(one), held))
    assert sum(sizes) == 32
    assert len(sizes) < 16
    for standing, interview in zip(found, held, strict=True):
        assert_as_alone(standing, interview)


def test_no_more_than_the_most_are_worked_out_at_once(questionnaire, batcher):
    sizes = []
    gathering = batcher(on_batch=sizes.append, most=4)
    with ThreadPoolExecutor(16) as people:
        list(people.map(lambda one: gathering.standing(one), interviews(questionnaire, 32)))
    assert sum(sizes) == 32
    assert max(sizes) <= 4


def test_a_person_alone_is_not_kept_waiting(questionnaire, batcher):
    gathering = batcher(window_s=5.0)
    began = time.monotonic()
    for _ in range(3):
        gathering.standing(questionnaire.interview())
    assert time.monotonic() - began < 4


def test_the_fault_of_one_row_is_not_that_of_its_company(questionnaire, batcher):
    gathering = batcher(window_s=0.05)
    absurd = questionnaire.interview()
    absurd.tell("age", 1e300)
    broken = questionnaire.interview()
    broken.evidence = lambda: 1 / 0
    held = [absurd, broken, *interviews(questionnaire, 6)]

    def served(one):
        try:
            return gathering.standing(one)
        except Exception as error:
            return error

    with ThreadPoolExecutor(len(held)) as people:
        found = list(people.map(served, held))
    assert isinstance(found[0], AnswerError)
    assert "'age' is 1e+300, so far from all the model has learned" in str(found[0])
    assert isinstance(found[1], ZeroDivisionError)
    for standing, interview in zip(found[2:], held[2:], strict=True):
        assert_as_alone(standing, interview)


def test_a_full_queue_turns_people_away(questionnaire, batcher):
    crowded = batcher(waiting=1, most=2)
    release, entered = threading.Event(), threading.Event()

    class Slow(Information):
        def score(self, *what):
            entered.set()
            release.wait(20)
            return super().score(*what)

    slow = replace(questionnaire, strategy=Slow())
    with ThreadPoolExecutor(2) as people:
        first = people.submit(crowded.standing, slow.interview())
        assert entered.wait(20)
        second = people.submit(crowded.standing, questionnaire.interview())
        while not crowded._queue.full():
            time.sleep(0.005)
        with pytest.raises(BusyError, match="Try again in a moment"):
            crowded.standing(questionnaire.interview())
        with pytest.raises(BusyError, match="does not answer just now"):
            crowded.check()
        release.set()
        assert first.result().question == second.result().question
    crowded.check()


def test_an_answer_too_far_out_is_refused_by_name(questionnaire, batcher):
    strange = questionnaire.interview()
    strange.tell("smoker", "yes")
    strange.tell("weight", -1e300)
    with pytest.raises(AnswerError, match=r"'weight' is -1e\+300, .* Check the value and its unit"):
        batcher().standing(strange)


def test_an_answer_that_is_merely_strange_is_computed_with(questionnaire, batcher):
    strange = questionnaire.interview()
    strange.tell("weight", 1e3)
    assert batcher().standing(strange).is_finite()


@pytest.mark.parametrize(("most", "batches"), [(0, []), (1, [1])])
def test_gathering_can_be_turned_off_and_the_queue_too(questionnaire, batcher, most, batches):
    sizes = []
    off = batcher(most=most, on_batch=sizes.append)
    assert_as_alone(off.standing(one := interviews(questionnaire, 1)[0]), one)
    assert sizes == batches
    absurd = questionnaire.interview()
    absurd.tell("weight", -1e300)
    with pytest.raises(AnswerError, match="'weight'"):
        off.standing(absurd)


def test_what_was_worked_out_lately_is_remembered(questionnaire, batcher):
    sizes = []
    gathering = batcher(on_batch=sizes.append)
    one = questionnaire.interview()
    assert gathering.recall(one) is None
    first = gathering.standing(one)
    assert gathering.standing(questionnaire.interview()) is first
    assert gathering.recall(questionnaire.interview()) is first
    assert sizes == [1]


def test_only_the_very_same_is_remembered(questionnaire, batcher):
    gathering = batcher()
    one = questionnaire.interview()
    gathering.standing(one)
    unlike = [replace(questionnaire, stop=Stop(after=0)).interview(), questionnaire.interview("weight")]
    for say in (("age", 61), ("age", UNKNOWN), ("town", "Bala")):
        unlike.append(questionnaire.interview())
        unlike[-1].tell(*say)
    for interview in unlike:
        assert gathering.recall(interview) is None
        assert_as_alone(gathering.standing(interview), interview)
        assert gathering.recall(interview) is not None


def test_no_more_is_remembered_than_may_be(questionnaire, monkeypatch):
    monkeypatch.setattr("eddi.service.interviews.batcher.N_REMEMBERED", 3)
    small = Batcher()
    for age in range(30, 36):
        interview = questionnaire.interview()
        interview.tell("age", age)
        small.standing(interview)
    assert len(small._remembered) == 3
    assert small.recall(interview) is not None
    small.close()


def test_who_comes_after_closing_is_not_left_waiting(questionnaire):
    closed = Batcher()
    closed.close()
    with pytest.raises(BusyError, match="the server is closing"):
        closed.standing(questionnaire.interview())
