"""Bayesian probabilistic matrix factorisation by Gibbs sampling (Salakhutdinov & Mnih, ICML 2008).

A cell is the product of the factors of its row and its column plus noise: x_nd ~ N(u_n . v_d, 1 /
alpha). Row factors are N(mu, Lambda^-1) with a Normal-Wishart prior over mu and Lambda, and so are
column factors. The published model fixes alpha at 2, for film ratings. Here alpha has a Gamma prior and
is sampled, because the noise of standardised tables differs from table to table.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import cho_factor, cho_solve, solve_triangular

Numbers = NDArray[np.float64]
Mask = NDArray[np.bool_]

# Hyperpriors of section 3.2: mu_0 = 0, W_0 = I, nu_0 = the number of factors, beta_0 as below.
PRIOR_STRENGTH = 2.0  # beta_0: the number of observations that the prior mean counts for
NOISE_SHAPE, NOISE_RATE = 1.0, 1.0  # of the Gamma prior over alpha
INITIAL_SD = 0.3  # of the factors at the start of a chain


@dataclass(frozen=True)
class Cells:
    """A table with missing values: its values, zero where unobserved, and a mask."""

    values: Numbers  # [rows, columns]
    observed: Mask

    @classmethod
    def from_numbers(cls, numbers: Numbers) -> "Cells":
        """From numbers in which NaN means not observed."""
        observed = ~np.isnan(numbers)
        return cls(np.where(observed, numbers, 0.0), observed)

    def with_row(self, row: Numbers) -> "Cells":
        """The table with one more row, in which NaN means not observed."""
        new = Cells.from_numbers(row[None])
        return Cells(
            np.concatenate([self.values, new.values]), np.concatenate([self.observed, new.observed])
        )

    @cached_property
    def transposed(self) -> "Cells":
        return Cells(np.ascontiguousarray(self.values.T), np.ascontiguousarray(self.observed.T))

    @cached_property
    def patterns(self) -> list[tuple[Mask, NDArray[np.int64]]]:
        """Each distinct mask and the rows that have it: they share a posterior precision."""
        masks, index = np.unique(self.observed, axis=0, return_inverse=True)
        index = index.reshape(-1)
        return [(mask, np.flatnonzero(index == i)) for i, mask in enumerate(masks)]


@dataclass(frozen=True)
class Prior:
    """The prior of row or column factors, which is itself sampled."""

    mean: Numbers  # [factors]
    precision: Numbers  # [factors, factors]


@dataclass(frozen=True)
class State:
    """One state of the Gibbs sampler."""

    rows: Numbers  # u [rows, factors]
    columns: Numbers  # v [columns, factors]
    row_prior: Prior
    column_prior: Prior
    noise_precision: float  # alpha


def initial_state(cells: Cells, n_factors: int, random: np.random.Generator) -> State:
    """A random state to start a chain from."""
    n_rows, n_columns = cells.values.shape
    rows, columns = (INITIAL_SD * random.standard_normal((n, n_factors)) for n in (n_rows, n_columns))
    prior = Prior(np.zeros(n_factors), np.eye(n_factors))
    return State(rows, columns, prior, prior, 1.0)


def sample_chain(
    state: State, cells: Cells, n_sweeps: int, random: np.random.Generator
) -> Iterator[State]:
    """The states after each of ``n_sweeps`` sweeps."""
    for _ in range(n_sweeps):
        state = _sweep(state, cells, random)
        yield state


def _sweep(state: State, cells: Cells, random: np.random.Generator) -> State:
    """Sample every unknown once from its conditional: priors, rows, columns, noise."""
    row_prior = sample_prior(state.rows, random)
    rows = sample_factors(state.columns, row_prior, state.noise_precision, cells, random)
    column_prior = sample_prior(state.columns, random)
    columns = sample_factors(rows, column_prior, state.noise_precision, cells.transposed, random)
    noise_precision = _sample_noise_precision(rows, columns, cells, random)
    return State(rows, columns, row_prior, column_prior, noise_precision)


def sample_prior(factors: Numbers, random: np.random.Generator) -> Prior:
    """Sample mu and Lambda given the factors (equation 14): Normal-Wishart."""
    n, k = factors.shape
    mean = factors.mean(0)
    deviations = factors - mean
    shrinkage = PRIOR_STRENGTH * n / (PRIOR_STRENGTH + n)
    inverse_scale = np.eye(k) + deviations.T @ deviations + shrinkage * np.outer(mean, mean)
    precision = _sample_wishart(inverse_scale, k + n, random)
    posterior_mean = n * mean / (PRIOR_STRENGTH + n)
    cholesky = np.linalg.cholesky((PRIOR_STRENGTH + n) * precision)
    noise = solve_triangular(cholesky, random.standard_normal(k), lower=True, trans="T")
    return Prior(posterior_mean + noise, precision)


def _sample_wishart(
    inverse_scale: Numbers, degrees_of_freedom: int, random: np.random.Generator
) -> Numbers:
    """A Wishart draw by Bartlett's decomposition."""
    k = len(inverse_scale)
    bartlett = np.tril(random.standard_normal((k, k)), -1)
    bartlett[np.diag_indices(k)] = np.sqrt(random.chisquare(degrees_of_freedom - np.arange(k)))
    # With inverse_scale = C C', the scale is C'^-1 C^-1, and C'^-1 B (C'^-1 B)' is the draw.
    root = solve_triangular(np.linalg.cholesky(inverse_scale), bartlett, lower=True, trans="T")
    return np.asarray(root @ root.T)


