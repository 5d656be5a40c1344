"""What the cells of one column are: counted a batch at a time, so that it need not fit in memory."""

from dataclasses import dataclass, field

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from eddi.table.columns import clean, distinct, is_text

MOST_VALUES = 100_000  # different values told apart in a stream; a column of more has no levels


@dataclass
class Census:
    """How many cells a column has, which values, and how often each.

    Exact, except for a column of more different values than ``most``: of those the first ``most`` stand
    for the rest, and only the smallest, the largest and whether all are whole is known of all of them.
    """

    most: int | None = None
    n_rows: int = 0
    n_known: int = 0
    complete: bool = True  # whether `values` are all there are
    fractional: bool = False
    low: float = np.inf
    high: float = -np.inf
    ordered: tuple[object, ...] | None = None  # of an ordered categorical: its levels, seen or not
    _values: pa.Array | None = None
    _counts: NDArray[np.int64] = field(default_factory=lambda: np.zeros(0, np.int64))
    _words: bool = False  # whether some cell is certainly no number

    @classmethod
    def of(cls, column: pa.ChunkedArray) -> "Census":
        """The census of a column that is in memory."""
        census = cls()
        census.add(column)
        return census

    def add(self, column: pa.ChunkedArray) -> None:
        """Count the cells of another part of the column."""
        self.n_rows += len(column)
        if is_text(column.type) or pa.types.is_dictionary(column.type):
            self._add_words(column)
            return
        known = clean(column).drop_null()
        self.n_known += len(known)
        if len(known) and not pa.types.is_boolean(known.type):
            numbers = np.asarray(known.to_numpy())
            self._measure(numbers)
            if self.fractional and ((numbers != self.low) & (numbers != self.high)).any():
                self.complete = False  # a quantity, whatever else comes: its values need no counting
        if len(known) and self.complete:
            counted = known.value_counts()
            self._count(counted.field("values"), counted.field("counts").to_numpy())

    @property
    def values(self) -> pa.ChunkedArray:
        """The different known values, clean, in the order of their first appearance."""
        found = pa.chunked_array([pa.array([]) if self._values is None else self._values])
        return found.cast(pa.large_string()) if self._words else clean(found)

    @property
    def counts(self) -> NDArray[np.int64]:
        """How often each value was counted."""
        return self._counts

    @property
    def all_different(self) -> bool:
        """Whether no value was counted twice."""
        return int(self._counts.sum()) == len(self._counts)

    @property
    def n_values(self) -> str:
        """How many different values there are, in words."""
        return f"{len(self._counts)}" if self.complete else f"more than {self.most}"

    def _add_words(self, column: pa.ChunkedArray) -> None:
        places, values = distinct(column)
        counts = np.bincount(places[places >= 0], minlength=len(values)).astype(np.int64)
        seen = counts > 0
        self.n_known += int(counts.sum())
        if pa.types.is_dictionary(column.type) and column.type.ordered:
            self.ordered = tuple(dict.fromkeys([*(self.ordered or ()), *values.to_pylist()]))
        if seen.any():
            self._judge_words(values.filter(pa.array(seen)))
            if self.complete:
                self._count(values.filter(pa.array(seen)), counts[seen])

    def _judge_words(self, values: pa.Array) -> None:
        numbers = clean(pa.chunked_array([values]))
        self._words = self._words or is_text(numbers.type)
        if not self._words and not pa.types.is_boolean(numbers.type):
            self._measure(np.asarray(numbers.to_numpy()))

    def _measure(self, numbers: NDArray[np.generic]) -> None:
        low, high = numbers.min(), numbers.max()
        self.low, self.high = min(self.low, low.item()), max(self.high, high.item())
        if np.isfinite(low) and np.isfinite(high):  # what is infinite has no remainder
            self.fractional = self.fractional or bool((numbers % 1 != 0).any())

    def _count(self, values: pa.Array, counts: NDArray[np.int64]) -> None:
        if self._values is not None:
            values = pa.concat_arrays([self._values, values.cast(self._values.type)])
            counts = np.concatenate([self._counts, counts])
        table = pa.table({"value": values, "n": counts}).group_by("value", use_threads=False)
        merged = table.aggregate([("n", "sum")])
        self._values = pa.concat_arrays(merged.column("value").chunks)
        self._counts = merged.column("n_sum").to_numpy()
        if self.most is not None and len(self._counts) > self.most:
            self.complete = False
