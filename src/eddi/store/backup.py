"""Copies of a store: a backup of the file, or its events as JSON lines."""

import json
import os
import sqlite3
from collections.abc import Iterable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, cast

from eddi.store.base import Event, FactsError, Store, StoreError
from eddi.store.connection import make_private

if TYPE_CHECKING:
    from sqlalchemy import Connection


def lines_of(store: Store, prefix: str = "") -> Iterator[str]:
    """Every event as a line of JSON, stream by stream; never more than one stream in memory."""
    for stream in store.streams(prefix):
        for event in store.read(stream):
            yield json.dumps(event.to_document())


def events_of(lines: Iterable[str]) -> Iterator[Event]:
    """The events that `lines_of` wrote.

    Raises:
        FactsError: a line is not an event.
    """
    for number, line in enumerate(lines, start=1):
        try:
            yield Event.from_document(json.loads(line))
        except (ValueError, TypeError):
            raise FactsError(
                f"line {number} is not an event of a store. Give a file that `eddi store export` wrote."
            ) from None


def copy_file(connection: "Connection", path: Path) -> None:
    """Copy the SQLite file behind ``connection`` to a new file, as it is at one moment."""
    source = cast("sqlite3.Connection", connection.connection.driver_connection)
    with new_file(path) as partial, closing(sqlite3.connect(partial)) as copy:
        try:
            source.backup(copy)
            copy.execute("PRAGMA journal_mode = DELETE")  # all in one file, to be carried elsewhere
        except sqlite3.Error as error:
            raise StoreError(f"cannot write {str(path)!r}: {error}. Check the disk.") from None


@contextmanager
def new_file(path: Path) -> Iterator[Path]:
    """A private file to write to, which gets its name when it is whole and on disk.

    Raises:
        StoreError: there is a file of that name.
    """
    if path.exists():
        raise StoreError(f"{str(path)!r} is there already and is not overwritten. Choose another name.")
    partial = path.with_name(path.name + ".partial")
    partial.unlink(missing_ok=True)
    make_private(partial)
    try:
        yield partial
        with partial.open("rb") as file:
            os.fsync(file.fileno())
        partial.replace(path)
    finally:
        partial.unlink(missing_ok=True)
