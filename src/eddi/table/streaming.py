"""A Parquet file larger than memory: a table that is read, and written, a few rows at a time."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

from eddi.errors import TableError
from eddi.table import columns, formats
from eddi.table.formats import INDEX_COLUMN, first_line
from eddi.table.schema import Schema

LARGE = 20_000_000  # cells; a Parquet file of more is streamed: as float64 it would take 160 MB and up
CELLS_AT_ONCE = 2_000_000  # read at once: 16 MB as float64
BUFFER_BYTES = 1 << 18  # of each column chunk while it is read


@dataclass(frozen=True)
class Stream:
    """A Parquet file that stays on disk."""

    path: Path

    @cached_property
    def _file(self) -> pq.ParquetFile:
        try:
            # Pages come through a small buffer, so that not even a row group is in memory whole.
            return pq.ParquetFile(self.path, buffer_size=BUFFER_BYTES, pre_buffer=False)
        except (OSError, pa.ArrowException) as error:
            raise TableError(f"cannot read {str(self.path)!r}: {first_line(error)}") from None

    @cached_property
    def columns(self) -> pa.Schema:
        """Names and types of its columns."""
        kept = [one for one in self._file.schema_arrow if not INDEX_COLUMN.fullmatch(one.name)]
        names = [one.name for one in kept]
        twice = [name for name in names if names.count(name) > 1] if len(set(names)) < len(names) else []
        if twice:
            raise TableError(
                f"{self.path.name!r} has two columns {twice[0]!r}, and is too large to rename one. "
                "Write it again with a name of its own for each."
            )
        return formats.read(pa.schema(kept).empty_table()).schema

    @property
    def n_rows(self) -> int:
        return int(self._file.metadata.num_rows)

    @property
    def column_names(self) -> list[str]:
        return list(self.columns.names)

    @property
    def n_columns(self) -> int:
        return len(self.columns)

    @property
    def group_rows(self) -> list[int]:
        """How many rows each row group has."""
        facts = self._file.metadata
        return [facts.row_group(place).num_rows for place in range(facts.num_row_groups)]

    def batches(
        self,
        n_rows: int | None = None,
        *,
        groups: Sequence[int] | None = None,
        names: Sequence[str] | None = None,
    ) -> Iterator[pa.Table]:
        """The rows in the file's order, ``n_rows`` at a time.

        Args:
            n_rows: of a batch, the last may have fewer; so many that they take little memory where None.
            groups: the row groups to read; all where None.
            names: the columns to read, no others are; all where None. Names it lacks are left out.
        """
        wanted = [name for name in self.column_names if names is None or name in names]
        size = n_rows or max(1, CELLS_AT_ONCE // max(1, len(wanted)))
        waiting: list[pa.RecordBatch] = []
        for batch in self._read(size, groups, wanted):
            waiting.append(batch)
            while sum(map(len, waiting)) >= size:
                whole = pa.Table.from_batches(waiting)
                yield formats.read(whole.slice(0, size))
                waiting = whole.slice(size).to_batches()
        if waiting:
            yield formats.read(pa.Table.from_batches(waiting))

    def _read(
        self, size: int, groups: Sequence[int] | None, names: list[str]
    ) -> Iterator[pa.RecordBatch]:
        try:
            # One thread: Arrow's pool, winding down when a short command exits, can abort the process.
            yield from self._file.iter_batches(size, row_groups=groups, columns=names, use_threads=False)
        except (OSError, pa.ArrowException) as error:
            raise TableError(f"cannot read {str(self.path)!r}: {first_line(error)}") from None

    def numbers(
        self, schema: Schema, *, groups: Sequence[int] | None = None
    ) -> Iterator[NDArray[np.float64]]:
        """The schema's numbers, NaN = missing, some rows at a time [rows, variables]."""
        for batch in self.batches(groups=groups, names=schema.names):
            yield columns.table_numbers(batch, schema)

    def has_holes(self, name: str) -> bool:
        """Whether the column has a null; what the file says of itself is believed."""
        place = self._file.schema_arrow.names.index(name)
        facts = self._file.metadata
        for group in range(facts.num_row_groups):
            said = facts.row_group(group).column(place).statistics
            if said is None or not said.has_null_count or said.null_count:
                return True
        return False


def opened(source: Any) -> "pa.Table | Stream":
    """Any table: in memory, or a stream where it is a Parquet file of more than `LARGE` cells."""
    if isinstance(source, Stream):
        return source
    if isinstance(source, str | PathLike):
        path = Path(source)
        if formats.is_parquet(path) and path.is_file():
            stream = Stream(path)
            if stream.n_rows * stream.n_columns > LARGE:
                return stream
    return formats.read(source)


@contextmanager
def written(path: Path, types: pa.Schema) -> Iterator["Writer"]:
    """A Parquet file of these columns to add tables to; there is none in the end if anything fails."""
    unfinished = path.with_name(path.name + ".unfinished")
    writer = Writer(unfinished, types)
    try:
        yield writer
        writer.close()
        unfinished.replace(path)
    except BaseException:
        writer.close()
        unfinished.unlink(missing_ok=True)
        raise


class Writer:
    """Writes one row group for each table it is given."""

    def __init__(self, path: Path, types: pa.Schema) -> None:
        self.path, self.types = path, types
        self._writer = self._try(lambda: pq.ParquetWriter(path, types))

    def add(self, table: pa.Table) -> None:
        self._try(lambda: self._writer.write_table(table.cast(self.types)))

    def close(self) -> None:
        self._try(self._writer.close)

    def _try(self, act: Callable[[], Any]) -> Any:
        try:
            return act()
        except (OSError, pa.ArrowException) as error:
            raise TableError(f"cannot write {str(self.path)!r}: {first_line(error)}") from None


def batches_of(table: "pa.Table | Stream", n_rows: int) -> Iterable[pa.Table]:
    """The rows of a table, in memory or on disk, ``n_rows`` at a time; an empty one is one batch."""
    if isinstance(table, Stream):
        return table.batches(n_rows)
    return [table.slice(start, n_rows) for start in range(0, max(1, table.num_rows), n_rows)]
