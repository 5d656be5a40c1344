"""Who waits together is worked out together, and gets what it would get alone."""

import threading
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import numpy as np
import pytest

from eddi import UNKNOWN
from eddi.errors import AnswerError
from eddi.service.batcher import Batcher, BusyError, standings
from eddi.strategy.random import Random

SAID = {
    "age": (31.0, 64.5),
    "visits": (2, 9),
    "smoker": ("no", "yes"),
    "pain": ("none", "worst"),
    "town": ("Aber", None),
    "weight": (61.0, 90.0),
    "colour": ("red", "blue"),
}


def interviews(questionnaire, n, target=None, seed=0):
    """People who have answered some questions each, in any order."""
    random = np.random.default_rng(seed)
    held = []
    for _ in range(n):
        interview = questionnaire.interview(target)
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
    for standing, interview in zip(standings(questionnaire, held), held, strict=True):
        assert_as_alone(standing, interview)


def test_rewards_come_best_first(questionnaire):
    [standing] = standings(questionnaire, [questionnaire.interview()])
    assert list(standing.rewards.values()) == sorted(standing.rewards.values(), reverse=True)
    assert standing.question.name == next(iter(standing.rewards))


def test_another_strategy_asks_by_its_scores_and_still_tells_nats(questionnaire):
    shuffled = replace(questionnaire, strategy=Random(seed=3))
    [standing] = standings(shuffled, [interview := shuffled.interview()])
    assert standing.question == interview.ask()
    assert standing.rewards == pytest.approx(questionnaire.interview().rewards(), abs=1e-5)


def test_who_comes_at_once_is_gathered_whatever_their_target(questionnaire, batcher):
    sizes = []
    gathering = batcher(on_batch=sizes.append, window_s=0.05)
    held = interviews(questionnaire, 24) + interviews(questionnaire, 8, "weight")
    with ThreadPoolExecutor(len(held)) as people:
        found = list(people.map(lambda one: gathering.standing(questionnaire, one), held))
    assert sum(sizes) == 32
    assert len(sizes) < 16
    for standing, interview in zip(found, held, strict=True):
        assert_as_alone(standing, interview)


def test_no_more_than_the_most_are_worked_out_at_once(questionnaire, batcher):
    sizes = []
    gathering = batcher(on_batch=sizes.append, most=4)
    with ThreadPoolExecutor(16) as people:
        list(
            people.map(lambda one: gathering.standing(questionnaire, one), interviews(questionnaire, 32))
        )
    assert sum(sizes) == 32
    assert max(sizes) <= 4


def test_a_person_alone_is_not_kept_waiting(questionnaire, batcher):
    gathering = batcher(window_s=5.0)
    began = time.monotonic()
    for _ in range(3):
        gathering.standing(questionnaire, questionnaire.interview())
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
            return gathering.standing(questionnaire, one)
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
    slow = questionnaire.interview()
    evidence = slow.evidence
    slow.evidence = lambda: (entered.set(), release.wait(20), evidence())[-1]
    with ThreadPoolExecutor(2) as people:
        first = people.submit(crowded.standing, questionnaire, slow)
        assert entered.wait(20)
        second = people.submit(crowded.standing, questionnaire, questionnaire.interview())
        while not crowded._queue.full():
            time.sleep(0.005)
        with pytest.raises(BusyError, match="Try again in a moment"):
            crowded.standing(questionnaire, questionnaire.interview())
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
        batcher().standing(questionnaire, strange)


def test_an_answer_that_is_merely_strange_is_computed_with(questionnaire, batcher):
    strange = questionnaire.interview()
    strange.tell("weight", 1e3)
    assert batcher().standing(questionnaire, strange).is_finite()


def test_gathering_can_be_turned_off(questionnaire, batcher):
    sizes = []
    off = batcher(most=1, on_batch=sizes.append)
    assert_as_alone(off.standing(questionnaire, one := interviews(questionnaire, 1)[0]), one)
    absurd = questionnaire.interview()
    absurd.tell("weight", -1e300)
    with pytest.raises(AnswerError, match="'weight'"):
        off.standing(questionnaire, absurd)
    assert sizes == []


def test_who_comes_after_closing_is_not_left_waiting(questionnaire):
    closed = Batcher()
    closed.close()
    with pytest.raises(BusyError, match="the server is closing"):
        closed.standing(questionnaire, questionnaire.interview())
