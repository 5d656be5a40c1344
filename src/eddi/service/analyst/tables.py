"""Tables that analysts brought: kept as they came, with the schema as far as it was corrected.

A table is the stream ``table/<key>``: "uploaded", then "corrected" whenever its schema changed.
"""

import re
import secrets
import tempfile
import warnings
import zipfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
from fastapi.concurrency import run_in_threadpool
from starlette.datastructures import UploadFile

from eddi.errors import EddiError, EddiWarning, TableError
from eddi.service.analyst.blob_store import Shelf
from eddi.service.analyst.column_profile import profile
from eddi.store.base import FORGOTTEN, Event, Store, StoreConflict
from eddi.table import formats
from eddi.table.columns import table_to_numbers
from eddi.table.schema import Schema

KEY_SHAPE = re.compile(r"[0-9a-f]{12}")
ENDINGS = (".csv", ".tsv", ".txt", ".parquet", ".pq", ".xlsx", ".xls")
MAX_CELLS = 50_000_000  # as numbers these are 400 MB; a table of more is no questionnaire's
MAX_COLUMNS = 2_000
UNPACKED = 20  # times its size that an Excel file, which is a zip, may unpack to
MAX_NAME = 120
CHUNK_BYTES = 1 << 20


class TableNotFoundError(EddiError, LookupError):
    """There is no such table."""

    status = 404
    title = "There is no such table"


class TableMovedError(EddiError, RuntimeError):
    """Somebody else corrected the schema meanwhile."""

    status = 412
    title = "This table was changed elsewhere"


@dataclass(frozen=True)
class KeptTable:
    """What is known of a table without reading it.

    Args:
        key: what it is found by.
        name: the file it came as.
        seal: where its rows are on the shelf, as Parquet.
        schema: what its columns are, as last corrected.
        columns: all columns of the file, in its order.
        profiles: what each column holds; see `profile`.
        notes: what was repaired while reading it.
        version: how many events it has; goes up with every correction.
    """

    key: str
    name: str
    seal: str
    n_rows: int
    columns: tuple[str, ...]
    schema: Schema
    profiles: tuple[dict[str, Any], ...]
    notes: tuple[str, ...]
    at: str
    version: int

    @property
    def title(self) -> str:
        """Its name without the ending."""
        return Path(self.name).stem


class Tables:
    """All tables of a store."""

    def __init__(self, store: Store, shelf: Shelf) -> None:
        self.store, self.shelf = store, shelf

    def add(self, name: str, content: Path) -> KeptTable:
        """Keep an uploaded file; the schema a careful person would write comes with it.

        Args:
            name: what the file was called; its ending says what it is.
            content: where its bytes are for now.

        Raises:
            TableError: it is no table, is too large, or holds nothing to learn from.
        """
        table, notes = _read(name, content)
        schema = Schema.infer(table)
        facts = {
            "name": _tidy(name),
            "table": self._keep(table),
            "rows": table.num_rows,
            "columns": table.column_names,
            "schema": schema.to_toml(),  # as text, for a store sorts what is named
            "profiles": [profile(column) for column in table.columns],
            "notes": notes,
        }
        key = secrets.token_hex(6)
        event = self.store.append(_stream(key), "uploaded", facts, after=0)
        return _replayed(key, [event])

    def get(self, key: str) -> KeptTable:
        """What is known of a table.

        Raises:
            TableNotFoundError: there is none of this key.
        """
        events = self.store.read(_stream(key)) if KEY_SHAPE.fullmatch(key) else []
        if not events or events[-1].kind == FORGOTTEN:
            raise TableNotFoundError(f"there is no table {key[:40]!r}. `GET /tables` lists them.")
        return _replayed(key, events)

    def all(self) -> list[KeptTable]:
        """Every table, the newest first."""
        keys = [stream.removeprefix("table/") for stream in self.store.streams("table/")]
        events = ((key, self.store.read(_stream(key))) for key in keys)
        kept = [_replayed(key, some) for key, some in events if some[-1].kind != FORGOTTEN]
        return sorted(kept, key=lambda one: one.at, reverse=True)

    def rows(self, seal: str) -> pa.Table:
        """The rows behind a seal."""
        return read_rows(self.shelf.path(seal))

    def correct(self, key: str, schema: Schema, *, after: int | None = None) -> KeptTable:
        """Keep a corrected schema.

        Raises:
            TableError: a column is lacking, or a value does not fit the schema.
            TableMovedError: the table is no longer at version ``after``.
        """
        kept = self.get(key)
        if after is not None and after != kept.version:
            raise _moved(kept)
        table_to_numbers(self.rows(kept.seal), schema)  # what is kept can be learned from
        try:
            facts = {"schema": schema.to_toml()}
            self.store.append(_stream(key), "corrected", facts, after=kept.version)
        except StoreConflict:
            raise _moved(kept) from None
        return self.get(key)

    def forget(self, key: str) -> None:
        """Erase a table: what is known of it, and its rows unless another table has the same."""
        kept = self.get(key)
        self.store.forget(_stream(key))
        if all(other.seal != kept.seal for other in self.all()):
            self.shelf.path(kept.seal).unlink(missing_ok=True)

    def _keep(self, table: pa.Table) -> str:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "table.parquet"
            formats.write(table, path)
            return self.shelf.put(path)


