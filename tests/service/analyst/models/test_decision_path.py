"""The decision path of one row, and what a different answer would have changed."""

import numpy as np
import pytest

from eddi import simulate
from eddi.service.analyst.models import decision_path
from eddi.service.analyst.models.decision_path import DecisionPath
from eddi.table import formats


@pytest.fixture(scope="module")
def fitted(model):
    return model.fitted()


@pytest.fixture(scope="module")
def rows(people):
    return formats.read(people(4, seed=4, missing=0.3))


@pytest.fixture(scope="module")
def path(fitted, rows):
    return DecisionPath.from_row(fitted, rows.slice(1, 1), "age")


def test_a_path_asks_the_same_questions_as_a_simulation(fitted, rows):
    for target in ("age", "stage"):
        has_target = fitted.evidence(rows).observed[:, fitted.schema.position(target)]
        curves = simulate(fitted, rows, target)
        for row in np.flatnonzero(has_target):
            path = DecisionPath.from_row(fitted, rows.slice(int(row), 1), target)
            order = [decision.chosen for decision in path.decisions]
            assert order == [place for place in curves.order[row] if place >= 0]


def test_the_question_with_the_highest_reward_is_asked(path):
    assert path.n_steps > 2
    for step in range(path.n_steps):
        rewards = path.rewards(step)
        assert next(iter(rewards)) == path.question(step).name
        assert list(rewards.values()) == sorted(rewards.values(), reverse=True)
        assert "age" not in rewards
    assert path.rewards(path.n_steps) == {}


def test_answers_are_the_values_of_the_row(path, rows):
    row = rows.slice(1, 1).to_pylist()[0]
    for step in range(path.n_steps):
        answer = path.answer(step)
        assert answer.values
        for name, value in answer.values.items():
            assert value == pytest.approx(row[name]) if isinstance(value, float) else value == row[name]


def test_a_question_whose_answer_is_missing_is_never_asked(path, rows):
    row = rows.slice(1, 1).to_pylist()[0]
    asked = {path.question(step).name for step in range(path.n_steps)}
    assert asked == {name for name in path.model.schema.names if row[name] is not None and name != "age"}


def test_a_density_integrates_to_one_and_has_the_predicted_mean(path):
    position = path.model.schema.position("age")
    values = path.grids[:, position]
    for step in (0, path.n_steps):
        density = path.densities(path.evidence[[step]])[:, position]
        area = np.trapezoid(density, values)
        assert area == pytest.approx(1, abs=0.05)
        assert np.trapezoid(density * values, values) / area == pytest.approx(
            float(path.predictions[step].mean), abs=0.05 * (values[-1] - values[0])
        )
    assert values[0] <= path.truth <= values[-1]


def test_counts_are_evaluated_at_whole_numbers(path):
    position = path.model.schema.position("visits")
    visits = path.grids[:, position]
    assert (visits == visits.round()).all()
    probabilities = path.densities(path.evidence[[0]])[:, position]
    _, first = np.unique(visits, return_index=True)
    assert 0.8 < probabilities[first].sum() <= 1.001


def test_a_different_answer_changes_the_prediction_and_the_actual_one_does_not(path):
    schema = path.model.schema
    step = path.n_steps - 1
    actual = {name: schema[name].number(value) for name, value in path.answer(0).values.items()}
    evidence = path.what_if_evidence(step, actual)
    assert evidence.values == pytest.approx(path.evidence[[step]].values)
    # float32 sums in another order
    assert path.rewards_given(evidence, step) == pytest.approx(path.rewards(step), rel=1e-4)
    low, high = (
        path.model.predict_evidence(path.what_if_evidence(step, {"weight": weight}), ("age",))["age"][0]
        for weight in (20.0, 200.0)
    )
    assert float(low.mean) != pytest.approx(float(high.mean), abs=0.5)


def test_an_answer_can_be_changed_to_not_known(path):
    name = next(iter(path.answer(0).values))
    evidence = path.what_if_evidence(2, {name: float("nan")})
    assert not evidence.observed[0, path.model.schema.position(name)]
    assert path.question(0).name not in path.rewards_given(evidence, 2)


def test_a_row_without_any_answer_is_asked_nothing(fitted, rows):
    empty = {name: [None] for name in rows.column_names} | {"age": [40.0]}
    path = DecisionPath.from_row(fitted, formats.read(empty), "age")
    assert (path.n_steps, len(path.predictions), path.truth) == (0, 1, 40.0)


def test_a_long_interview_is_truncated(fitted, rows, monkeypatch):
    monkeypatch.setattr(decision_path, "MAX_STEPS", 2)
    path = DecisionPath.from_row(fitted, rows.slice(1, 1), "age")
    assert (path.n_steps, path.is_truncated) == (2, True)


def test_a_complete_interview_is_not_truncated(path):
    assert not path.is_truncated


def test_the_next_question_is_chosen_per_unit_of_cost_if_costs_differ(with_schema, people_schema, rows):
    costs = {"pain": 9, "smoker": 7, "weight": 30, "visits": 2}
    schema = people_schema
    for name, cost in costs.items():
        schema = schema.with_question(name, cost=cost)
    path = DecisionPath.from_row(with_schema(schema).fitted(), rows.slice(1, 1), "age")
    asked = [path.question(step).name for step in range(path.n_steps)]
    given = [path.question_given(path.evidence[[step]], step) for step in range(path.n_steps + 1)]
    assert given == [*asked, None]
    assert asked != [next(iter(path.rewards(step))) for step in range(path.n_steps)]
