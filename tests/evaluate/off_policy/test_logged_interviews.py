"""Logged interviews have the states of the interviews they were."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from eddi import DECLINED, UNKNOWN, Interview
from eddi.errors import EvaluationError
from eddi.evaluate.off_policy.logged_interviews import LoggedInterviews
from eddi.interview.record import Record
from eddi.interview.rules import InterviewRules


@pytest.fixture
def interview(rules: InterviewRules) -> Interview:
    """An interview with a volunteered, a declined and an unknown answer."""
    interview = Interview(rules.model, "age", strategy=rules.strategy, stop=rules.stop)
    interview.tell("weight", 71)
    interview.tell("town", "Bala")
    interview.tell("smoker", DECLINED)
    interview.tell("pain", UNKNOWN)
    return interview


def log(schema: Any, record: Record, chances: Any, **outcome: Any) -> LoggedInterviews:
    return LoggedInterviews.from_records(schema, [record], [outcome], [chances])


def test_questions_that_were_withheld_are_withheld_from_other_rules(
    interview: Interview, people_schema: Any
) -> None:
    interview.record = replace(interview.record, withheld=("colour",))
    logged = log(people_schema, interview.record, [None, 0.5, 1.0, 0.25], age=44)
    state = logged[np.array([0])].states(interview.model, logged.asked)
    np.testing.assert_array_equal(state.withheld, interview.state().withheld)


def test_the_state_after_all_questions_is_that_of_the_interview(
    interview: Interview, people_schema: Any
) -> None:
    logged = log(people_schema, interview.record, [None, 0.5, 1.0, 0.25], age=44)
    state, expected = logged.states(interview.model, logged.asked), interview.state()
    np.testing.assert_array_equal(state.evidence.values, expected.evidence.values)
    np.testing.assert_array_equal(state.evidence.observed, expected.evidence.observed)
    np.testing.assert_array_equal(state.closed, expected.closed)
    assert (state.n_asked, state.spent) == (expected.n_asked, expected.spent)


def test_a_volunteered_answer_is_there_from_the_start(interview: Interview, people_schema: Any) -> None:
    logged = log(people_schema, interview.record, [None, 0.5, 1.0, 0.25])
    start = logged.states(interview.model, np.zeros_like(logged.asked))
    assert start.evidence.observed.sum() == 1
    assert start.n_asked == 1
    assert logged.n_asked == 3


def test_the_true_target_is_no_evidence(interview: Interview, people_schema: Any) -> None:
    logged = log(people_schema, interview.record, [None, 0.5, 1.0, 0.25], age=44)
    age = people_schema.position("age")
    assert not logged.states(interview.model, logged.asked).evidence.observed[0, age]
    assert logged.truth(interview.model).observed[0, age]


def test_interviews_without_a_true_target_cannot_be_evaluated(
    interview: Interview, people_schema: Any
) -> None:
    logged = log(people_schema, interview.record, [None, 0.5, 1.0, 0.25])
    with pytest.raises(EvaluationError, match="no interview has a true value of 'age'"):
        logged.with_target("age")


def test_a_probability_of_zero_is_refused(interview: Interview, people_schema: Any) -> None:
    with pytest.raises(EvaluationError, match="must be above 0 and at most 1, got 0 to 1"):
        log(people_schema, interview.record, [None, 0.5, 1.0, 0.0])
