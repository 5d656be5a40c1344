"""Training rows that do not fit into memory: windows of row groups of a Parquet file, in random order.

The rows of a window depend on the seed and the window's number alone, so a resumed run sees the same rows
as an uninterrupted one.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from eddi.table.coding import Coding
from eddi.table.evidence import Evidence
from eddi.table.schema import Schema
from eddi.table.streaming import ParquetStream

WINDOW_CELLS = 4_000_000  # in memory at once: 16 MB of values and 16 MB of weights
HELD_OUT_GROUPS = 8  # row groups that held-out rows come from, so that few must be read


@dataclass(frozen=True)
class StreamedEvidence:
    """The rows of a Parquet file as evidence, one window at a time; held-out rows are in no window."""

    stream: ParquetStream
    schema: Schema
    coding: Coding
    seed: int
    held_out: dict[int, NDArray[np.int64]]  # row group -> its held-out rows

    @classmethod
    def split(
        cls, stream: ParquetStream, schema: Schema, coding: Coding, *, n_held_out: int, seed: int
    ) -> "StreamedEvidence":
        """Hold out about ``n_held_out`` random rows for validation."""
        random = np.random.default_rng((seed, 0))
        sizes = np.array(stream.group_sizes)
        groups = random.permutation(np.flatnonzero(sizes > 1))[: min(HELD_OUT_GROUPS, n_held_out)]
        held_out = {}
        for group, n in zip(groups.tolist(), _split_evenly(n_held_out, len(groups)), strict=True):
            n_rows = min(n, int(sizes[group]) // 2)  # leave some for training
            held_out[group] = np.sort(random.choice(int(sizes[group]), n_rows, replace=False))
        return cls(stream, schema, coding, seed, held_out)

    @property
    def n_variables(self) -> int:
        return len(self.schema.variables)

    def validation(self) -> Evidence:
        """The held-out rows."""
        parts = [self._rows(group, rows) for group, rows in sorted(self.held_out.items())]
        return _concatenate([part for group in parts for part in group], self.n_variables)

    def window(self, number: int) -> Evidence:
        """The rows of a window; consecutive windows cover all row groups before any repeats."""
        random = np.random.default_rng((self.seed, 1, number))
        parts: list[Evidence] = []
        max_rows = max(1, WINDOW_CELLS // self.n_variables)
        for group in self._groups(number, max_rows):
            rows = np.arange(self.stream.group_sizes[group])
            rows = np.setdiff1d(rows, self.held_out.get(group, rows[:0]))
            if len(rows) > max_rows:  # a group larger than a window: a sample of its rows
                rows = np.sort(random.choice(rows, max_rows, replace=False))
            parts += self._rows(group, rows)
        return _concatenate(parts, self.n_variables)

    def _groups(self, number: int, max_rows: int) -> list[int]:
        """The row groups of a window: as many as fit, at least one; each epoch has a new order."""
        sizes = np.array(self.stream.group_sizes)
        n_groups = max(1, int(max_rows // max(1, sizes.mean())))
        n_groups = min(n_groups, len(sizes))
        first = number * n_groups
        places = range(first, first + n_groups)
        return [self._group(place) for place in places]

    def _group(self, place: int) -> int:
        epoch, within = divmod(place, len(self.stream.group_sizes))
        order = np.random.default_rng((self.seed, 2, epoch)).permutation(len(self.stream.group_sizes))
        return int(order[within])

    def _rows(self, group: int, rows: NDArray[np.int64]) -> Iterator[Evidence]:
        """The rows at these sorted positions of a row group."""
        start = 0
        for numbers in self.stream.iter_numbers(self.schema, row_groups=[group]):
            inside = rows[(rows >= start) & (rows < start + len(numbers))] - start
            start += len(numbers)
            if len(inside):
                yield self.coding.encode(numbers[inside])


def _split_evenly(total: int, n: int) -> list[int]:
    """``total`` as a sum of ``n`` nearly equal parts."""
    return [total // n + (place < total % n) for place in range(n)]


def _concatenate(parts: list[Evidence], n_variables: int) -> Evidence:
    if not parts:
        return Evidence.empty(0, n_variables)
    return Evidence(
        np.concatenate([part.values for part in parts]),
        np.concatenate([part.observed for part in parts]),
    )


def first_window(evidence: Evidence | StreamedEvidence) -> Evidence:
    """The rows themselves, or the first window of a streamed table."""
    return evidence if isinstance(evidence, Evidence) else evidence.window(0)
