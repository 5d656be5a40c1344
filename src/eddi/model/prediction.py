"""Belief over one variable, in the user's own words and units."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from eddi.table.variable import Level, Variable

COVERAGE = 0.9
"""The share of the belief that `Prediction.interval` holds."""


@dataclass(frozen=True)
class Prediction:
    """What is believed about one variable, for every row, or for one (``prediction[3]``).

    Args:
        variable: what is predicted.
        mean: expected value [rows]; for levels, of their positions; NaN for a category, which has none.
        sd: standard deviation [rows], likewise.
        interval: the central 90% of the belief [rows, 2]; for ordered levels, their positions.
        probabilities: of each level [rows, levels]; None for quantities.
    """

    variable: Variable
    mean: NDArray[np.float64]
    sd: NDArray[np.float64]
    interval: NDArray[np.float64]
    probabilities: NDArray[np.float64] | None = None

    @property
    def value(self) -> Any:
        """The best single guess: the mean of a quantity, else the most likely level."""
        if self.probabilities is None:
            return self.mean
        best = np.asarray(self.probabilities.argmax(-1))
        return _labels(self.variable.levels)[best]

    @property
    def shape(self) -> tuple[int, ...]:
        return self.mean.shape

    def __len__(self) -> int:
        return len(self.mean)

    def __getitem__(self, rows: Any) -> "Prediction":
        chances = None if self.probabilities is None else self.probabilities[rows]
        return replace(
            self,
            mean=self.mean[rows],
            sd=self.sd[rows],
            interval=self.interval[rows],
            probabilities=chances,
        )

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:
        return np.array(self.value, dtype=dtype, copy=copy)


class Predictions(Mapping[str, Prediction]):
    """Beliefs over several variables, by name; as an array, their best guesses side by side."""

    def __init__(self, by_name: dict[str, Prediction]) -> None:
        self._by_name = by_name

    def __getitem__(self, name: str) -> Prediction:
        return self._by_name[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._by_name)

    def __len__(self) -> int:
        return len(self._by_name)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:
        columns = [np.asarray(prediction) for prediction in self._by_name.values()]
        if len({column.dtype.kind in "iuf" for column in columns}) > 1:  # numbers stay numbers
            columns = [column.astype(object) for column in columns]
        return np.array(np.stack(columns, axis=-1), dtype=dtype, copy=copy)


def _labels(levels: tuple[Level, ...]) -> NDArray[Any]:
    """Levels as an array that keeps each one's own type."""
    if len({type(level) for level in levels}) == 1:
        return np.array(levels)
    labels = np.empty(len(levels), dtype=object)
    labels[:] = levels
    return labels
