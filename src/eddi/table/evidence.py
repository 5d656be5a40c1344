"""Partially observed rows: values together with a mask of which values are observed."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray


@dataclass(frozen=True)
class Evidence:
    """Values and a mask of which values are observed.

    Values are coded numbers (see `coding`). Unobserved values are set to zero on construction, so that
    neither a NaN nor a value that should be hidden can reach the network.

    Rows of the same group, such as those of one person at different times, are not independent. Training
    keeps them together.
    """

    values: NDArray[np.float32]  # [rows, variables]
    observed: NDArray[np.bool_]  # [rows, variables]
    groups: NDArray[np.int64] | None = None  # [rows] any numbers; None if rows are independent

    def __post_init__(self) -> None:
        observed = np.ascontiguousarray(self.observed, dtype=np.bool_)
        values = np.where(observed, self.values, np.float32(0)).astype(np.float32, copy=False)
        object.__setattr__(self, "values", values)
        object.__setattr__(self, "observed", observed)

    @classmethod
    def of(cls, numbers: ArrayLike) -> "Evidence":
        """Return evidence from coded numbers, NaN = not observed."""
        values = np.atleast_2d(np.asarray(numbers, dtype=np.float64))
        return cls(values.astype(np.float32), ~np.isnan(values))

    @classmethod
    def empty(cls, n_rows: int, n_variables: int) -> "Evidence":
        """Return rows in which nothing is observed."""
        shape = (n_rows, n_variables)
        return cls(np.zeros(shape, np.float32), np.zeros(shape, np.bool_))

    def __repr__(self) -> str:
        n_observed = int(self.observed.sum())
        return (
            f"<Evidence: {self.n_rows} rows, {self.n_variables} variables, {n_observed} values observed>"
        )

    @property
    def n_rows(self) -> int:
        return len(self.values)

    @property
    def n_variables(self) -> int:
        return int(self.values.shape[1])

    def __len__(self) -> int:
        return self.n_rows

    def __getitem__(self, rows: slice | Sequence[int] | NDArray[np.generic]) -> "Evidence":
        groups = None if self.groups is None else self.groups[rows]
        return Evidence(self.values[rows], self.observed[rows], groups)

    @classmethod
    def concatenate(cls, parts: "Sequence[Evidence]") -> "Evidence":
        """Return the rows of all parts, in their order."""
        values = np.concatenate([part.values for part in parts])
        return cls(values, np.concatenate([part.observed for part in parts]))

    def repeat(self, n: int) -> "Evidence":
        """Return all rows ``n`` times, one copy after the other."""
        return Evidence(np.tile(self.values, (n, 1)), np.tile(self.observed, (n, 1)))

    def hide(self, where: Sequence[int] | NDArray[np.generic]) -> "Evidence":
        """Return a copy in which some values are unobserved.

        Args:
            where: positions of variables to hide in every row, or a boolean mask [rows, variables].
        """
        mask = np.asarray(where)
        observed = self.observed.copy()
        if mask.dtype == np.bool_:
            observed &= ~mask
        else:
            observed[:, mask.astype(int)] = False
        return Evidence(self.values, observed, self.groups)

    @property
    def n_groups(self) -> int:
        """The number of independent groups of rows."""
        return len(self) if self.groups is None else len(np.unique(self.groups))

    @property
    def n_complete_rows(self) -> int:
        """How many complete rows tell as much; the number of groups if rows are grouped.

        A few missing values do not matter: rows with two thirds of their values count as complete.
        """
        if self.groups is not None:
            return self.n_groups
        return min(len(self), int(1.5 * self.observed.sum()) // max(1, self.n_variables))

    def select_groups(self, numbers: NDArray[np.int64]) -> "Evidence":
        """Return all rows of some groups, by their positions among the sorted groups.

        Independent rows are returned in the order of ``numbers``.
        """
        if self.groups is None:
            return self[numbers]
        return self[np.isin(self.groups, np.unique(self.groups)[numbers])]

    def draw_from_groups(self, random: np.random.Generator) -> "Evidence":
        """Return as many random rows as there are groups; independent rows are returned as they are.

        All rows have the same probability, since the number of a person's rows may depend on the outcome.
        Groups of equal size have one row each.
        """
        if self.groups is None:
            return self
        order = np.lexsort((random.random(len(self)), self.groups))
        step = len(self) / self.n_groups
        places = ((random.random() + np.arange(self.n_groups)) * step).astype(np.int64)
        return self[np.sort(order[places])]

    def reveal(self, answer: "Evidence") -> "Evidence":
        """Return these rows with an answer added. Where both are observed, the answer wins."""
        values = np.where(answer.observed, answer.values, self.values)
        return Evidence(values, self.observed | answer.observed, self.groups)

    def reveal_from(self, truth: "Evidence", where: NDArray[np.bool_]) -> "Evidence":
        """Return these rows with what ``truth`` observes at ``where`` [rows, variables] added."""
        answered = where & truth.observed
        values = np.where(answered, truth.values, self.values)
        return Evidence(values, self.observed | answered, self.groups)

    def numbers(self) -> NDArray[np.float64]:
        """Return the values with NaN where not observed: the inverse of `of`."""
        return np.where(self.observed, self.values, np.nan).astype(np.float64)
