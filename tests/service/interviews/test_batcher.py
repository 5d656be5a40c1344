"""Waiting requests are computed in one batch, and each gets the result it would get alone."""

import threading
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import numpy as np
import pytest

from eddi import UNKNOWN, Interview, Stop
from eddi.service.interviews import batcher as batcher_module
from eddi.service.interviews.batcher import Batcher, BusyError, _Request, compute_next_steps
from eddi.strategy.exploration import Explore
from eddi.strategy.information import Information
from eddi.strategy.random import Random

VALUES = {
    "visits": (2, 9),
    "smoker": ("no", "yes"),
    "pain": ("none", "worst"),
    "town": ("Aber", None),
    "weight": (61.0, 90.0),
    "colour": ("red", "blue"),
}


def make_interviews(questionnaire, n, target=None, seed=0):
    """Different interviews, each with some answers in random order."""
    random = np.random.default_rng(seed)
    interviews = []
    for number in range(n):
        interview = questionnaire.interview(target)
        interview.tell("age", 30 + number / 2)
        for name in random.permutation(list(VALUES))[: random.integers(len(VALUES) + 1)]:
            if name not in interview.target:
                value = VALUES[name][random.integers(2)]
                interview.tell(str(name), UNKNOWN if value is None else value)
        interviews.append(interview)
    return interviews


@pytest.fixture
def make_batcher():
    batchers = []

    def make(**options):
        batchers.append(Batcher(**options))
        return batchers[-1]

    yield make
    for batcher in batchers:
        batcher.close()


def assert_same_as_alone(step, interview):
    assert step.question == interview.ask()
    rewards = interview.rewards()
    assert set(step.rewards) == set(rewards)
    assert [step.rewards[name] for name in rewards] == pytest.approx(list(rewards.values()), abs=1e-5)
    for name in interview.target:
        prediction = interview.predict(name)
        assert step.predictions[name].mean == pytest.approx(prediction.mean, rel=1e-4, nan_ok=True)
        if prediction.probabilities is not None:
            assert step.predictions[name].probabilities == pytest.approx(
                prediction.probabilities, abs=1e-5
            )


def test_interviews_of_several_models_are_encoded_as_if_alone(questionnaire, body_model):
    others = [Interview(body_model, questionnaire.target), Interview(body_model, questionnaire.target)]
    others[0].tell("body", 30, 70)
    several = make_interviews(questionnaire, 3)
    interviews = [several[0], others[0], several[1], several[2], others[1]]
    requests = _Request.from_interviews(interviews)
    assert [request.interview for request in requests] == interviews
    alone = [_Request.from_interview(interview) for interview in interviews]
    assert [request.cache_key for request in requests] == [request.cache_key for request in alone]


def test_a_row_has_the_same_result_in_any_batch(questionnaire):
    interviews = make_interviews(questionnaire, 40)
    steps = compute_next_steps([_Request.from_interview(interview) for interview in interviews])
    for step, interview in zip(steps, interviews, strict=True):
        assert_same_as_alone(step, interview)


def test_rewards_are_sorted(questionnaire):
    [step] = compute_next_steps([_Request.from_interview(questionnaire.interview())])
    assert list(step.rewards.values()) == sorted(step.rewards.values(), reverse=True)
    assert step.question.name == next(iter(step.rewards))


def test_another_strategy_chooses_by_its_scores_and_still_reports_nats(questionnaire):
    shuffled = replace(questionnaire, strategy=Random(seed=3))
    interview = shuffled.interview()
    [step] = compute_next_steps([_Request.from_interview(interview)])
    assert step.question == interview.ask()
    assert step.rewards == pytest.approx(questionnaire.interview().rewards(), abs=1e-5)


def test_concurrent_requests_are_batched_whatever_their_target(questionnaire, make_batcher):
    sizes = []
    batcher = make_batcher(on_batch=sizes.append, window_s=0.05)
    interviews = make_interviews(questionnaire, 24) + make_interviews(questionnaire, 8, "weight")
    with ThreadPoolExecutor(len(interviews)) as threads:
        steps = list(threads.map(batcher.next_step, interviews))
    assert sum(sizes) == 32
    assert len(sizes) < 16
    for step, interview in zip(steps, interviews, strict=True):
        assert_same_as_alone(step, interview)


def test_a_batch_is_not_larger_than_allowed(questionnaire, make_batcher):
    sizes = []
    batcher = make_batcher(on_batch=sizes.append, max_batch_size=4)
    with ThreadPoolExecutor(16) as threads:
        list(threads.map(batcher.next_step, make_interviews(questionnaire, 32)))
    assert sum(sizes) == 32
    assert max(sizes) <= 4


def test_a_single_request_does_not_wait_for_others(questionnaire, make_batcher):
    batcher = make_batcher(window_s=5.0)
    started_at = time.monotonic()
    for interview in make_interviews(questionnaire, 3):
        batcher.next_step(interview)
    assert time.monotonic() - started_at < 4


