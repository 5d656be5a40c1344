"""Matrix factorisation by Gibbs sampling, compared with closed forms."""

import numpy as np
import pytest

from eddi_benchmarks.baselines.matrix_factorisation import (
    Cells,
    Prior,
    State,
    factor_posterior,
    initial_state,
    predict_cell,
    sample_chain,
    sample_factors,
    sample_prior,
    with_new_row,
)

NOISE = 0.2


@pytest.fixture(scope="module")
def low_rank():
    """200 x 12 cells of rank 2 with noise; a fifth is held out."""
    random = np.random.default_rng(0)
    clean = random.normal(size=(200, 2)) @ random.normal(size=(2, 12))
    numbers = clean + NOISE * random.normal(size=clean.shape)
    hidden = random.random(numbers.shape) < 0.2
    return numbers, hidden


def test_the_error_of_held_out_cells_of_a_low_rank_table_is_close_to_the_noise(low_rank):
    numbers, hidden = low_rank
    cells = Cells.from_numbers(np.where(hidden, np.nan, numbers))
    random = np.random.default_rng(1)
    states = list(sample_chain(initial_state(cells, 4, random), cells, 150, random))[75:]
    predicted = np.mean([state.rows @ state.columns.T for state in states], axis=0)
    error = np.sqrt(np.mean(np.square(predicted - numbers)[hidden]))
    assert error < 1.25 * NOISE
    assert np.mean([state.noise_precision for state in states]) == pytest.approx(NOISE**-2, rel=0.2)


def test_the_posterior_of_a_factor_is_a_bayesian_linear_regression():
    random = np.random.default_rng(2)
    column_factors, values = random.normal(size=(6, 3)), random.normal(size=6)
    root = random.normal(size=(3, 3))
    prior = Prior(random.normal(size=3), root @ root.T + np.eye(3))
    mean, precision = factor_posterior(column_factors, prior, 2.5, values)
    # Equivalent: condition the joint Gaussian of factor and values.
    covariance = np.linalg.inv(prior.precision)
    gain = (
        covariance
        @ column_factors.T
        @ np.linalg.inv(column_factors @ covariance @ column_factors.T + np.eye(6) / 2.5)
    )
    np.testing.assert_allclose(mean, prior.mean + gain @ (values - column_factors @ prior.mean))
    np.testing.assert_allclose(np.linalg.inv(precision), covariance - gain @ column_factors @ covariance)


def test_sampled_factors_have_the_moments_of_their_posterior():
    random = np.random.default_rng(3)
    column_factors, values = random.normal(size=(5, 2)), random.normal(size=5)
    values[1] = np.nan
    observed = ~np.isnan(values)
    prior = Prior(np.array([0.5, -0.5]), np.eye(2))
    cells = Cells.from_numbers(np.tile(values, (20_000, 1)))
    factors = sample_factors(column_factors, prior, 1.5, cells, random)
    mean, precision = factor_posterior(column_factors[observed], prior, 1.5, values[observed])
    np.testing.assert_allclose(factors.mean(0), mean, atol=0.02)
    np.testing.assert_allclose(np.cov(factors.T), np.linalg.inv(precision), atol=0.02)


def test_the_prior_sampled_from_many_factors_has_their_moments():
    random = np.random.default_rng(4)
    covariance = np.array([[1.0, 0.6], [0.6, 2.0]])
    factors = random.multivariate_normal([1.0, -2.0], covariance, size=20_000)
    prior = sample_prior(factors, random)
    np.testing.assert_allclose(prior.mean, [1.0, -2.0], atol=0.05)
    np.testing.assert_allclose(np.linalg.inv(prior.precision), covariance, atol=0.08)


def test_the_precision_sampled_from_constant_factors_has_the_wishart_mean():
    random = np.random.default_rng(5)
    precisions = [sample_prior(np.zeros((8, 3)), random).precision for _ in range(4000)]
    np.testing.assert_allclose(np.mean(precisions, axis=0), (3 + 8) * np.eye(3), atol=0.5)


def test_a_prediction_without_answers_is_that_of_the_prior():
    state = _state()
    mean, variance = predict_cell(state, np.full(3, np.nan), 2)
    factor = state.columns[2]
    assert mean == pytest.approx(float(state.row_prior.mean @ factor))
    inverse = np.linalg.inv(state.row_prior.precision)
    assert variance == pytest.approx(float(factor @ inverse @ factor) + 1 / state.noise_precision)


def test_an_answer_reduces_the_variance_of_a_prediction():
    state = _state()
    before = predict_cell(state, np.full(3, np.nan), 2)[1]
    after = predict_cell(state, np.array([0.3, np.nan, np.nan]), 2)[1]
    assert after < before


def test_a_new_row_is_added_to_the_state():
    state = _state()
    cells = Cells.from_numbers(np.zeros((4, 3))).with_row(np.array([np.nan, 1.0, np.nan]))
    assert cells.observed[-1].tolist() == [False, True, False]
    (after,) = sample_chain(with_new_row(state), cells, 1, np.random.default_rng(0))
    assert after.rows.shape == (5, 2)


def _state():
    random = np.random.default_rng(6)
    prior = Prior(np.array([0.2, -0.1]), np.array([[2.0, 0.3], [0.3, 1.0]]))
    return State(random.normal(size=(4, 2)), random.normal(size=(3, 2)), prior, prior, 4.0)
