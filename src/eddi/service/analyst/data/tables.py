"""Uploaded tables: their rows are kept unchanged, their schema can be corrected.

A table is the event stream ``table/<key>``: "uploaded", then "corrected" for every change of its schema.
"""

import re
import secrets
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

import pyarrow as pa
import pyarrow.parquet as pq
from fastapi.concurrency import run_in_threadpool
from starlette.datastructures import UploadFile

from eddi.errors import EddiError
from eddi.service.analyst.data.blob_store import BlobStore
from eddi.service.analyst.data.column_profile import Profile
from eddi.service.analyst.data.upload import UploadReader
from eddi.service.errors import N_
from eddi.service.web.api_keys import NO_KEY
from eddi.store.base import FORGOTTEN, Event, Store, StoreConflict
from eddi.table import formats
from eddi.table.columns import table_to_numbers
from eddi.table.schema import Schema

KEY_SHAPE = re.compile(r"[0-9a-f]{12}")
CHUNK_BYTES = 1 << 20


class TableNotFoundError(EddiError, LookupError):
    """There is no table with this key."""

    status: ClassVar[int] = 404
    title: ClassVar[str] = N_("There is no such table")


class TableMovedError(EddiError, RuntimeError):
    """The schema was changed by somebody else in the meantime."""

    status: ClassVar[int] = 412
    title: ClassVar[str] = N_("This table was changed elsewhere")


@dataclass(frozen=True)
class UploadedTable:
    """An uploaded table without its rows.

    Args:
        key: its identifier.
        name: name of the uploaded file.
        digest: of its rows in the blob store, as Parquet.
        n_rows: number of rows.
        columns: all columns of the file, in its order.
        schema: the schema as last corrected.
        profiles: summary statistics of each column; see `profile_column`.
        notes: repairs that were made when the file was read.
        uploaded_at: ISO 8601.
        version: number of its events; every correction increases it.
    """

    key: str
    name: str
    digest: str
    n_rows: int
    columns: tuple[str, ...]
    schema: Schema
    profiles: tuple[Profile, ...]
    notes: tuple[str, ...]
    uploaded_at: str
    version: int

    @property
    def title(self) -> str:
        """The file's name without its extension."""
        return Path(self.name).stem

    def profile(self, column: str) -> Profile:
        """The summary statistics of a column."""
        return self.profiles[self.columns.index(column)]


class Tables:
    """All uploaded tables of a store."""

    def __init__(self, store: Store, blobs: BlobStore) -> None:
        self.store, self.blobs = store, blobs
        self.reader = UploadReader()

    def add(self, name: str, content: Path, *, by: str = NO_KEY) -> UploadedTable:
        """Store an uploaded file, with an inferred schema.

        Args:
            name: the original file name; its extension determines the format.
            content: a temporary file with the uploaded bytes.
            by: who uploads it, the name of an API key.

        Raises:
            TableError: the file is not a table, is too large, or has no usable column.
        """
        with self.reader.read(name, content) as upload:
            digest = self.blobs.put(upload.rows)
            facts = {"name": upload.name, "table": digest, **upload.facts, "by": by}
        key = secrets.token_hex(6)
        event = self.store.append(_stream(key), "uploaded", facts, after=0)
        return _replay(key, [event])

    def get(self, key: str) -> UploadedTable:
        """The table with this key.

        Raises:
            TableNotFoundError: there is no such table.
        """
        events = self.store.read(_stream(key)) if KEY_SHAPE.fullmatch(key) else []
        if not events or events[-1].kind == FORGOTTEN:
            raise TableNotFoundError(f"there is no table {key[:40]!r}. The workshop lists all tables.")
        return _replay(key, events)

    def schema_at(self, key: str, version: int) -> str:
        """The schema of a table at one of its versions, as TOML.

        Raises:
            TableNotFoundError: there is no such table.
        """
        self.get(key)
        return str(self.store.read(_stream(key))[version - 1].facts["schema"])

    def all(self) -> list[UploadedTable]:
        """All tables, newest first."""
        keys = [stream.removeprefix("table/") for stream in self.store.streams("table/")]
        streams = ((key, self.store.read(_stream(key))) for key in keys)
        tables = [_replay(key, events) for key, events in streams if events[-1].kind != FORGOTTEN]
        return sorted(tables, key=lambda table: table.uploaded_at, reverse=True)

    def rows(self, digest: str) -> pa.Table:
        """The rows of a table, by their digest."""
        return read_rows(self.blobs.path(digest))

    def correct(
        self, key: str, schema: Schema, *, after: int | None = None, by: str = NO_KEY
    ) -> UploadedTable:
        """Replace the schema of a table.

        Raises:
            TableError: a column is missing, or a value does not fit the schema.
            TableMovedError: the table is no longer at version ``after``.
        """
        table = self.get(key)
        if after is not None and after != table.version:
            raise _moved_error(table)
        table_to_numbers(self.rows(table.digest), schema)  # raises if the rows do not fit the schema
        try:
            facts = {"schema": schema.to_toml(), "by": by}
            self.store.append(_stream(key), "corrected", facts, after=table.version)
        except StoreConflict:
            raise _moved_error(table) from None
        return self.get(key)

    def use_codebook(self, key: str, name: str, content: Path, *, by: str = NO_KEY) -> list[str]:
        """Replace the schema of a table by one with a codebook, and return what it lists.

        Args:
            key: of the table.
            name: the original name of the codebook's file.
            content: a temporary file with its bytes.
            by: who does so, the name of an API key.

        Raises:
            TableError: the file is not a codebook, or does not fit the table.
        """
        table = self.get(key)
        rows = self.blobs.path(table.digest)
        schema, notes = self.reader.read_codebook(name, content, rows, table.schema)
        self.correct(key, schema, after=table.version, by=by)
        return notes

    def forget(self, key: str, *, by: str = NO_KEY) -> None:
        """Erase a table, and its rows unless another table has the same rows.

        `Workshop.forget_table` also erases what jobs keep of the table.
        """
        table = self.get(key)
        self.store.forget(_stream(key), by=by)
        if all(other.digest != table.digest for other in self.all()):
            self.blobs.delete(table.digest)


async def save_upload(tables: Tables, file: UploadFile, *, by: str = NO_KEY) -> UploadedTable:
    """Store the file of a multipart request as a table."""
    with tempfile.NamedTemporaryFile() as copy:
        while chunk := await file.read(CHUNK_BYTES):
            copy.write(chunk)
        copy.flush()
        return await run_in_threadpool(tables.add, file.filename or "", Path(copy.name), by=by)


def read_rows(path: Path) -> pa.Table:
    """The rows of a table in the blob store."""
    return formats.read(pq.ParquetFile(path).read())


def _replay(key: str, events: Sequence[Event]) -> UploadedTable:
    first = events[0].facts
    return UploadedTable(
        key=key,
        name=first["name"],
        digest=first["table"],
        n_rows=first["rows"],
        columns=tuple(first["columns"]),
        schema=Schema.from_toml(events[-1].facts["schema"]),
        profiles=tuple(first["profiles"]),
        notes=tuple(first["notes"]),
        uploaded_at=events[0].at,
        version=len(events),
    )


def _moved_error(table: UploadedTable) -> TableMovedError:
    return TableMovedError(
        f"the schema of {table.name!r} was changed in the meantime, perhaps in another tab. "
        "Reload the page and try again."
    )


def _stream(key: str) -> str:
    return f"table/{key}"
