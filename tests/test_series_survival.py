"""Survival from each decision time: fit, predict, interview, simulate, save."""

import numpy as np
import pandas as pd
import pytest

import eddi
from eddi.errors import EvaluationError, TableError
from eddi.evaluate.series.simulate_series import predict_fully

SCHEMA = """
targets = ["death"]
[variables]
age = { kind = "real" }
marker = { kind = "real", repeats = true }
noise = { kind = "real", repeats = true }
death = { kind = "survival", time = "seen", event = "died", horizons = [10] }
[time]
person = "id"
time = "day"
unit = "days"
windows = [0, 3, 9]
"""


def make_visits(n_persons, seed):
    """Visits every three days until the end; the hazard depends on the marker."""
    random = np.random.default_rng(seed)
    level = random.normal(size=n_persons)
    death = random.exponential(20 / np.exp(1.2 * level))
    end = random.uniform(5, 40, n_persons)
    seen = np.minimum(death, end)
    rows = [
        (person, day, level[person] + 0.3 * random.normal(), random.normal())
        for person in range(n_persons)
        for day in range(0, 13, 3)
        if day <= seen[person]
    ]
    people = pd.DataFrame(
        {
            "id": range(n_persons),
            "age": random.normal(50, 9, n_persons),
            "seen": seen,
            "died": death <= end,
        }
    )
    return eddi.Series(pd.DataFrame(rows, columns=["id", "day", "marker", "noise"]), people)


@pytest.fixture(scope="module")
def model(small_recipe):
    """A model of the time until death, from each visit on."""
    schema = eddi.Schema.from_toml(SCHEMA)
    estimator = eddi.PartialVAE(schema, "death", recipe=small_recipe, max_steps=60, random_state=0)
    return estimator.fit(make_visits(320, seed=0))


def test_predictions_are_those_of_decision_rows(model):
    visits = make_visits(20, seed=1)
    rows = eddi.decision_rows(visits, model.schema_)
    expected = model.predict(rows, "death").bin_probabilities
    np.testing.assert_array_equal(model.predict(visits, "death").bin_probabilities, expected)
    without = rows.drop_columns(["seen", "died"])
    np.testing.assert_array_equal(model.predict(without, "death").bin_probabilities, expected)


def test_an_interview_predicts_the_time_from_now_on(model):
    interview = eddi.Interview(model)
    interview.tell("marker", 2.0, at=0)
    before = interview.predict().risk(10)
    interview.advance(to=3)
    interview.tell("marker", -2.0)
    assert interview.predict().risk(10) < before - 0.2
    assert "death" not in interview.rewards()


def test_an_interview_equals_the_decision_row(model):
    visits = make_visits(20, seed=1)
    rows = eddi.decision_rows(visits, model.schema_).to_pandas()
    place = int(np.flatnonzero(rows.day == 6)[0])
    measured, person = visits.measurements, rows.id[place]
    interview = eddi.Interview(model)
    interview.tell("age", rows.age[place])
    for row in measured[(measured.id == person) & (measured.day <= 6)].itertuples():
        if row.day > interview.now:
            interview.advance(to=row.day)
        interview.tell("marker", row.marker)
        interview.tell("noise", row.noise)
    expected = model.predict(rows.iloc[[place]], "death").bin_probabilities[0]
    np.testing.assert_allclose(interview.predict().bin_probabilities, expected, atol=1e-5)


def test_informative_measurements_order_the_outcomes_of_each_decision(model):
    visits = make_visits(150, seed=2)
    full = predict_fully(model, visits)
    ours = eddi.simulate_series(model, visits, max_questions=1, known=["age"])
    random = eddi.simulate_series(
        model, visits, max_questions=1, known=["age"], strategy=eddi.strategy.Random(0)
    )
    assert full.concordance() > 0.65
    assert ours.concordance() > random.concordance() + 0.02
    assert full.integrated_brier() < 0.25
    assert full.calibration(10).error < 0.2
    assert full.concordance(0) != full.concordance(1)


def test_the_truth_is_the_time_that_remains(model):
    visits = make_visits(30, seed=3)
    curves = predict_fully(model, visits)
    people = visits.static
    np.testing.assert_allclose(curves.truth[:, 0], people.seen)
    is_second = ~np.isnan(curves.times[:, 1])
    np.testing.assert_allclose(curves.truth[is_second, 1], people.seen[is_second] - 3)
    assert np.isnan(curves.predicted[~is_second, 1]).all()


def test_other_targets_have_no_concordance(model):
    curves = predict_fully(model, make_visits(10, seed=1), "age")
    with pytest.raises(EvaluationError, match="'age' is real"):
        curves.concordance()


def test_a_file_gives_the_same_curves(model, tmp_path):
    model.save(tmp_path / "visits.eddi")
    loaded = eddi.load(tmp_path / "visits.eddi")
    visits = make_visits(10, seed=1)
    expected, found = (m.predict(visits, "death").bin_probabilities for m in (model, loaded))
    np.testing.assert_array_equal(found, expected)


def test_training_needs_the_outcome():
    visits = make_visits(30, seed=0)
    with pytest.raises(TableError, match="no column 'seen', 'died'"):
        eddi.PartialVAE(eddi.Schema.from_toml(SCHEMA), "death").fit(visits.measurements)
