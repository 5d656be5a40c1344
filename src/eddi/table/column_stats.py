"""Statistics of one column, collected batch by batch so that the column need not fit in memory."""

from dataclasses import dataclass, field

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from eddi.table.columns import clean, factorize, is_text

MAX_DISTINCT_VALUES = 100_000  # counted per column of a stream; a column with more has no levels


@dataclass
class ColumnStats:
    """Number of cells, distinct values, their counts and their range.

    The statistics are exact unless a column has more than ``max_values`` distinct values. In that case
    `values` and `counts` cover only the first values. The range, and whether there are fractions, are
    exact in any case.
    """

    max_values: int | None = None  # None means no limit
    n_rows: int = 0
    n_observed: int = 0
    is_complete: bool = True  # whether `values` contains all distinct values
    has_fractions: bool = False
    low: float = np.inf
    high: float = -np.inf
    ordered_levels: tuple[object, ...] | None = None  # of an ordered categorical, including unused ones
    _values: pa.Array | None = None
    _counts: NDArray[np.int64] = field(default_factory=lambda: np.zeros(0, np.int64))
    _has_text: bool = False  # whether some observed cell is not a number

    def update(self, column: pa.ChunkedArray) -> None:
        """Add the cells of the next batch."""
        self.n_rows += len(column)
        if is_text(column.type) or pa.types.is_dictionary(column.type):
            self._update_text(column)
            return
        observed = clean(column).drop_null()
        self.n_observed += len(observed)
        if len(observed) and not pa.types.is_boolean(observed.type):
            numbers = np.asarray(observed.to_numpy())
            self._update_range(numbers)
            if self.has_fractions and ((numbers != self.low) & (numbers != self.high)).any():
                # Three or more values with fractions are a quantity, so counting them is pointless.
                self.is_complete = False
        if len(observed) and self.is_complete:
            value_counts = observed.value_counts()
            self._update_counts(value_counts.field("values"), value_counts.field("counts").to_numpy())

    @property
    def values(self) -> pa.ChunkedArray:
        """The distinct observed values, clean, in order of first appearance."""
        values = pa.chunked_array([pa.array([]) if self._values is None else self._values])
        return values.cast(pa.large_string()) if self._has_text else clean(values)

    @property
    def counts(self) -> NDArray[np.int64]:
        """The number of cells with each of the values [values]."""
        return self._counts

    @property
    def is_unique(self) -> bool:
        """Whether no value was counted twice."""
        return int(self._counts.sum()) == len(self._counts)

    @property
    def n_values_text(self) -> str:
        """The number of distinct values as text, for example "12" or "more than 100000"."""
        return f"{len(self._counts)}" if self.is_complete else f"more than {self.max_values}"

    def _update_text(self, column: pa.ChunkedArray) -> None:
        codes, values = factorize(column)
        counts = np.bincount(codes[codes >= 0], minlength=len(values)).astype(np.int64)
        is_used = counts > 0
        self.n_observed += int(counts.sum())
        if pa.types.is_dictionary(column.type) and column.type.ordered:
            levels = [*(self.ordered_levels or ()), *values.to_pylist()]
            self.ordered_levels = tuple(dict.fromkeys(levels))
        if is_used.any():
            used = values.filter(pa.array(is_used))
            self._update_range_of_text(used)
            if self.is_complete:
                self._update_counts(used, counts[is_used])

    def _update_range_of_text(self, values: pa.Array) -> None:
        numbers = clean(pa.chunked_array([values]))
        self._has_text = self._has_text or is_text(numbers.type)
        if not self._has_text and not pa.types.is_boolean(numbers.type):
            self._update_range(np.asarray(numbers.to_numpy()))

    def _update_range(self, numbers: NDArray[np.generic]) -> None:
        low, high = numbers.min(), numbers.max()
        self.low, self.high = min(self.low, low.item()), max(self.high, high.item())
        if np.isfinite(low) and np.isfinite(high):  # the remainder of infinity is undefined
            self.has_fractions = self.has_fractions or bool((numbers % 1 != 0).any())

    def _update_counts(self, values: pa.Array, counts: NDArray[np.int64]) -> None:
        if self._values is not None:
            values = pa.concat_arrays([self._values, values.cast(self._values.type)])
            counts = np.concatenate([self._counts, counts])
        groups = pa.table({"value": values, "n": counts}).group_by("value", use_threads=False)
        merged = groups.aggregate([("n", "sum")])
        self._values = pa.concat_arrays(merged.column("value").chunks)
        self._counts = merged.column("n_sum").to_numpy()
        if self.max_values is not None and len(self._counts) > self.max_values:
            self.is_complete = False
