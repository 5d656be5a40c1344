"""Backups of a store: a copy of the SQLite file, or an export of its events as JSON lines."""

import json
import sqlite3
from collections.abc import Iterable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, cast

from eddi.durable_file import finish_file
from eddi.store.base import Event, FactsError, Store, StoreError
from eddi.store.connection import create_private_file

if TYPE_CHECKING:
    from sqlalchemy import Connection


def export_lines(store: Store, prefix: str = "") -> Iterator[str]:
    """Yield every event as a line of JSON, with at most one stream in memory at a time."""
    for stream in store.streams(prefix):
        for event in store.read(stream):
            yield json.dumps(event.to_document())


def parse_lines(lines: Iterable[str]) -> Iterator[Event]:
    """Yield the events written by `export_lines`.

    Raises:
        FactsError: a line is not an event.
    """
    for number, line in enumerate(lines, start=1):
        try:
            yield Event.from_document(json.loads(line))
        except (ValueError, TypeError):
            raise FactsError(
                f"line {number} is not an event. Use a file written by `eddi store export`."
            ) from None


def copy_sqlite(connection: "Connection", path: Path) -> None:
    """Copy a consistent snapshot of the SQLite database behind ``connection`` to a new file."""
    source = cast("sqlite3.Connection", connection.connection.driver_connection)
    with create_atomically(path) as partial, closing(sqlite3.connect(partial)) as copy:
        try:
            source.backup(copy)
            copy.execute("PRAGMA journal_mode = DELETE")  # a single file without a separate log
        except sqlite3.Error as error:
            raise StoreError(f"cannot write {str(path)!r}: {error}. Check the disk.") from None


@contextmanager
def create_atomically(path: Path) -> Iterator[Path]:
    """Yield a private temporary file that is renamed to ``path`` once it is complete and on disk.

    Raises:
        StoreError: ``path`` exists already.
    """
    if path.exists():
        raise StoreError(f"{str(path)!r} exists already and is not overwritten. Choose another name.")
    partial = path.with_name(path.name + ".partial")
    partial.unlink(missing_ok=True)
    create_private_file(partial)
    try:
        yield partial
        finish_file(partial, path)
    finally:
        partial.unlink(missing_ok=True)
