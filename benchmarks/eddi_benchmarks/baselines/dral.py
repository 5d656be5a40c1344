"""DRAL: active learning by matrix factorisation, after Lewenberg et al. (AAAI 2017).

A respondent is a new row of the table. The next question minimises the expected predictive variance of
the target (for a Gaussian: its entropy) after the answer. The expectation is over answers drawn from
the current prediction; after each of them the model is retrained with the respondent's row.

Our choices: inference by the Gibbs sampler of `matrix_factorisation`; each simulated answer continues
the respondent's chain for some sweeps instead of starting a new one; predictions integrate out the
row's factor, so that few sweeps suffice; and all candidate questions of a step share their random
numbers, so that they differ only by their information.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from eddi_benchmarks.baselines.matrix_factorisation import (
    Cells,
    State,
    initial_state,
    predict_cell,
    sample_chain,
    with_new_row,
)

Numbers = NDArray[np.float64]
Retrain = Literal["all", "row"]


@dataclass(frozen=True)
class DralSettings:
    """The size of the factors and the length of the chains.

    Args:
        n_factors: size of a row's and a column's factor.
        burn_in: sweeps to discard at the start of training.
        n_sweeps: sweeps to average predictions over.
        n_settling: sweeps to discard after an answer.
        n_answers: simulated answers to each candidate question.
        retrain: "all" samples rows, columns and noise again after each simulated answer, as published;
            "row" only the respondent's factor, which is exact and fast.
    """

    n_factors: int
    burn_in: int
    n_sweeps: int
    n_settling: int
    n_answers: int
    retrain: Retrain


@dataclass(frozen=True)
class DralInterview:
    """One interview: the questions asked, and the prediction of the target before and after each."""

    order: list[int]  # [steps] columns
    mean: list[float]  # [steps + 1] in the units of the table
    sd: list[float]


@dataclass(frozen=True)
class Dral:
    """A matrix factorisation of a table that interviews new rows about one column."""

    settings: DralSettings
    shift: Numbers  # [columns] to standardise the table
    scale: Numbers
    cells: Cells
    states: tuple[State, ...]
    seed: int

    @classmethod
    def fit(cls, numbers: Numbers, settings: DralSettings, *, seed: int) -> "Dral":
        """Learn from a table of numbers in which NaN means not observed."""
        shift, scale = np.nanmean(numbers, axis=0), np.nanstd(numbers, axis=0)
        scale = np.where(scale > 0, scale, 1.0)
        cells = Cells.from_numbers((numbers - shift) / scale)
        random = np.random.default_rng(seed)
        start = initial_state(cells, settings.n_factors, random)
        states = list(sample_chain(start, cells, settings.burn_in + settings.n_sweeps, random))
        return cls(settings, shift, scale, cells, tuple(states[settings.burn_in :]), seed)

    def interview(self, truth: Numbers, target: int) -> DralInterview:
        """Ask a row everything except the target, the most informative question first."""
        truth = (truth - self.shift) / self.scale
        row = np.full_like(truth, np.nan)
        open_columns = [d for d in range(len(truth)) if d != target and not np.isnan(truth[d])]
        order: list[int] = []
        states = self._retrain(row, self.states, step=0)
        predictions = [_predict(states, row, target)]
        while open_columns:
            column = self._choose(states, row, target, open_columns)
            open_columns.remove(column)
            order.append(column)
            row[column] = truth[column]
            states = self._retrain(row, states, step=len(order))
            predictions.append(_predict(states, row, target))
        mean = [float(m * self.scale[target] + self.shift[target]) for m, _ in predictions]
        sd = [float(np.sqrt(v) * self.scale[target]) for _, v in predictions]
        return DralInterview(order, mean, sd)

    def _choose(self, states: Sequence[State], row: Numbers, target: int, columns: Sequence[int]) -> int:
        if len(columns) == 1:
            return columns[0]
        variances = [self.expected_variance(states, row, target, column) for column in columns]
        return columns[int(np.argmin(variances))]

    def expected_variance(
        self, states: Sequence[State], row: Numbers, target: int, column: int
    ) -> float:
        """The expected variance of the standardised target after an answer in ``column``."""
        random = np.random.default_rng([self.seed, _n_observed(row)])
        chosen_states = random.integers(len(states), size=self.settings.n_answers)
        noise = random.standard_normal(self.settings.n_answers)
        variances = []
        for i, (state, deviation) in enumerate(zip(chosen_states, noise, strict=True)):
            mean, variance = predict_cell(states[state], row, column)
            answered = row.copy()
            answered[column] = mean + deviation * np.sqrt(variance)
            after = self._retrain(answered, states, step=1000 + i)
            variances.append(_predict(after, answered, target)[1])
        return float(np.mean(variances))

    def _retrain(self, row: Numbers, states: Sequence[State], *, step: int) -> Sequence[State]:
        """The states of the model given the respondent's answers so far."""
        if self.settings.retrain == "row" or np.isnan(row).all():
            return self.states
        start = states[-1]
        if len(start.rows) == len(self.cells.values):
            start = with_new_row(start)
        random = np.random.default_rng([self.seed, _n_observed(row), step])
        n_settling, n_sweeps = self.settings.n_settling, self.settings.n_sweeps
        chain = sample_chain(start, self.cells.with_row(row), n_settling + n_sweeps, random)
        return list(chain)[n_settling:]


def _n_observed(row: Numbers) -> int:
    return int((~np.isnan(row)).sum())


def _predict(states: Sequence[State], row: Numbers, column: int) -> tuple[float, float]:
    """Mean and variance of a cell over all states."""
    means, variances = np.array([predict_cell(state, row, column) for state in states]).T
    return float(means.mean()), float(variances.mean() + means.var())
