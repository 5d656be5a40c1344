"""One row's interview, decision by decision, and what another answer would change."""

import numpy as np
import pytest

from eddi import simulate
from eddi.service.analyst import decision
from eddi.service.analyst.decision import Trail
from eddi.table import formats


@pytest.fixture(scope="module")
def rows(people):
    return formats.read(people(4, seed=4, holes=0.3))


@pytest.fixture(scope="module")
def trail(model, rows):
    return Trail.of(model, rows.slice(1, 1), "age")


def test_a_trail_asks_what_a_simulation_asks(model, rows):
    for target in ("age", "stage"):
        truth = model.evidence(rows).observed[:, model.schema_.position(target)]
        wanted = simulate(model, rows, target)
        for row in np.flatnonzero(truth):
            asked = Trail.of(model, rows.slice(int(row), 1), target)
            order = [taken.chosen for taken in asked.taken]
            assert order == [place for place in wanted.order[row] if place >= 0]


def test_the_question_asked_is_the_one_worth_most(trail):
    assert trail.n_steps > 2
    for step in range(trail.n_steps):
        worths = trail.worths(step)
        assert next(iter(worths)) == trail.question(step).name
        assert list(worths.values()) == sorted(worths.values(), reverse=True)
        assert "age" not in worths
    assert trail.worths(trail.n_steps) == {}


def test_answers_are_the_rows_own(trail, rows):
    row = rows.slice(1, 1).to_pylist()[0]
    for step in range(trail.n_steps):
        answer = trail.answer(step)
        assert answer.values
        for name, value in answer.values.items():
            assert value == pytest.approx(row[name]) if isinstance(value, float) else value == row[name]


def test_what_the_row_does_not_know_is_never_asked(trail, rows):
    row = rows.slice(1, 1).to_pylist()[0]
    asked = {trail.question(step).name for step in range(trail.n_steps)}
    assert asked == {
        name for name in trail.model.schema_.names if row[name] is not None and name != "age"
    }


def test_a_density_has_an_area_of_one_and_the_beliefs_mean(trail):
    place = trail.model.schema_.position("age")
    values = trail.grids[:, place]
    for step in (0, trail.n_steps):
        heights = trail.densities(trail.seen[[step]])[:, place]
        area = np.trapezoid(heights, values)
        assert area == pytest.approx(1, abs=0.05)
        assert np.trapezoid(heights * values, values) / area == pytest.approx(
            float(trail.beliefs[step].mean), abs=0.05 * (values[-1] - values[0])
        )
    assert values[0] <= trail.truth <= values[-1]


def test_counts_are_drawn_at_whole_numbers(trail):
    visits = trail.grids[:, trail.model.schema_.position("visits")]
    assert (visits == visits.round()).all()
    heights = trail.densities(trail.seen[[0]])[:, trail.model.schema_.position("visits")]
    _, first = np.unique(visits, return_index=True)
    assert 0.8 < heights[first].sum() <= 1.001


def test_another_answer_moves_the_belief_and_the_same_one_does_not(trail):
    schema = trail.model.schema_
    step = trail.n_steps - 1
    same = {name: schema[name].number(value) for name, value in trail.answer(0).values.items()}
    assert trail.otherwise(step, same).values == pytest.approx(trail.seen[[step]].values)
    alone, together = trail.worths_of(trail.otherwise(step, same), step), trail.worths(step)
    assert alone == pytest.approx(together, rel=1e-4)  # sums of float32 in another order
    lowest = trail.otherwise(step, {"weight": 20.0})
    highest = trail.otherwise(step, {"weight": 200.0})
    low, high = (trail.model.predict_evidence(one, ("age",))["age"][0] for one in (lowest, highest))
    assert float(low.mean) != pytest.approx(float(high.mean), abs=0.5)


def test_an_answer_can_be_taken_back(trail):
    name = next(iter(trail.answer(0).values))
    silent = trail.otherwise(2, {name: float("nan")})
    assert not silent.observed[0, trail.model.schema_.position(name)]
    assert trail.question(0).name not in trail.worths_of(silent, 2)


def test_a_row_that_knows_nothing_is_asked_nothing(model, rows):
    empty = {name: [None] for name in rows.column_names} | {"age": [40.0]}
    trail = Trail.of(model, formats.read(empty), "age")
    assert (trail.n_steps, len(trail.beliefs), trail.truth) == (0, 1, 40.0)


def test_a_long_interview_is_cut_short_and_says_so(model, rows, monkeypatch):
    monkeypatch.setattr(decision, "MAX_STEPS", 2)
    short = Trail.of(model, rows.slice(1, 1), "age")
    assert (short.n_steps, short.goes_on) == (2, True)


def test_a_whole_interview_does_not_go_on(trail):
    assert not trail.goes_on
