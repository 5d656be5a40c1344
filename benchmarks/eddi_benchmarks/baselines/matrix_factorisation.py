"""Bayesian probabilistic matrix factorisation by Gibbs sampling (Salakhutdinov & Mnih, ICML 2008).

A cell is a product of its row's and its column's factor, plus noise: x_nd ~ N(u_n . v_d, 1 /
alpha). Rows' factors are N(mu, Lambda^-1) with a Normal-Wishart prior over mu and Lambda; so are
the columns'. The published model fixes alpha at 2, for film ratings; here it has a Gamma prior and
is drawn like the rest, since the noise of a standardised table differs from table to table.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import cho_factor, cho_solve, solve_triangular

Numbers = NDArray[np.float64]
Bits = NDArray[np.bool_]

# Hyperpriors of section 3.2: mu_0 = 0, W_0 = I, nu_0 = the number of factors, beta_0 as below.
MEAN_ROWS = 2.0  # beta_0: how many factors the prior mean counts as
NOISE_SHAPE, NOISE_RATE = 1.0, 1.0  # of the Gamma prior over alpha
FIRST_SPREAD = 0.3  # sd of the factors a chain begins with


@dataclass(frozen=True)
class Cells:
    """A table of numbers with holes: values, zero where unseen, and which are observed."""

    values: Numbers  # [rows, columns]
    observed: Bits

    @classmethod
    def of(cls, numbers: Numbers) -> "Cells":
        """From numbers in which NaN means not observed."""
        observed = ~np.isnan(numbers)
        return cls(np.where(observed, numbers, 0.0), observed)

    def with_row(self, person: Numbers) -> "Cells":
        """The same table with one row more, in which NaN means not observed."""
        row = Cells.of(person[None])
        return Cells(
            np.concatenate([self.values, row.values]), np.concatenate([self.observed, row.observed])
        )

    @cached_property
    def transposed(self) -> "Cells":
        return Cells(np.ascontiguousarray(self.values.T), np.ascontiguousarray(self.observed.T))

    @cached_property
    def patterns(self) -> list[tuple[Bits, NDArray[np.int64]]]:
        """Each way in which rows are observed, and those rows: they share a posterior precision."""
        kinds, which = np.unique(self.observed, axis=0, return_inverse=True)
        which = which.reshape(-1)
        return [(kind, np.flatnonzero(which == place)) for place, kind in enumerate(kinds)]


@dataclass(frozen=True)
class Prior:
    """What rows' (or columns') factors are drawn from, itself a draw."""

    mean: Numbers  # [factors]
    precision: Numbers  # [factors, factors]


@dataclass(frozen=True)
class State:
    """One draw of everything that is not known."""

    rows: Numbers  # u [rows, factors]
    columns: Numbers  # v [columns, factors]
    row_prior: Prior
    column_prior: Prior
    precision: float  # alpha, of the noise


def begin(cells: Cells, n_factors: int, random: np.random.Generator) -> State:
    """A state to start a chain from."""
    n_rows, n_columns = cells.values.shape
    rows, columns = (FIRST_SPREAD * random.standard_normal((n, n_factors)) for n in (n_rows, n_columns))
    prior = Prior(np.zeros(n_factors), np.eye(n_factors))
    return State(rows, columns, prior, prior, 1.0)


def chain(state: State, cells: Cells, n_sweeps: int, random: np.random.Generator) -> Iterator[State]:
    """The states of ``n_sweeps`` sweeps of Gibbs sampling."""
    for _ in range(n_sweeps):
        state = sweep(state, cells, random)
        yield state


def sweep(state: State, cells: Cells, random: np.random.Generator) -> State:
    """Draw every unknown once from its conditional: priors, rows, columns, noise."""
    row_prior = draw_prior(state.rows, random)
    rows = _draw_factors(state.columns, row_prior, state.precision, cells, random)
    column_prior = draw_prior(state.columns, random)
    columns = _draw_factors(rows, column_prior, state.precision, cells.transposed, random)
    precision = _draw_precision(rows, columns, cells, random)
    return State(rows, columns, row_prior, column_prior, precision)


def draw_prior(factors: Numbers, random: np.random.Generator) -> Prior:
    """mu and Lambda given the factors that came from them (equation 14): Normal-Wishart."""
    n, k = factors.shape
    mean = factors.mean(0)
    away = factors - mean
    shrink = MEAN_ROWS * n / (MEAN_ROWS + n)
    inverse_scale = np.eye(k) + away.T @ away + shrink * np.outer(mean, mean)
    precision = _draw_wishart(inverse_scale, k + n, random)
    centre = n * mean / (MEAN_ROWS + n)
    below = np.linalg.cholesky((MEAN_ROWS + n) * precision)
    noise = solve_triangular(below, random.standard_normal(k), lower=True, trans="T")
    return Prior(centre + noise, precision)


def _draw_wishart(inverse_scale: Numbers, freedom: int, random: np.random.Generator) -> Numbers:
    """A Wishart draw by Bartlett's decomposition."""
    k = len(inverse_scale)
    bartlett = np.tril(random.standard_normal((k, k)), -1)
    bartlett[np.diag_indices(k)] = np.sqrt(random.chisquare(freedom - np.arange(k)))
    # With inverse_scale = C C', the scale is C'^-1 C^-1, and C'^-1 B (C'^-1 B)' is the draw.
    root = solve_triangular(np.linalg.cholesky(inverse_scale), bartlett, lower=True, trans="T")
    return np.asarray(root @ root.T)


def conditional(
    others: Numbers, prior: Prior, noise_precision: float, values: Numbers
) -> tuple[Numbers, Numbers]:
    """Mean [..., factors] and precision of factors given the others behind their observed values.

    ``others`` [seen, factors] are those of the observed cells, ``values`` [..., seen] what they hold.
    """
    precision = prior.precision + noise_precision * others.T @ others
    pull = prior.precision @ prior.mean + noise_precision * values @ others  # [..., factors]
    return cho_solve(cho_factor(precision), pull.T).T, precision


def _draw_factors(
    others: Numbers, prior: Prior, noise_precision: float, cells: Cells, random: np.random.Generator
) -> Numbers:
    drawn = np.empty((len(cells.values), others.shape[1]))
    for seen, rows in cells.patterns:
        values = cells.values[np.ix_(rows, seen)]
        mean, precision = conditional(others[seen], prior, noise_precision, values)
        noise = random.standard_normal(mean.shape).T
        drawn[rows] = (
            mean + solve_triangular(np.linalg.cholesky(precision), noise, lower=True, trans="T").T
        )
    return drawn


def _draw_precision(rows: Numbers, columns: Numbers, cells: Cells, random: np.random.Generator) -> float:
    errors = (cells.values - rows @ columns.T)[cells.observed]
    shape, rate = NOISE_SHAPE + len(errors) / 2, NOISE_RATE + errors @ errors / 2
    return float(random.gamma(shape, 1 / rate))


def with_new_row(state: State) -> State:
    """The state with a row more, whose factor the next sweep draws before it is ever used."""
    return replace(state, rows=np.concatenate([state.rows, state.row_prior.mean[None]]))


def predict(state: State, person: Numbers, column: int) -> tuple[float, float]:
    """Mean and variance of a cell of a row that shows ``person`` (NaN: not observed), in closed form.

    The row's factor is integrated out, so few states say what many draws of it would.
    """
    seen = ~np.isnan(person)
    mean, precision = conditional(state.columns[seen], state.row_prior, state.precision, person[seen])
    towards = state.columns[column]
    variance = towards @ np.linalg.solve(precision, towards) + 1 / state.precision
    return float(mean @ towards), float(variance)
