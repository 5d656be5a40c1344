"""Simulated interviews over time."""

import numpy as np
import pytest

import eddi
from eddi import Series, Stop
from eddi.errors import EvaluationError
from eddi.evaluate.series.logged_series import LoggedSeries
from eddi.evaluate.series.panel import Panel
from eddi.evaluate.series.simulate_series import predict_fully, simulate_series
from eddi.strategy import Random


@pytest.fixture(scope="module")
def logged(series_model, series):
    return LoggedSeries.read(series_model.fitted(), series(60, seed=3))


def test_everything_that_is_recorded_predicts_better_than_nothing(series_model, logged):
    full = predict_fully(series_model, logged)
    nothing = simulate_series(series_model, logged, max_questions=0)
    assert full.auroc(-1) > 0.85
    assert nothing.predicted[:, -1].std() < 1e-6
    assert nothing.measurements_per_person == 0
    assert full.auprc(-1) > nothing.auprc(-1)


def test_a_full_prediction_is_that_of_the_decision_rows(series_model, logged, series):
    full = predict_fully(series_model, logged)
    rows = series_model.predict(series(60, seed=3), "ill").probabilities[:, 1]
    np.testing.assert_allclose(full.predicted.ravel(), rows, atol=1e-6)


def test_a_limit_holds_at_every_decision(series_model, logged):
    curves = simulate_series(series_model, logged, max_questions=1)
    assert np.diff(curves.n_measured, axis=1, prepend=0).max() == 1
    assert curves.auroc(-1) > 0.75
    np.testing.assert_array_equal(curves.spent, curves.n_measured)


def test_limits_may_differ_between_decisions(series_model, logged):
    curves = simulate_series(series_model, logged, max_questions=[0, 2, 0])
    assert curves.n_measured[:, 0].max() == 0
    np.testing.assert_array_equal(curves.n_measured[:, 1], curves.n_measured[:, 2])


def test_a_panel_asks_nothing_else(series_model, logged):
    curves = simulate_series(series_model, logged, strategy=Panel(("fever",)))
    recorded = [logged.find_recorded(decision)[:, 1] >= 0 for decision in range(3)]
    np.testing.assert_array_equal(curves.n_measured[:, -1], np.sum(recorded, axis=0))
    assert curves.unrecorded_share == pytest.approx(1 - np.mean(recorded))


def test_only_what_was_recorded_near_the_decision_is_revealed(series_model, logged):
    curves = simulate_series(series_model, logged, strategy=Random(), known=["age"])
    recorded = [logged.find_recorded(decision) >= 0 for decision in range(3)]
    np.testing.assert_array_equal(curves.n_measured[:, -1], np.sum(recorded, axis=(0, 2)))


def test_static_variables_are_asked_once(series_model, logged):
    curves = simulate_series(series_model, logged, strategy=Panel(("age",)))
    assert (curves.n_measured == 1).all()


def test_a_budget_is_spent_over_all_decisions(series_model, logged):
    curves = simulate_series(series_model, logged, stop=Stop(budget=2))
    assert curves.spent.max() == 2


def test_a_person_may_have_fewer_decisions(series_model, series):
    one = series(1, seed=4)
    logged = LoggedSeries.read(series_model.fitted(), one)
    logged.times[:, 1:] = np.nan
    curves = simulate_series(series_model, logged)
    assert np.isnan(curves.predicted[:, 1:]).all()
    assert not np.isnan(curves.predicted[0, 0])


def test_the_number_of_strategies_is_that_of_decisions(series_model, logged):
    with pytest.raises(EvaluationError, match="3 decisions and 2 strategies"):
        simulate_series(series_model, logged, strategy=[Random(), Random()])


def test_a_table_of_measurements_is_a_series_without_static_table(series_model, series):
    source = series(10, seed=4)
    curves = simulate_series(series_model, Series(source.measurements), max_questions=1)
    assert np.isnan(curves.truth).all()


def test_a_model_with_time_is_simulated_as_a_series(series_model, series):
    with pytest.raises(EvaluationError, match=r"this model has \[time\].*eddi\.simulate_series"):
        eddi.simulate(series_model, series(5, seed=4).measurements)
