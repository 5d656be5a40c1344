"""Interviews over time: measure now, wait, and what is known then."""

from copy import copy
from dataclasses import replace

import numpy as np
import pytest

from eddi import UNKNOWN, Interview, Stop
from eddi.errors import AnswerError, StopError
from eddi.interview.record import Record
from eddi.interview.timeline import Timeline, find_now
from eddi.table.columns import table_to_numbers
from eddi.table.schema import Schema
from eddi.table.series.decision_rows import decision_rows


@pytest.fixture
def interview(series_model):
    return Interview(series_model)


def replay(model, series, person, until):
    """An interview in which all measurements of a person until a time are told."""
    interview = Interview(model)
    static = series.static.set_index("id").loc[person]
    interview.tell("age", static["age"])
    rows = series.measurements[series.measurements.id == person]
    for row in rows[rows.hour <= until].itertuples():
        interview.tell(row.what, row.value, at=row.hour)
    interview.advance(to=until)
    return interview


def test_an_interview_that_is_told_a_series_has_its_decision_rows(series_model, series, series_schema):
    others = series(3, seed=5)
    rows = decision_rows(others, series_schema)
    expected = table_to_numbers(rows, series_schema, hidden=["ill"])
    found = [replay(series_model, others, p, t).evidence() for p in range(3) for t in (2, 4, 8)]
    encoded = series_model.fitted().coding.encode(expected)
    np.testing.assert_array_equal(np.concatenate([row.values for row in found]), encoded.values)
    np.testing.assert_array_equal(np.concatenate([row.observed for row in found]), encoded.observed)


def test_only_the_present_and_what_does_not_change_is_asked(interview):
    assert set(interview.rewards()) == {"age", "pulse", "fever"}


def test_a_measurement_can_be_repeated_once_time_has_passed(interview):
    interview.tell("pulse", 80)
    assert "pulse" not in interview.rewards()
    with pytest.raises(AnswerError, match="'pulse' was already answered"):
        interview.tell("pulse", 81)
    interview.advance(to=2)
    assert "pulse" in interview.rewards()
    interview.tell("pulse", 85)
    numbers = interview.model.coding.decode(interview.evidence().values)[0]
    assert numbers[interview.model.schema.position("pulse")] == pytest.approx(85)
    assert numbers[interview.model.schema.position("pulse 1-4 h ago")] == pytest.approx(80)


def test_an_unknown_value_is_asked_for_again_at_a_later_time(interview):
    interview.tell("pulse", UNKNOWN)
    assert "pulse" not in interview.rewards()
    interview.advance(to=2)
    assert "pulse" in interview.rewards()


def test_what_does_not_change_is_asked_once(interview):
    interview.tell("age", 50)
    interview.advance(to=8)
    assert "age" not in interview.rewards()
    with pytest.raises(AnswerError, match="'age' was already answered"):
        interview.tell("age", 51)


def test_an_interview_waits_when_nothing_is_worth_asking(series_model):
    interview = Interview(series_model, stop=Stop(reward_below=100))
    question = interview.ask()
    assert question.name == "hour"
    assert interview.next_step().question == question
    assert interview.next_step().wait == interview.next_decision == 2
    interview.tell(question, interview.next_decision)
    assert interview.now == 2
    interview.advance(to=8)
    assert interview.ask() is None
    assert interview.next_step().wait is None


@pytest.mark.parametrize("stop", [Stop(after=1), Stop(budget=1), Stop(probability_above=0.3)])
def test_an_interview_that_is_over_does_not_wait(series_model, stop):
    interview = Interview(series_model, stop=stop)
    interview.tell("pulse", 80)
    assert interview.ask() is None


def test_a_budget_of_a_period_leaves_questions_for_later(series_model):
    model = copy_with_time(series_model, "budget = 2\nperiod = 4\n")
    interview = Interview(model)
    interview.tell("pulse", 80)
    interview.tell("fever", "no")
    assert interview.ask().name == "hour"
    interview.advance(to=2)
    assert interview.ask().name == "hour"
    interview.advance(to=4)
    assert interview.ask().name in ("pulse", "fever", "age")


def copy_with_time(model, settings):
    other = copy(model)
    schema = Schema.from_toml(model.schema_.to_toml() + settings)
    other.model_ = replace(model.fitted(), schema=schema)
    return other


def test_a_replay_of_a_record_gives_the_same_state(interview):
    interview.tell("pulse", 80)
    interview.advance(to=3)
    interview.tell("fever", "yes", at=2.5)
    again = Interview(interview.model, record=Record.from_document(interview.record.to_document()))
    assert again.now == 3
    np.testing.assert_array_equal(again.evidence().values, interview.evidence().values)
    again.undo()
    again.undo()
    assert again.now == 0


def test_a_measurement_at_a_later_time_lets_time_pass(interview):
    interview.tell("pulse", 80, at=3)
    assert interview.now == 3


def test_time_does_not_go_back(interview):
    interview.advance(to=3)
    with pytest.raises(AnswerError, match="time cannot go back to 2: it is 3 h"):
        interview.advance(to=2)


@pytest.mark.parametrize("at", [-1, float("inf"), "noon"])
def test_a_time_is_a_number_from_zero_up(interview, at):
    with pytest.raises(AnswerError, match="at must be a number from 0 up"):
        interview.tell("pulse", 80, at=at)


def test_an_older_window_cannot_be_told(interview):
    with pytest.raises(AnswerError, match="follows from earlier measurements"):
        interview.tell("pulse 1-4 h ago", 80)


def test_a_static_model_has_no_time(model):
    interview = Interview(model, "age")
    with pytest.raises(AnswerError, match=r"no \[time\], so time does not pass"):
        interview.advance(to=3)
    with pytest.raises(AnswerError, match="an answer has no time; got at=3"):
        interview.tell("smoker", "yes", at=3)


def test_the_present_is_the_latest_time_that_was_recorded(series_schema, people_schema):
    assert find_now(series_schema, ()) == find_now(people_schema, ()) == 0
    assert Timeline(people_schema, ()).next_decision() is None


def test_a_risk_cannot_be_guaranteed_over_time(series_model):
    with pytest.raises(StopError, match=r"Stop\(risk=0.1\) is not available for a model with \[time\]"):
        Interview(series_model, stop=Stop(risk=0.1))


def test_earlier_measurements_count_for_the_quality_of_predictions(series_model):
    quality = series_model.measure_quality()["ill"]
    assert quality.n_questions == 3
    assert quality.n_enough is not None
