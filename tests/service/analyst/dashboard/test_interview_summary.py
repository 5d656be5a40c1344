"""Figures about interviews: answers, savings, refusals, time and drop-off."""

import pytest

from eddi.interview.record import Answer, NoAnswer, Record
from eddi.service.analyst.dashboard.interview_summary import summarize
from eddi.service.analyst.questionnaires.collected_answers import Person


def make_person(*answers, finished=True, minutes=4):
    record = Record(("stage",), tuple(answers), "k")
    end = f"2026-01-01T00:{minutes:02}:00+00:00"
    seconds = {answer.question: 10.0 * number for number, answer in enumerate(answers, start=1)}
    return Person("name", 1, "2026-01-01T00:00:00+00:00", end, finished, record, seconds)


AGE, TOWN = Answer("age", {"age": 61}), Answer("town", {"town": "Bala"})
DECLINED = Answer("town", {}, {"town": NoAnswer.DECLINED})
UNKNOWN = Answer("town", {}, {"town": NoAnswer.UNKNOWN})


def test_interviews_are_counted(people_schema):
    people = [make_person(AGE, TOWN), make_person(AGE, minutes=2), make_person(finished=False)]
    summary = summarize(people, people_schema, ["stage"])
    assert (summary.n_interviews, summary.n_finished, summary.n_questions) == (3, 2, 7)
    assert summary.mean_answers == 1.5
    assert summary.saved_share == pytest.approx(1 - 1.5 / 7)
    assert summary.median_minutes == 3
    assert summary.drop_off == {0: 1}


def test_questions_are_counted_by_kind_of_answer(people_schema):
    people = [
        make_person(AGE, DECLINED),
        make_person(AGE, UNKNOWN, finished=False),
        make_person(TOWN, finished=False),
    ]
    town, age = summarize(people, people_schema, ["stage"]).questions
    assert (town.name, town.n_answered, town.n_unknown, town.n_declined) == ("town", 1, 1, 1)
    assert (town.n_last, town.median_seconds) == (2, 20.0)
    assert (age.name, age.n_answered, age.n_last, age.median_seconds) == ("age", 2, 0, 10.0)


def test_savings_of_costs_are_known_if_costs_differ(people_schema):
    costly = people_schema.with_question("town", cost=5.0)
    assert summarize([make_person(AGE)], people_schema, ["stage"]).saved_cost is None
    assert summarize([make_person(AGE)], costly, ["stage"]).saved_cost == pytest.approx(1 - 1 / 11)


def test_no_interviews_have_no_figures(people_schema):
    summary = summarize([], people_schema, ["stage"])
    assert (summary.mean_answers, summary.saved_share, summary.questions) == (None, None, [])
