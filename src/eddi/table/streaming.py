"""Parquet files larger than memory, read and written a few rows at a time."""

from collections import Counter
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

from eddi.durable_file import finish_file, name_unfinished
from eddi.errors import TableError
from eddi.table import formats
from eddi.table.columns import table_to_numbers
from eddi.table.files.parquet import INDEX_COLUMN
from eddi.table.files.read_file import summarize_error
from eddi.table.schema import Schema

MAX_CELLS_IN_MEMORY = 20_000_000  # larger Parquet files are streamed; as float64 these are 160 MB
CELLS_PER_BATCH = 2_000_000  # 16 MB as float64
BUFFER_BYTES = 1 << 18  # read buffer of each column chunk


@dataclass(frozen=True)
class ParquetStream:
    """A Parquet file that stays on disk and is read in batches."""

    path: Path

    @cached_property
    def _file(self) -> pq.ParquetFile:
        try:
            # A small buffer, so that not even a single row group is in memory as a whole.
            return pq.ParquetFile(self.path, buffer_size=BUFFER_BYTES, pre_buffer=False)
        except (OSError, pa.ArrowException) as error:
            raise TableError(f"cannot read {str(self.path)!r}: {summarize_error(error)}") from None

    @cached_property
    def columns(self) -> pa.Schema:
        """Names and types of the columns."""
        fields = [f for f in self._file.schema_arrow if not INDEX_COLUMN.fullmatch(f.name)]
        counts = Counter(field.name for field in fields)
        if repeated := [name for name, count in counts.items() if count > 1]:
            raise TableError(
                f"{self.path.name!r} has two columns {repeated[0]!r}. A file of this size is streamed "
                "and needs unique column names: rename one of them and write the file again."
            )
        return formats.read(pa.schema(fields).empty_table()).schema

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
    def group_sizes(self) -> list[int]:
        """The number of rows in each row group."""
        metadata = self._file.metadata
        return [metadata.row_group(group).num_rows for group in range(metadata.num_row_groups)]

    def iter_batches(
        self,
        n_rows: int | None = None,
        *,
        row_groups: Sequence[int] | None = None,
        names: Sequence[str] | None = None,
    ) -> Iterator[pa.Table]:
        """Yield the rows in the order of the file, ``n_rows`` at a time.

        Args:
            n_rows: rows per batch; the last may have fewer. None means a size that needs little memory.
            row_groups: the row groups to read; None means all.
            names: the columns to read; None means all. Names that the file lacks are ignored.
        """
        selected = [name for name in self.column_names if names is None or name in names]
        size = n_rows or max(1, CELLS_PER_BATCH // max(1, len(selected)))
        pending: list[pa.RecordBatch] = []
        for batch in self._read(size, row_groups, selected):
            pending.append(batch)
            while sum(map(len, pending)) >= size:
                table = pa.Table.from_batches(pending)
                yield formats.read(table.slice(0, size))
                pending = table.slice(size).to_batches()
        if pending:
            yield formats.read(pa.Table.from_batches(pending))

    def _read(
        self, size: int, row_groups: Sequence[int] | None, names: list[str]
    ) -> Iterator[pa.RecordBatch]:
        try:
            # One thread: Arrow's thread pool can abort a short process that exits while the pool stops.
            yield from self._file.iter_batches(
                size, row_groups=row_groups, columns=names, use_threads=False
            )
        except (OSError, pa.ArrowException) as error:
            raise TableError(f"cannot read {str(self.path)!r}: {summarize_error(error)}") from None

    def iter_numbers(
        self, schema: Schema, *, row_groups: Sequence[int] | None = None
    ) -> Iterator[NDArray[np.float64]]:
        """Yield the numbers of the schema's variables in batches, NaN = missing [rows, variables]."""
        names = [name for variable in schema.variables for name in variable.columns]
        for batch in self.iter_batches(row_groups=row_groups, names=names):
            yield table_to_numbers(batch, schema)

    def has_missing(self, name: str) -> bool:
        """Whether the column has nulls according to the statistics in the file.

        A column without statistics counts as having nulls.
        """
        column = self._file.schema_arrow.names.index(name)
        metadata = self._file.metadata
        for group in range(metadata.num_row_groups):
            statistics = metadata.row_group(group).column(column).statistics
            if statistics is None or not statistics.has_null_count or statistics.null_count:
                return True
        return False


def open_table(source: Any) -> "pa.Table | ParquetStream":
    """Return any table in memory, or as a stream if it is a large Parquet file.

    A file is large if it has more than `MAX_CELLS_IN_MEMORY` cells.
    """
    if isinstance(source, ParquetStream):
        return source
    if isinstance(source, str | PathLike):
        path = Path(source)
        if formats.is_parquet(path) and path.is_file():
            stream = ParquetStream(path)
            if stream.n_rows * stream.n_columns > MAX_CELLS_IN_MEMORY:
                return stream
    return formats.read(source)


def iter_batches(table: "pa.Table | ParquetStream", n_rows: int) -> Iterable[pa.Table]:
    """Return the rows of a table, ``n_rows`` at a time. An empty table in memory is one batch."""
    if isinstance(table, ParquetStream):
        return table.iter_batches(n_rows)
    return [table.slice(start, n_rows) for start in range(0, max(1, table.num_rows), n_rows)]


@contextmanager
def open_writer(path: Path, types: pa.Schema) -> Iterator["ParquetWriter"]:
    """Open a Parquet file for writing. The file appears only once the block ends without an error.

    Args:
        path: the file to create or replace.
        types: names and types of the columns.
    """
    unfinished = name_unfinished(path)
    writer = ParquetWriter(unfinished, types)
    try:
        yield writer
        writer.close()
        finish_file(unfinished, path)
    except BaseException:
        writer.close()
        unfinished.unlink(missing_ok=True)
        raise


class ParquetWriter:
    """Writes tables to a Parquet file, each as one row group."""

    def __init__(self, path: Path, types: pa.Schema) -> None:
        self.path, self.types = path, types
        self._writer = self._try(lambda: pq.ParquetWriter(path, types))

    def write(self, table: pa.Table) -> None:
        """Append the rows of a table."""
        self._try(lambda: self._writer.write_table(table.cast(self.types)))

    def close(self) -> None:
        """Finish the file."""
        self._try(self._writer.close)

    def _try(self, action: Callable[[], Any]) -> Any:
        try:
            return action()
        except (OSError, pa.ArrowException) as error:
            raise TableError(f"cannot write {str(self.path)!r}: {summarize_error(error)}") from None