def test_an_error_of_one_request_does_not_affect_the_others(questionnaire, make_batcher):
    batcher = make_batcher(window_s=0.05)
    extreme = questionnaire.interview()
    extreme.tell("age", 1e300, confirm=True)
    broken = questionnaire.interview()
    broken.evidence = lambda: 1 / 0
    interviews = [extreme, broken, *make_interviews(questionnaire, 6)]

    def serve(interview):
        try:
            return batcher.next_step(interview)
        except Exception as error:
            return error

    with ThreadPoolExecutor(len(interviews)) as threads:
        results = list(threads.map(serve, interviews))
    assert_same_as_alone(results[0], extreme)
    assert isinstance(results[1], ZeroDivisionError)
    for step, interview in zip(results[2:], interviews[2:], strict=True):
        assert_same_as_alone(step, interview)


def test_a_full_queue_refuses_requests(questionnaire, make_batcher):
    batcher = make_batcher(max_waiting=1, max_batch_size=2)
    release, has_begun = threading.Event(), threading.Event()

    class SlowStrategy(Information):
        def score(self, *arguments):
            has_begun.set()
            release.wait(20)
            return super().score(*arguments)

    slow = replace(questionnaire, strategy=SlowStrategy())
    with ThreadPoolExecutor(2) as threads:
        first = threads.submit(batcher.next_step, slow.interview())
        assert has_begun.wait(20)
        second = threads.submit(batcher.next_step, questionnaire.interview())
        while not batcher._queue.full():
            time.sleep(0.005)
        with pytest.raises(BusyError, match="Try again in a moment"):
            batcher.next_step(questionnaire.interview())
        with pytest.raises(BusyError, match="the model is not responding"):
            batcher.check()
        release.set()
        assert first.result().question == second.result().question
    batcher.check()


@pytest.mark.parametrize("weight", [1e3, -1e300])
def test_a_confirmed_extreme_answer_is_accepted(questionnaire, make_batcher, weight):
    extreme = questionnaire.interview()
    extreme.tell("weight", weight, confirm=True)
    assert make_batcher().next_step(extreme).is_finite()


@pytest.mark.parametrize(("max_batch_size", "batches"), [(0, []), (1, [1])])
def test_batches_and_the_queue_can_be_disabled(questionnaire, make_batcher, max_batch_size, batches):
    sizes = []
    batcher = make_batcher(max_batch_size=max_batch_size, on_batch=sizes.append)
    [interview] = make_interviews(questionnaire, 1)
    assert_same_as_alone(batcher.next_step(interview), interview)
    assert sizes == batches
    broken = questionnaire.interview()
    broken.evidence = lambda: 1 / 0
    with pytest.raises(ZeroDivisionError):
        batcher.next_step(broken)


def test_a_recent_step_is_cached(questionnaire, make_batcher):
    sizes = []
    batcher = make_batcher(on_batch=sizes.append)
    assert batcher.cached_step(questionnaire.interview()) is None
    first = batcher.next_step(questionnaire.interview())
    assert batcher.next_step(questionnaire.interview()) is first
    assert batcher.cached_step(questionnaire.interview()) is first
    assert sizes == [1]


def test_interviews_that_differ_have_different_cache_entries(questionnaire, make_batcher):
    batcher = make_batcher()
    batcher.next_step(questionnaire.interview())
    others = [replace(questionnaire, stop=Stop(after=0)).interview(), questionnaire.interview("weight")]
    for answer in (("age", 61), ("age", UNKNOWN), ("town", "Bala")):
        others.append(questionnaire.interview())
        others[-1].tell(*answer)
    for interview in others:
        assert batcher.cached_step(interview) is None
        assert_same_as_alone(batcher.next_step(interview), interview)
        assert batcher.cached_step(interview) is not None


def test_the_cache_is_bounded(questionnaire, monkeypatch):
    monkeypatch.setattr(batcher_module, "MAX_CACHED", 3)
    batcher = Batcher()
    for age in range(30, 36):
        interview = questionnaire.interview()
        interview.tell("age", age)
        batcher.next_step(interview)
    assert len(batcher._cache) == 3
    assert batcher.cached_step(interview) is not None
    batcher.close()


def test_a_request_after_closing_is_refused(questionnaire):
    batcher = Batcher()
    batcher.close()
    with pytest.raises(BusyError, match="the server is shutting down"):
        batcher.next_step(questionnaire.interview())


def test_exploring_interviews_with_the_same_answers_do_not_share_a_cached_step(
    questionnaire, make_batcher
):
    exploring = replace(questionnaire, strategy=Explore(Information(), share=1.0))
    interviews = [exploring.interview() for _ in range(12)]
    batcher = make_batcher()
    asked = [batcher.next_step(interview).question for interview in interviews]
    assert asked == [interview.ask() for interview in interviews]
    assert len(set(asked)) > 1
