"""Laws of interviews, for both rewards and any answers in any order."""

import json

import numpy as np
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from eddi import DECLINED, UNKNOWN, Interview, Stop
from eddi.interview.next_step import InterviewStates, NextSteps
from eddi.interview.record import Record
from eddi.interview.simulated import SimulatedInterviews
from eddi.strategy import FixedOrder, Information

quick = settings(max_examples=12, deadline=None, suppress_health_check=list(HealthCheck))
every_reward = pytest.mark.parametrize("reward", [None, "latent", "target"])

VALUES = {
    "age": st.floats(20, 90),
    "visits": st.integers(0, 20),
    "smoker": st.sampled_from(["no", "yes"]),
    "pain": st.sampled_from(["none", "mild", "strong", "worst"]),
    "town": st.sampled_from(["Aber", "Bala", "Conwy"]),
    "weight": st.floats(50, 120),
    "colour": st.sampled_from(["red", "green", "blue"]),
}
NO_ANSWER = st.sampled_from([UNKNOWN, DECLINED])
ROUNDING = 1e-3  # nats; closer rewards may change places with the order of a sum


@st.composite
def answers(draw):
    """Answers to some questions in some order; some of them are UNKNOWN or DECLINED."""
    names = draw(st.lists(st.sampled_from(list(VALUES)), unique=True))
    return {name: draw(st.one_of(VALUES[name], NO_ANSWER)) for name in names}


def hold_interview(model, answered, reward=None, *, target="stage"):
    """An interview with these answers."""
    interview = Interview(model, target, strategy=Information(reward=reward))
    for name, value in answered.items():
        interview.tell(name, value)
    return interview


def next_name(interview):
    question = interview.ask()
    return None if question is None else question.name


@quick
@given(answered=answers(), data=st.data())
@pytest.mark.parametrize("target", ["stage", "weight"])
@every_reward
def test_the_order_of_answers_has_no_effect(model, reward, target, answered, data):
    answered = {name: value for name, value in answered.items() if name != target}
    shuffled = dict(data.draw(st.permutations(list(answered.items()))))
    first, second = (
        hold_interview(model, order, reward, target=target) for order in (answered, shuffled)
    )
    assert next_name(first) == next_name(second)
    assert first.rewards() == second.rewards()
    np.testing.assert_array_equal(first.predict().mean, second.predict().mean)
    np.testing.assert_array_equal(first.predict().interval, second.predict().interval)


@quick
@given(answered=answers())
@every_reward
def test_a_replay_asks_the_same_question(model, reward, answered):
    first = hold_interview(model, answered, reward)
    document = json.loads(json.dumps(first.record.to_document()))
    record = Record.from_document(document)
    again = Interview(model, record=record, strategy=Information(reward=reward))
    assert again.record == first.record
    assert next_name(again) == next_name(first)
    assert again.rewards() == first.rewards()


@quick
@given(answered=answers())
@every_reward
def test_undo_restores_the_interview_before_the_last_answer(model, reward, answered):
    assume(answered)
    before = hold_interview(model, dict(list(answered.items())[:-1]), reward)
    after = hold_interview(model, answered, reward)
    after.undo()
    assert after.record.answers == before.record.answers
    assert after.rewards() == before.rewards()


@quick
@given(answered=answers())
@every_reward
def test_a_question_without_an_answer_changes_no_prediction_and_is_not_asked_again(
    model, reward, answered
):
    known = {name: value for name, value in answered.items() if value not in (UNKNOWN, DECLINED)}
    with_unknown, without = hold_interview(model, answered, reward), hold_interview(model, known, reward)
    np.testing.assert_array_equal(with_unknown.predict().mean, without.predict().mean)
    assert not set(answered) & set(with_unknown.rewards())


@quick
@given(answered=answers())
@every_reward
def test_ask_does_not_change_the_interview(model, reward, answered):
    interview = hold_interview(model, answered, reward)
    record = interview.record
    assert next_name(interview) == next_name(interview)
    assert interview.record == record


@quick
@given(batch=st.lists(answers(), min_size=1, max_size=5))
@pytest.mark.parametrize(
    "strategy",
    [
        Information(),
        Information(reward="latent"),
        Information(reward="target"),
        FixedOrder(("town", "pain", "age")),
    ],
    ids=["default", "latent", "target", "fixed order"],
)
def test_an_interview_asks_the_same_question_alone_and_in_a_batch(model, strategy, batch):
    interviews = []
    for own_answers in batch:
        interviews.append(Interview(model, "stage", strategy=strategy, stop=Stop(after=6)))
        for name, value in own_answers.items():
            interviews[-1].tell(name, value)
    states = InterviewStates.concatenate([interview.state() for interview in interviews])
    steps = NextSteps(interviews[0].rules, states)
    for row, interview in enumerate(interviews):
        name, step = next_name(interview), steps[row]
        assert (name is None) == (step.question is None)
        if name is not None and step.question.name != name:
            rewards = interview.rewards()
            assert rewards[name] - rewards[step.question.name] < ROUNDING


def test_creating_an_interview_with_a_risk_simulates_nothing(people_model, monkeypatch):
    model = people_model(target="stage")
    monkeypatch.setattr(model.fitted(), "certificates", {})
    n_runs, run = [], SimulatedInterviews.run

    def count_runs(self, n_steps):
        n_runs.append(n_steps)
        return run(self, n_steps)

    monkeypatch.setattr(SimulatedInterviews, "run", count_runs)
    interview = Interview(model, stop=Stop(risk=0.9, confidence=0.5))
    interview.tell("age", 61)
    interview.predict()
    assert n_runs == []
    interview.ask()
    assert len(n_runs) == 1
    interview.ask()
    Interview(model, stop=Stop(risk=0.8, confidence=0.5)).ask()  # the certificate serves any risk
    assert len(n_runs) == 1
