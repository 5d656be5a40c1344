"""Partly seen rows: values together with which of them are observed."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray


@dataclass(frozen=True)
class Evidence:
    """Values and which of them are observed; the two never travel apart.

    Values are coded numbers (see `coding`). What is not observed is zeroed here, once, so that
    no NaN and no forgotten value can reach the network.
    """

    values: NDArray[np.float32]  # [rows, variables]
    observed: NDArray[np.bool_]  # [rows, variables]

    def __post_init__(self) -> None:
        observed = np.ascontiguousarray(self.observed, dtype=np.bool_)
        values = np.where(observed, self.values, np.float32(0)).astype(np.float32, copy=False)
        object.__setattr__(self, "values", values)
        object.__setattr__(self, "observed", observed)

    @classmethod
    def of(cls, numbers: ArrayLike) -> "Evidence":
        """Evidence from numbers in which NaN is not observed."""
        values = np.atleast_2d(np.asarray(numbers, dtype=np.float64))
        return cls(values.astype(np.float32), ~np.isnan(values))

    @classmethod
    def nothing(cls, n_rows: int, n_variables: int) -> "Evidence":
        """Rows of which nothing is known yet."""
        shape = (n_rows, n_variables)
        return cls(np.zeros(shape, np.float32), np.zeros(shape, np.bool_))

    @property
    def n_rows(self) -> int:
        return len(self.values)

    @property
    def n_variables(self) -> int:
        return int(self.values.shape[1])

    def __len__(self) -> int:
        return self.n_rows

    def __getitem__(self, rows: slice | Sequence[int] | NDArray[np.generic]) -> "Evidence":
        return Evidence(self.values[rows], self.observed[rows])

    def hide(self, where: Sequence[int] | NDArray[np.generic]) -> "Evidence":
        """The same rows with some variables (positions) or some cells (a boolean mask) unseen."""
        mask = np.asarray(where)
        observed = self.observed.copy()
        if mask.dtype == np.bool_:
            observed &= ~mask
        else:
            observed[:, mask.astype(int)] = False
        return Evidence(self.values, observed)

    def reveal(self, answer: "Evidence") -> "Evidence":
        """These rows after hearing ``answer``; where both speak, the answer is the newer."""
        values = np.where(answer.observed, answer.values, self.values)
        return Evidence(values, self.observed | answer.observed)

    def numbers(self) -> NDArray[np.float64]:
        """The values with NaN where nothing was observed: the inverse of `of`."""
        return np.where(self.observed, self.values, np.nan).astype(np.float64)