def factor_posterior(
    column_factors: Numbers, prior: Prior, noise_precision: float, values: Numbers
) -> tuple[Numbers, Numbers]:
    """Mean [..., factors] and precision of a row's factor given its observed values.

    Args:
        column_factors: column factors of the observed cells [observed, factors].
        prior: of the row's factor.
        noise_precision: alpha.
        values: the observed values [..., observed].
    """
    precision = prior.precision + noise_precision * column_factors.T @ column_factors
    weighted_sum = (
        prior.precision @ prior.mean + noise_precision * values @ column_factors
    )  # [..., factors]
    return cho_solve(cho_factor(precision), weighted_sum.T).T, precision


def sample_factors(
    column_factors: Numbers,
    prior: Prior,
    noise_precision: float,
    cells: Cells,
    random: np.random.Generator,
) -> Numbers:
    """Sample the factors of all rows given the column factors [rows, factors]."""
    factors = np.empty((len(cells.values), column_factors.shape[1]))
    for observed, rows in cells.patterns:
        values = cells.values[np.ix_(rows, observed)]
        mean, precision = factor_posterior(column_factors[observed], prior, noise_precision, values)
        noise = random.standard_normal(mean.shape).T
        factors[rows] = (
            mean + solve_triangular(np.linalg.cholesky(precision), noise, lower=True, trans="T").T
        )
    return factors


def _sample_noise_precision(
    rows: Numbers, columns: Numbers, cells: Cells, random: np.random.Generator
) -> float:
    errors = (cells.values - rows @ columns.T)[cells.observed]
    shape, rate = NOISE_SHAPE + len(errors) / 2, NOISE_RATE + errors @ errors / 2
    return float(random.gamma(shape, 1 / rate))


def with_new_row(state: State) -> State:
    """The state with one more row, whose factor the next sweep samples before using it."""
    return replace(state, rows=np.concatenate([state.rows, state.row_prior.mean[None]]))


def predict_cell(state: State, row: Numbers, column: int) -> tuple[float, float]:
    """Mean and variance of a cell given the observed values of its row (NaN: not observed).

    The row's factor is integrated out in closed form, so few states suffice.
    """
    observed = ~np.isnan(row)
    mean, precision = factor_posterior(
        state.columns[observed], state.row_prior, state.noise_precision, row[observed]
    )
    factor = state.columns[column]
    variance = factor @ np.linalg.solve(precision, factor) + 1 / state.noise_precision
    return float(mean @ factor), float(variance)