async def keep_upload(tables: Tables, file: UploadFile) -> KeptTable:
    """Keep a file that a request carries."""
    with tempfile.NamedTemporaryFile() as copy:
        while chunk := await file.read(CHUNK_BYTES):
            copy.write(chunk)
        copy.flush()
        return await run_in_threadpool(tables.add, file.filename or "", Path(copy.name))


def read_rows(path: Path) -> pa.Table:
    """The rows of a table on the shelf."""
    return formats.read(pq.ParquetFile(path).read())


def _read(name: str, content: Path) -> tuple[pa.Table, list[str]]:
    ending = Path(name).suffix.lower()
    if ending not in ENDINGS:
        raise TableError(
            f"{_tidy(name)!r} is of no format that can be uploaded. Send one of: {', '.join(ENDINGS)}."
        )
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"table{ending}"
        path.symlink_to(content.resolve())  # the ending says what the bytes are
        _refuse_bombs(path, ending)
        with warnings.catch_warnings(record=True) as repaired:
            warnings.simplefilter("always", EddiWarning)
            try:
                table = formats.read(path)
            except TableError as error:
                raise TableError(str(error).replace(repr(path.name), repr(_tidy(name)))) from None
    _refuse_large(table.num_rows, table.num_columns)
    return table, [str(one.message) for one in repaired if issubclass(one.category, EddiWarning)]


def _refuse_bombs(path: Path, ending: str) -> None:
    """Look at how much a packed file holds before it is unpacked."""
    if ending in (".parquet", ".pq"):
        try:
            facts = pq.ParquetFile(path).metadata
        except pa.ArrowException:
            return  # reading it says in words what is wrong
        _refuse_large(facts.num_rows, facts.num_columns)
    if ending == ".xlsx" and zipfile.is_zipfile(path):
        with zipfile.ZipFile(path) as archive:
            unpacked = sum(one.file_size for one in archive.infolist())
        if unpacked > UNPACKED * max(path.stat().st_size, 1 << 20):
            raise TableError("the Excel file unpacks to far more than its size. Save the sheet as CSV.")


def _refuse_large(n_rows: int, n_columns: int) -> None:
    if n_columns > MAX_COLUMNS:
        raise TableError(
            f"the table has {n_columns:,} columns; at most {MAX_COLUMNS:,} can be uploaded. "
            "Leave out what is no question."
        )
    if n_rows * n_columns > MAX_CELLS:
        raise TableError(
            f"the table has {n_rows:,} rows and {n_columns:,} columns; at most {MAX_CELLS:,} cells can "
            "be uploaded. Some thousands of rows are enough to learn from."
        )


def _tidy(name: str) -> str:
    """The last part of a file's name, in characters that can be shown."""
    last = re.split(r"[\\/]", name)[-1]
    return "".join(one for one in last if one.isprintable())[-MAX_NAME:] or "table"


def _replayed(key: str, events: Sequence[Event]) -> KeptTable:
    first = events[0].facts
    return KeptTable(
        key,
        first["name"],
        first["table"],
        first["rows"],
        tuple(first["columns"]),
        Schema.from_toml(events[-1].facts["schema"]),
        tuple(first["profiles"]),
        tuple(first["notes"]),
        events[0].at,
        len(events),
    )


def _moved(kept: KeptTable) -> TableMovedError:
    return TableMovedError(
        f"the schema of {kept.name!r} was corrected meanwhile, perhaps in another tab. "
        "Load the page again, then decide."
    )


def _stream(key: str) -> str:
    return f"table/{key}"
