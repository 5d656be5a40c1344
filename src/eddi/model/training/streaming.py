"""Training rows that do not fit in memory: a window of row groups at a time, in a shuffled order.

Which rows a window holds depends on the seed and its number alone, so that a run that is resumed sees
what one that was never interrupted sees.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from eddi.table.coding import Coding
from eddi.table.evidence import Evidence
from eddi.table.schema import Schema
from eddi.table.streaming import ParquetStream

WINDOW_CELLS = 4_000_000  # in memory at once: 16 MB of values, and as much for what is known
HELD_OUT_GROUPS = 8  # row groups that held-out rows are taken from, so that not all need be read


@dataclass(frozen=True)
class Windows:
    """The rows of a Parquet file as evidence, some at a time; a few are held out from all windows."""

    stream: ParquetStream
    schema: Schema
    coding: Coding
    seed: int
    held_out: dict[int, NDArray[np.int64]]  # row group -> its rows that are held out

    @classmethod
    def of(
        cls, stream: ParquetStream, schema: Schema, coding: Coding, *, n_held_out: int, seed: int
    ) -> "Windows":
        """Windows that keep ``n_held_out`` random rows, or nearly so many, for `validation`."""
        random = np.random.default_rng((seed, 0))
        sizes = np.array(stream.group_sizes)
        groups = random.permutation(np.flatnonzero(sizes > 1))[: min(HELD_OUT_GROUPS, n_held_out)]
        held_out = {}
        for group, n in zip(groups.tolist(), _shares(n_held_out, len(groups)), strict=True):
            most = min(n, int(sizes[group]) // 2)  # some are left to learn from
            held_out[group] = np.sort(random.choice(int(sizes[group]), most, replace=False))
        return cls(stream, schema, coding, seed, held_out)

    @property
    def n_variables(self) -> int:
        return len(self.schema.variables)

    def validation(self) -> Evidence:
        """The rows that no window holds."""
        parts = [self._rows(group, rows) for group, rows in sorted(self.held_out.items())]
        return _joined([part for some in parts for part in some], self.n_variables)

    def window(self, number: int) -> Evidence:
        """The rows of a window; another number, other row groups, until all had their turn."""
        random = np.random.default_rng((self.seed, 1, number))
        parts: list[Evidence] = []
        most = max(1, WINDOW_CELLS // self.n_variables)
        for group in self._groups(number, most):
            rows = np.arange(self.stream.group_sizes[group])
            rows = np.setdiff1d(rows, self.held_out.get(group, rows[:0]))
            if len(rows) > most:  # one group larger than a window: some of its rows
                rows = np.sort(random.choice(rows, most, replace=False))
            parts += self._rows(group, rows)
        return _joined(parts, self.n_variables)

    def _groups(self, number: int, most: int) -> list[int]:
        """The row groups of a window: as many as fit, at least one, each round in a new order."""
        sizes = np.array(self.stream.group_sizes)
        n_groups = max(1, int(most // max(1, sizes.mean())))
        n_groups = min(n_groups, len(sizes))
        first = number * n_groups
        places = range(first, first + n_groups)
        return [self._group(place) for place in places]

    def _group(self, place: int) -> int:
        epoch, within = divmod(place, len(self.stream.group_sizes))
        order = np.random.default_rng((self.seed, 2, epoch)).permutation(len(self.stream.group_sizes))
        return int(order[within])

    def _rows(self, group: int, rows: NDArray[np.int64]) -> Iterator[Evidence]:
        """Some rows (sorted places) of a row group."""
        start = 0
        for numbers in self.stream.iter_numbers(self.schema, row_groups=[group]):
            inside = rows[(rows >= start) & (rows < start + len(numbers))] - start
            start += len(numbers)
            if len(inside):
                yield self.coding.encode(numbers[inside])


def _shares(total: int, n: int) -> list[int]:
    """``total`` in ``n`` nearly equal parts."""
    return [total // n + (place < total % n) for place in range(n)]


def _joined(parts: list[Evidence], n_variables: int) -> Evidence:
    if not parts:
        return Evidence.empty(0, n_variables)
    return Evidence(
        np.concatenate([part.values for part in parts]),
        np.concatenate([part.observed for part in parts]),
    )
