"""Predictions are compared with outcomes: frequencies of levels, and coverage of intervals."""

from dataclasses import replace

import numpy as np
import pytest

from eddi.interview.interview import answers_to_evidence
from eddi.interview.record import Answer, Record
from eddi.service.analyst.dashboard.outcome_calibration import check_outcomes
from eddi.service.analyst.questionnaires.collected_answers import Person
from eddi.service.interviews.outcomes.outcome import Outcome
from eddi.table.evidence import Evidence

N_PEOPLE = 200
PERSON = Person("name", 1, "2026-01-01", "2026-01-01", True, Record(("stage",), (), "k"), {})


@pytest.fixture(scope="module")
def people(model):
    """People who are drawn from the model: they told their pain, and their target is known."""
    fitted = model.model_
    schema = fitted.schema
    table = fitted.draw_tables(Evidence.empty(N_PEOPLE, len(schema.variables)), 1, seed=2)[0]
    return [make_person(schema, row) for row in table]


def make_person(schema, row):
    values = {name: schema[name].answer(row[schema.position(name)]) for name in schema.names}
    outcome = Outcome(
        {name: values[name] for name in ("stage", "weight", "smoker")}, "ada", "2026-01-01"
    )
    record = Record(("stage",), (Answer("pain", {"pain": values["pain"]}),), "k")
    return replace(PERSON, record=record, outcome=outcome)


def test_levels_of_people_from_the_model_are_calibrated(model, people):
    result = check_outcomes(model.model_, people, "stage")
    assert result.accuracy.n_rows == N_PEOPLE
    assert result.accuracy.low - 0.05 <= result.expected_accuracy <= result.accuracy.high + 0.05
    assert len(result.predicted) == 10
    assert sum(share.n_rows for share in result.observed) == N_PEOPLE
    assert list(result.predicted) == sorted(result.predicted)


def test_two_levels_are_compared_by_the_probability_of_the_second(model, people):
    result = check_outcomes(model.model_, people, "smoker")
    n_yes = sum(person.outcome.values["smoker"] == "yes" for person in people)
    assert sum(share.n_true for share in result.observed) == n_yes


def test_intervals_that_contain_nine_of_ten_outcomes_are_compatible(model, people):
    evidence = answers_to_evidence(model.model_, [person.record.answers for person in people])
    prediction = model.model_.predict_evidence(evidence, ["weight"])["weight"]
    outside = prediction.interval[:, 1] + 1
    weights = np.where(np.arange(N_PEOPLE) % 10 == 0, outside, prediction.mean)
    moved = [
        replace(person, outcome=Outcome({"weight": float(weight)}, "ada", "2026"))
        for person, weight in zip(people, weights, strict=True)
    ]
    result = check_outcomes(model.model_, moved, "weight")
    assert (result.coverage.n_true, result.coverage.n_rows) == (180, 200)
    assert result.is_compatible
    assert result.mean_error == pytest.approx(np.abs(weights - prediction.mean).mean())


def test_intervals_that_are_too_narrow_are_found(model, people):
    shifted = [
        replace(p, outcome=Outcome({"weight": p.outcome.values["weight"] * 3}, "ada", "2026"))
        for p in people
    ]
    result = check_outcomes(model.model_, shifted, "weight")
    assert result.coverage.high < 0.5
    assert not result.is_compatible


def test_few_outcomes_are_not_judged(model, people):
    assert check_outcomes(model.model_, people[:19], "stage") is None
    assert check_outcomes(model.model_, people[:20], "stage") is not None


def test_the_target_itself_is_hidden_from_the_prediction(model, people):
    told = [
        replace(p, record=p.record.plus(Answer("stage", {"stage": p.outcome.values["stage"]})))
        for p in people
    ]
    assert check_outcomes(model.model_, told, "stage") == check_outcomes(model.model_, people, "stage")
