"""Uploaded tables: their rows are kept unchanged, their schema can be corrected.

A table is the event stream ``table/<key>``: "uploaded", then "corrected" for every change of its schema.
"""

import re
import secrets
import tempfile
import warnings
import zipfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

import pyarrow as pa
import pyarrow.parquet as pq
from fastapi.concurrency import run_in_threadpool
from starlette.datastructures import UploadFile

from eddi.errors import EddiError, EddiWarning, TableError
from eddi.service.analyst.data.blob_store import BlobStore
from eddi.service.analyst.data.column_profile import Profile, profile_table_column
from eddi.service.web.api_keys import NO_KEY
from eddi.store.base import FORGOTTEN, Event, Store, StoreConflict
from eddi.table import formats
from eddi.table.columns import table_to_numbers
from eddi.table.schema import Schema

KEY_SHAPE = re.compile(r"[0-9a-f]{12}")
EXTENSIONS = (".csv", ".tsv", ".txt", ".parquet", ".pq", ".xlsx", ".xls")
MAX_CELLS = 50_000_000  # 400 MB as numbers; no questionnaire needs a larger table
MAX_COLUMNS = 2_000
MAX_UNPACK_RATIO = 20  # unpacked size of an Excel file, which is a zip archive, over its own size
MAX_NAME_CHARS = 120
CHUNK_BYTES = 1 << 20


class TableNotFoundError(EddiError, LookupError):
    """There is no table with this key."""

    status: ClassVar[int] = 404
    title: ClassVar[str] = "There is no such table"


class TableMovedError(EddiError, RuntimeError):
    """The schema was changed by somebody else in the meantime."""

    status: ClassVar[int] = 412
    title: ClassVar[str] = "This table was changed elsewhere"


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

    def add(self, name: str, content: Path, *, by: str = NO_KEY) -> UploadedTable:
        """Store an uploaded file, with an inferred schema.

        Args:
            name: the original file name; its extension determines the format.
            content: a temporary file with the uploaded bytes.
            by: who uploads it, the name of an API key.

        Raises:
            TableError: the file is not a table, is too large, or has no usable column.
        """
        rows, notes = _read_upload(name, content)
        schema = Schema.infer(rows)
        facts = {
            "name": _display_name(name),
            "table": self._put_rows(rows),
            "rows": rows.num_rows,
            "columns": rows.column_names,
            # As TOML text, because a store sorts the keys of a document and columns have an order.
            "schema": schema.to_toml(),
            "profiles": [profile_table_column(rows, name, schema) for name in rows.column_names],
            "notes": notes,
            "by": by,
        }
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
            raise TableNotFoundError(f"there is no table {key[:40]!r}. `GET /tables` lists all tables.")
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

    def forget(self, key: str, *, by: str = NO_KEY) -> None:
        """Erase a table, and its rows unless another table has the same rows.

        `Workshop.forget_table` also erases what jobs keep of the table.
        """
        table = self.get(key)
        self.store.forget(_stream(key), by=by)
        if all(other.digest != table.digest for other in self.all()):
            self.blobs.delete(table.digest)

    def _put_rows(self, rows: pa.Table) -> str:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "table.parquet"
            formats.write(rows, path)
            return self.blobs.put(path)


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


def _read_upload(name: str, content: Path) -> tuple[pa.Table, list[str]]:
    """The rows of an uploaded file, and the repairs that reading it took."""
    extension = Path(name).suffix.lower()
    if extension not in EXTENSIONS:
        raise TableError(
            f"{_display_name(name)!r} is not in a supported format. "
            f"Upload one of: {', '.join(EXTENSIONS)}."
        )
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"table{extension}"
        path.symlink_to(content.resolve())  # the reader chooses the format by extension
        _check_packed_size(path, extension)
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always", EddiWarning)
            try:
                rows = formats.read(path)
            except TableError as error:
                message = str(error).replace(repr(path.name), repr(_display_name(name)))
                raise TableError(message) from None
    _check_size(rows.num_rows, rows.num_columns)
    return rows, [str(item.message) for item in caught if issubclass(item.category, EddiWarning)]


def _check_packed_size(path: Path, extension: str) -> None:
    """Refuse a compressed file that would unpack to too much, before it is unpacked."""
    if extension in (".parquet", ".pq"):
        try:
            metadata = pq.ParquetFile(path).metadata
        except pa.ArrowException:
            return  # reading it raises an error that says what is wrong
        _check_size(metadata.num_rows, metadata.num_columns)
    if extension == ".xlsx" and zipfile.is_zipfile(path):
        with zipfile.ZipFile(path) as archive:
            unpacked = sum(member.file_size for member in archive.infolist())
        if unpacked > MAX_UNPACK_RATIO * max(path.stat().st_size, 1 << 20):
            raise TableError("the Excel file unpacks to far more than its size. Save the sheet as CSV.")


def _check_size(n_rows: int, n_columns: int) -> None:
    if n_columns > MAX_COLUMNS:
        raise TableError(
            f"the table has {n_columns:,} columns; at most {MAX_COLUMNS:,} can be uploaded. "
            "Remove the columns that nobody would be asked about."
        )
    if n_rows * n_columns > MAX_CELLS:
        raise TableError(
            f"the table has {n_rows:,} rows and {n_columns:,} columns; at most {MAX_CELLS:,} cells can "
            "be uploaded. A few thousand rows are enough for training."
        )


def _display_name(name: str) -> str:
    """The file name without folders and unprintable characters."""
    base = re.split(r"[\\/]", name)[-1]
    return "".join(char for char in base if char.isprintable())[-MAX_NAME_CHARS:] or "table"


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
