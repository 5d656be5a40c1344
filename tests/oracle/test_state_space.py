"""Linear-Gaussian state-space series: predictions and imputation against the Kalman filter and smoother."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from eddi import PartialVAE, Schema, Series, TimeSection, Variable, decision_rows, impute_series

DECAY, NOISE = 0.9, 0.6  # of an AR(1) process with variance 1, and the sd of a measurement
N_TIMES = 8
WINDOWS = (0, 1, 2, 3, 4, 5, 6)
TOLERANCE = 0.12  # root mean squared difference from the exact mean, in units of the series' sd


def draw_series(n_persons, seed):
    """A table of visits at whole times, of which a third has no value after the first two."""
    random = np.random.default_rng(seed)
    states = [random.normal(size=n_persons)]
    for _ in range(N_TIMES - 1):
        shock = np.sqrt(1 - DECAY**2) * random.normal(size=n_persons)
        states.append(DECAY * states[-1] + shock)
    values = np.stack(states, axis=1) + NOISE * random.normal(size=(n_persons, N_TIMES))
    is_missing = random.random(values.shape) < 1 / 3
    is_missing[:, :2] = False  # everybody has two values
    values[is_missing] = np.nan
    persons, times = np.meshgrid(np.arange(n_persons), np.arange(float(N_TIMES)), indexing="ij")
    return pd.DataFrame({"id": persons.ravel(), "t": times.ravel(), "x": values.ravel()})


def make_schema(**settings):
    time = TimeSection("id", "t", windows=WINDOWS, repeats={"x": "last"}, **settings)
    return Schema((Variable("x", "real"),)).with_time(time)


def kalman_filter(values):
    """Mean and variance of the state at each time, given the measurements until then."""
    means, variances, mean, variance = [], [], 0.0, 1.0
    for value in values:
        if not np.isnan(value):
            gain = variance / (variance + NOISE**2)
            mean, variance = mean + gain * (value - mean), (1 - gain) * variance
        means.append(mean)
        variances.append(variance)
        mean, variance = DECAY * mean, DECAY**2 * variance + 1 - DECAY**2
    return np.array(means), np.array(variances)


def kalman_smoother(values):
    """Mean of the state at each time, given all measurements (Rauch, Tung and Striebel 1965)."""
    means, variances = kalman_filter(values)
    smooth = means.copy()
    for time in range(len(values) - 2, -1, -1):
        predicted = DECAY**2 * variances[time] + 1 - DECAY**2
        gain = DECAY * variances[time] / predicted
        smooth[time] = means[time] + gain * (smooth[time + 1] - DECAY * means[time])
    return smooth


def condition(values, time):
    """The same as the smoother, from the joint normal distribution."""
    known = np.flatnonzero(~np.isnan(values))
    times = np.arange(len(values))
    covariance = DECAY ** np.abs(times[:, None] - times)
    inner = covariance[np.ix_(known, known)] + NOISE**2 * np.eye(len(known))
    return covariance[time, known] @ np.linalg.solve(inner, values[known])


def test_the_smoother_agrees_with_the_joint_distribution():
    values = np.array([0.3, np.nan, -1.2, np.nan, np.nan, 0.8, 1.1, np.nan])
    expected = [condition(values, time) for time in range(len(values))]
    np.testing.assert_allclose(kalman_smoother(values), expected, atol=1e-10)
    filtered = kalman_filter(values)[0]
    np.testing.assert_allclose(filtered[3], condition(values[:4], 3), atol=1e-10)


@pytest.mark.slow
def test_the_next_value_is_predicted_as_by_the_kalman_filter():
    schema = make_schema(next_values=("x",), horizon=1)
    schema = replace(schema, targets=("next x",))
    model = PartialVAE(schema, target="next x", random_state=0).fit(Series(draw_series(2_000, seed=0)))
    test = draw_series(300, seed=1)
    predicted = model.predict(decision_rows(test, schema), "next x")
    by_person = test.x.to_numpy().reshape(300, N_TIMES)
    exact = [DECAY * kalman_filter(values[: N_TIMES - 1])[0] for values in by_person]
    ours = predicted.mean.reshape(300, N_TIMES)[:, :-1]
    assert np.sqrt(np.mean((ours - np.array(exact)) ** 2)) < TOLERANCE


@pytest.mark.slow
def test_a_grid_is_imputed_as_by_the_kalman_smoother():
    schema = make_schema(later=WINDOWS[1:])
    model = PartialVAE(schema, target="x", random_state=0).fit(Series(draw_series(2_000, seed=0)))
    test = draw_series(300, seed=1)
    imputed = impute_series(model, Series(test), [3.0]).to_pandas()
    by_person = test.x.to_numpy().reshape(300, N_TIMES)
    is_missing = np.isnan(by_person[:, 3])
    exact = np.array([kalman_smoother(values)[3] for values in by_person])
    difference = (imputed["value"].to_numpy() - exact)[is_missing]
    assert np.sqrt(np.mean(difference**2)) < TOLERANCE
    inside = (imputed["low"] <= exact) & (exact <= imputed["high"])
    assert inside[is_missing].mean() > 0.9  # the interval is of a measurement, which is noisier
