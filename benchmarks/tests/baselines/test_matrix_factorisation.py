"""Matrix factorisation by Gibbs sampling, against what is known in closed form."""

import numpy as np
import pytest

from eddi_benchmarks.baselines.matrix_factorisation import (
    Cells,
    Prior,
    State,
    begin,
    chain,
    conditional,
    draw_prior,
    predict,
    with_new_row,
)

NOISE = 0.2


@pytest.fixture(scope="module")
def low_rank():
    """200 x 12 cells of rank 2 with noise, a fifth of them held out."""
    random = np.random.default_rng(0)
    clean = random.normal(size=(200, 2)) @ random.normal(size=(2, 12))
    numbers = clean + NOISE * random.normal(size=clean.shape)
    hidden = random.random(numbers.shape) < 0.2
    return numbers, hidden


def test_held_out_cells_of_a_low_rank_table_are_told_to_the_noise(low_rank):
    numbers, hidden = low_rank
    cells = Cells.of(np.where(hidden, np.nan, numbers))
    random = np.random.default_rng(1)
    states = list(chain(begin(cells, 4, random), cells, 150, random))[75:]
    told = np.mean([state.rows @ state.columns.T for state in states], axis=0)
    error = np.sqrt(np.mean(np.square(told - numbers)[hidden]))
    assert error < 1.25 * NOISE
    assert np.mean([state.precision for state in states]) == pytest.approx(NOISE**-2, rel=0.2)


def test_a_factor_given_the_others_is_the_bayesian_regression_of_its_row():
    random = np.random.default_rng(2)
    others, values = random.normal(size=(6, 3)), random.normal(size=6)
    root = random.normal(size=(3, 3))
    prior = Prior(random.normal(size=3), root @ root.T + np.eye(3))
    mean, precision = conditional(others, prior, 2.5, values)
    # The same by conditioning the joint Gaussian of factor and values.
    covariance = np.linalg.inv(prior.precision)
    gain = covariance @ others.T @ np.linalg.inv(others @ covariance @ others.T + np.eye(6) / 2.5)
    np.testing.assert_allclose(mean, prior.mean + gain @ (values - others @ prior.mean))
    np.testing.assert_allclose(np.linalg.inv(precision), covariance - gain @ others @ covariance)


def test_draws_of_a_row_have_the_moments_of_its_conditional():
    from eddi_benchmarks.baselines.matrix_factorisation import _draw_factors

    random = np.random.default_rng(3)
    others, values = random.normal(size=(5, 2)), random.normal(size=5)
    values[1] = np.nan
    seen = ~np.isnan(values)
    prior = Prior(np.array([0.5, -0.5]), np.eye(2))
    cells = Cells.of(np.tile(values, (20_000, 1)))
    drawn = _draw_factors(others, prior, 1.5, cells, random)
    mean, precision = conditional(others[seen], prior, 1.5, values[seen])
    np.testing.assert_allclose(drawn.mean(0), mean, atol=0.02)
    np.testing.assert_allclose(np.cov(drawn.T), np.linalg.inv(precision), atol=0.02)


def test_a_drawn_prior_is_that_of_many_factors():
    random = np.random.default_rng(4)
    covariance = np.array([[1.0, 0.6], [0.6, 2.0]])
    factors = random.multivariate_normal([1.0, -2.0], covariance, size=20_000)
    prior = draw_prior(factors, random)
    np.testing.assert_allclose(prior.mean, [1.0, -2.0], atol=0.05)
    np.testing.assert_allclose(np.linalg.inv(prior.precision), covariance, atol=0.08)


def test_a_drawn_prior_of_no_spread_keeps_to_the_wishart_mean():
    random = np.random.default_rng(5)
    precisions = [draw_prior(np.zeros((8, 3)), random).precision for _ in range(4000)]
    np.testing.assert_allclose(np.mean(precisions, axis=0), (3 + 8) * np.eye(3), atol=0.5)


def test_a_prediction_without_answers_is_the_priors():
    state = _state()
    mean, variance = predict(state, np.full(3, np.nan), 2)
    towards = state.columns[2]
    assert mean == pytest.approx(float(state.row_prior.mean @ towards))
    inverse = np.linalg.inv(state.row_prior.precision)
    assert variance == pytest.approx(float(towards @ inverse @ towards) + 1 / state.precision)


def test_an_answer_never_widens_a_prediction_within_a_state():
    state = _state()
    before = predict(state, np.full(3, np.nan), 2)[1]
    after = predict(state, np.array([0.3, np.nan, np.nan]), 2)[1]
    assert after < before


def test_a_new_row_is_one_more():
    state = _state()
    cells = Cells.of(np.zeros((4, 3))).with_row(np.array([np.nan, 1.0, np.nan]))
    assert cells.observed[-1].tolist() == [False, True, False]
    (after,) = chain(with_new_row(state), cells, 1, np.random.default_rng(0))
    assert after.rows.shape == (5, 2)


def _state():
    random = np.random.default_rng(6)
    prior = Prior(np.array([0.2, -0.1]), np.array([[2.0, 0.3], [0.3, 1.0]]))
    return State(random.normal(size=(4, 2)), random.normal(size=(3, 2)), prior, prior, 4.0)
