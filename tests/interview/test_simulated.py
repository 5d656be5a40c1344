"""Simulated interviews: every question is answered from a held-out row."""

import numpy as np
import pytest

from eddi import Interview, Stop
from eddi.errors import StopError
from eddi.interview.rules import InterviewRules
from eddi.interview.simulated import SimulatedInterviews
from eddi.strategy import FixedOrder, Information
from eddi.table.evidence import Evidence

ORDER = ("age", "visits", "smoker", "pain", "town", "weight", "colour")


@pytest.fixture
def simulate(model, people):
    """Builds simulated interviews about the stage of 20 rows with missing values."""

    def build(*, strategy=None, stop=None, n_rows=20):
        fitted = model.fitted()
        rules = InterviewRules(fitted, ("stage",), strategy or Information(), stop or Stop())
        return SimulatedInterviews(rules, fitted.evidence(people(n_rows, seed=4, missing=0.3)))

    return build


def test_a_question_is_asked_only_if_the_row_has_a_new_answer(simulate):
    interviews = simulate()
    steps = list(interviews.run(interviews.n_steps(None)))
    for step in steps:
        rows = np.flatnonzero(step.chosen >= 0)
        assert interviews.truth.observed[rows, step.chosen[rows]].all()
        assert not step.evidence.observed[rows, step.chosen[rows]].any()
        assert not step.closed[rows, step.chosen[rows]].any()


def test_every_answer_becomes_evidence(simulate):
    interviews = simulate()
    *steps, last = interviews.run(interviews.n_steps(None))
    stage = interviews.rules.model.schema.position("stage")
    expected = interviews.truth.hide([stage])
    assert (last.evidence.observed == expected.observed).all()
    assert (last.evidence.values == expected.values).all()
    assert (last.chosen == -1).all()
    for before, after in zip(steps, [*steps[1:], last], strict=True):
        n_new = after.evidence.observed.sum(1) - before.evidence.observed.sum(1)
        assert (n_new == (before.chosen >= 0)).all()


def test_a_row_that_has_stopped_is_not_asked_again(simulate):
    interviews = simulate(stop=Stop(probability_above=0.6))
    chosen = np.stack(
        [step.chosen for step in interviews.run(interviews.n_steps(None))]
    )  # [steps, rows]
    is_over = np.logical_or.accumulate(chosen < 0, axis=0)
    assert (chosen[is_over] == -1).all()
    assert 0 < is_over[1].sum() < chosen.shape[1]


def test_the_run_ends_when_every_row_has_stopped(simulate):
    interviews = simulate(stop=Stop(after=2))
    steps = list(interviews.run(interviews.n_steps(None)))
    assert len(steps) == 3  # two questions and the final state
    assert (steps[-1].chosen == -1).all()


def test_the_number_of_steps_excludes_the_target_and_has_a_maximum(simulate):
    interviews = simulate()
    assert interviews.n_steps(None) == 7
    assert interviews.n_steps(3) == 3
    assert interviews.n_steps(100) == 7
    with pytest.raises(StopError, match="max_steps must be 0 or more questions, got -1"):
        interviews.n_steps(-1)


def test_no_rows_end_immediately(simulate):
    interviews = simulate(n_rows=20)
    empty = SimulatedInterviews(interviews.rules, Evidence.empty(0, 8))
    (step,) = empty.run(empty.n_steps(None))
    assert len(step.chosen) == 0


@pytest.mark.parametrize("strategy", [Information(), FixedOrder(ORDER)])
@pytest.mark.parametrize("stop", [Stop(), Stop(probability_above=0.7), Stop(budget=3)])
def test_each_row_is_asked_the_questions_that_an_interview_would_ask_it(model, people, strategy, stop):
    """Complete rows: a simulation skips questions without an answer, an interview cannot know them."""
    fitted, table = model.fitted(), people(6, seed=8, missing=0.0)
    rules = InterviewRules(fitted, ("stage",), strategy, stop)
    simulated = SimulatedInterviews(rules, fitted.evidence(table))
    order = np.stack([step.chosen for step in simulated.run(simulated.n_steps(None))], axis=1)
    names = [question.name for question in fitted.schema.questions]
    for row in range(len(table)):
        interview = Interview(model, "stage", strategy=strategy, stop=stop)
        asked = []
        while (question := interview.ask()) is not None:
            asked.append(question.name)
            interview.tell(question, table[question.name].iloc[row])
        assert [names[place] for place in order[row] if place >= 0] == asked
