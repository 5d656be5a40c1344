"""DRAL: asking by matrix factorisation, in the way of Lewenberg et al. (AAAI 2017).

A person is a new row of the table. The next question is the one after whose answer the target's
predictive variance (for a Gaussian: its entropy) is expected to be least. Expectation: over answers
drawn from what the model now predicts. After each of them the model is taken anew with the person
in it.

What is ours: inference is the Gibbs sampler of `matrix_factorisation`; each supposed answer
continues the person's chain for some sweeps instead of starting one; the row's factor is integrated
out of predictions, so that few sweeps say much; and all candidates of a step share their random
numbers, so that they differ by what they tell alone.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from eddi_benchmarks.baselines.matrix_factorisation import (
    Cells,
    State,
    begin,
    chain,
    predict,
    with_new_row,
)

Numbers = NDArray[np.float64]
Retrain = Literal["all", "row"]


@dataclass(frozen=True)
class Sizes:
    """How large the factors are, and how long the chains.

    Args:
        n_factors: size of a row's and a column's factor.
        burn_in: sweeps before the first state that counts.
        n_sweeps: states a belief is the mean of.
        settle: sweeps not counted after an answer came in.
        n_answers: answers supposed to each candidate question.
        retrain: "all" takes rows, columns and noise anew after each supposed answer, as the method
            says; "row" only the person's factor, which is exact and quick.
    """

    n_factors: int
    burn_in: int
    n_sweeps: int
    settle: int
    n_answers: int
    retrain: Retrain


@dataclass(frozen=True)
class Asked:
    """One interview: what was asked, and what was believed of the target before and after each."""

    order: list[int]  # [steps] columns
    mean: list[float]  # [steps + 1] in the table's units
    sd: list[float]


@dataclass(frozen=True)
class Dral:
    """A matrix factorisation of a table, ready to interview new rows about one column."""

    sizes: Sizes
    shift: Numbers  # [columns] of the table's units
    scale: Numbers
    cells: Cells
    states: tuple[State, ...]
    seed: int

    @classmethod
    def fit(cls, numbers: Numbers, sizes: Sizes, *, seed: int) -> "Dral":
        """From a table of numbers in which NaN means not observed."""
        shift, scale = np.nanmean(numbers, axis=0), np.nanstd(numbers, axis=0)
        scale = np.where(scale > 0, scale, 1.0)
        cells = Cells.of((numbers - shift) / scale)
        random = np.random.default_rng(seed)
        first = begin(cells, sizes.n_factors, random)
        states = list(chain(first, cells, sizes.burn_in + sizes.n_sweeps, random))
        return cls(sizes, shift, scale, cells, tuple(states[sizes.burn_in :]), seed)

    def interview(self, truth: Numbers, target: int) -> Asked:
        """Ask a row everything but the target, the most telling first; ``truth`` answers."""
        truth = (truth - self.shift) / self.scale
        person = np.full_like(truth, np.nan)
        open_columns = [d for d in range(len(truth)) if d != target and not np.isnan(truth[d])]
        order: list[int] = []
        states = self._after(person, self.states, step=0)
        beliefs = [_mixture(states, person, target)]
        while open_columns:
            column = self._choose(states, person, target, open_columns)
            open_columns.remove(column)
            order.append(column)
            person[column] = truth[column]
            states = self._after(person, states, step=len(order))
            beliefs.append(_mixture(states, person, target))
        mean = [float(m * self.scale[target] + self.shift[target]) for m, _ in beliefs]
        return Asked(order, mean, [float(np.sqrt(v) * self.scale[target]) for _, v in beliefs])

    def _choose(
        self, states: Sequence[State], person: Numbers, target: int, columns: Sequence[int]
    ) -> int:
        if len(columns) == 1:
            return columns[0]
        variances = [self.expected_variance(states, person, target, column) for column in columns]
        return columns[int(np.argmin(variances))]

    def expected_variance(
        self, states: Sequence[State], person: Numbers, target: int, column: int
    ) -> float:
        """The target's variance to be expected after an answer in ``column``, standardised."""
        random = np.random.default_rng([self.seed, int((~np.isnan(person)).sum())])
        picked = random.integers(len(states), size=self.sizes.n_answers)
        noise = random.standard_normal(self.sizes.n_answers)
        found = []
        for place, (which, away) in enumerate(zip(picked, noise, strict=True)):
            mean, variance = predict(states[which], person, column)
            supposed = person.copy()
            supposed[column] = mean + away * np.sqrt(variance)
            after = self._after(supposed, states, step=1000 + place)
            found.append(_mixture(after, supposed, target)[1])
        return float(np.mean(found))

    def _after(self, person: Numbers, states: Sequence[State], *, step: int) -> Sequence[State]:
        """The model once the person has said this much."""
        if self.sizes.retrain == "row" or np.isnan(person).all():
            return self.states
        last = states[-1]
        if len(last.rows) == len(self.cells.values):
            last = with_new_row(last)
        random = np.random.default_rng([self.seed, int((~np.isnan(person)).sum()), step])
        n = self.sizes.settle + self.sizes.n_sweeps
        return list(chain(last, self.cells.with_row(person), n, random))[self.sizes.settle :]


def _mixture(states: Sequence[State], person: Numbers, column: int) -> tuple[float, float]:
    """Mean and variance of a cell over all states."""
    means, variances = np.array([predict(state, person, column) for state in states]).T
    return float(means.mean()), float(variances.mean() + means.var())
