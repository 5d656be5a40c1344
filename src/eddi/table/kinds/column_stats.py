"""Statistics of one column, collected batch by batch so that the column need not fit in memory."""

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field, replace

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from eddi.table.cell_arrays import is_text
from eddi.table.cells.missing import NONE_MARKER, is_missing_number
from eddi.table.columns import clean, factorize
from eddi.table.variable import Level

N_EXTREMES = 5  # smallest and largest numbers that are counted even where values are not
MAX_DISTINCT_VALUES = 100_000  # counted per column of a stream; a column with more has no levels


@dataclass
class ColumnStats:
    """Number of cells, distinct values, their counts and their range.

    The statistics are exact unless a column has more than ``max_values`` distinct values. In that case
    `values` and `counts` cover only the first values. The range, and whether there are fractions, are
    exact in any case.
    """

    max_values: int | None = None  # None means no limit
    codes: tuple[Level, ...] = ()  # values that mean "missing"
    n_rows: int = 0
    n_observed: int = 0
    is_complete: bool = True  # whether `values` contains all distinct values
    has_fractions: bool = False
    low: float = np.inf
    high: float = -np.inf
    ordered_levels: tuple[object, ...] | None = None  # of an ordered categorical, including unused ones
    n_none: int = 0  # cells with the word "None", which count as missing
    _values: pa.Array | None = None
    _clean_values: pa.ChunkedArray | None = None  # cache of `values`
    _counts: NDArray[np.int64] = field(default_factory=lambda: np.zeros(0, np.int64))
    _has_text: bool = False  # whether some observed cell is not a number
    _extremes: dict[float, int] = field(default_factory=dict)  # among the numbers that are not counted

    def update(self, column: pa.ChunkedArray) -> None:
        """Add the cells of the next batch."""
        self._clean_values = None
        self.n_rows += len(column)
        if is_text(column.type) or pa.types.is_dictionary(column.type):
            self._update_text(column)
            return
        observed = clean(column, codes=self.codes).drop_null()
        self.n_observed += len(observed)
        if len(observed) and not pa.types.is_boolean(observed.type):
            numbers = np.asarray(observed.to_numpy())
            self._update_range(numbers)
            if self.has_fractions and ((numbers != self.low) & (numbers != self.high)).any():
                # Three or more values with fractions are a quantity, so counting them is pointless.
                self.is_complete = False
            if not self.is_complete:
                self._update_extremes(numbers)
        if len(observed) and self.is_complete:
            value_counts = observed.value_counts()
            self._update_counts(value_counts.field("values"), value_counts.field("counts").to_numpy())

    @property
    def values(self) -> pa.ChunkedArray:
        """The distinct observed values, clean, in order of first appearance."""
        if self._clean_values is None:
            values = pa.chunked_array([pa.array([]) if self._values is None else self._values])
            self._clean_values = values.cast(pa.large_string()) if self._has_text else clean(values)
        return self._clean_values

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

    @property
    def extremes(self) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
        """The smallest and the largest numbers in ascending order, and how often they occur."""
        counts = Counter(self._extremes)
        numbers = np.asarray(self.values.to_numpy(), dtype=np.float64).tolist()
        counts.update(dict(zip(numbers, self._counts.tolist(), strict=True)))
        values = sorted(counts)
        return np.array(values, dtype=np.float64), np.array(
            [counts[value] for value in values], np.int64
        )

    def as_numbers(self, parse: Callable[[str], float]) -> "ColumnStats":
        """Return the statistics of the numbers that the texts stand for. NaN means missing."""
        numbers = np.array([parse(text) for text in self.values.to_pylist()], dtype=np.float64)
        return self._with_values(numbers, ~np.isnan(numbers))

    def without(self, *numbers: float) -> "ColumnStats":
        """Return the statistics without some numbers."""
        values = np.asarray(self.values.to_numpy())
        stats = self._with_values(values, ~np.isin(values, numbers))
        if self.is_complete:
            return stats
        extremes, _ = self.extremes
        rest = extremes[~np.isin(extremes, numbers)]
        return replace(
            stats, low=rest.min().item(), high=rest.max().item(), has_fractions=self.has_fractions
        )

    def _with_values(self, values: NDArray[np.generic], is_kept: NDArray[np.bool_]) -> "ColumnStats":
        counts = self._counts[is_kept]
        stats = ColumnStats(self.max_values, n_rows=self.n_rows, is_complete=self.is_complete)
        stats.n_observed = int(counts.sum())
        stats._values, stats._counts = pa.array(values[is_kept]), counts
        if len(counts):
            stats._update_range(values[is_kept])
        return stats

    def _update_text(self, column: pa.ChunkedArray) -> None:
        codes, values = factorize(column, codes=self.codes)
        counts = np.bincount(codes[codes >= 0], minlength=len(values)).astype(np.int64)
        if is_text(values.type) and NONE_MARKER in values.to_pylist():
            self.n_none += int(
                pc.sum(pc.equal(column.cast(pa.large_string()), NONE_MARKER)).as_py() or 0
            )
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

    def _update_extremes(self, numbers: NDArray[np.generic]) -> None:
        low, high = numbers.min(), numbers.max()
        if is_missing_number(low) or is_missing_number(high):
            values, counts = np.unique(numbers, return_counts=True)
        else:  # sorting takes long; without a code, only the range matters
            values, counts = np.array([low, high]), np.ones(2, np.int64)
        merged = Counter(self._extremes)
        for index in _ends(len(values)):
            merged[values[index].item()] += int(counts[index])
        ordered = sorted(merged)
        self._extremes = {ordered[index]: merged[ordered[index]] for index in _ends(len(ordered))}

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


def _ends(n_values: int) -> list[int]:
    """Return the indices of the first and of the last few values."""
    if n_values <= 2 * N_EXTREMES:
        return list(range(n_values))
    return [*range(N_EXTREMES), *range(n_values - N_EXTREMES, n_values)]
