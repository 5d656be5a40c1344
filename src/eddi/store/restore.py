"""Restore a backup: check it completely, then let the store and the workshop appear at once.

A backup of SQLite can be restored to PostgreSQL and the other way round: events are inserted as they are,
with their hashes.
"""

import shutil
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import closing, contextmanager
from itertools import groupby
from pathlib import Path

from sqlalchemy import Connection, func, insert, select

from eddi.durable_file import create_private_folder, finish_file
from eddi.store.backup import parse_lines
from eddi.store.backup_folder import EXPORT, SQLITE_COPY, BackupError, Manifest, copy_file, read_manifest
from eddi.store.base import FORGOTTEN, Event, Fault
from eddi.store.chain import Head, StoredEvent, canonical_json, find_faults
from eddi.store.connection import write_transaction
from eddi.store.sql import SqlStore
from eddi.store.tables import events as events_table
from eddi.store.tables import heads as heads_table
from eddi.store.upgrade import upgrade
from eddi.store.url import SQLITE, parse_url

MAX_FAULTS_SHOWN = 3


def restore_backup(folder: Path, url: str, *, workshop: Path | None = None) -> Manifest:
    """Restore a backup to a new store, and its workshop to a new folder. Nothing is overwritten.

    Args:
        folder: the backup.
        url: a SQLite file that does not exist, or a PostgreSQL database without events.
        workshop: a folder that does not exist or is empty; needed if the backup has a workshop.

    Raises:
        BackupError: the backup is damaged, or something would be overwritten.
    """
    manifest = read_manifest(folder)
    parsed = parse_url(url)
    with _restored_workshop(folder, manifest, workshop):
        if parsed.get_backend_name() == SQLITE:
            _restore_file(folder, Path(str(parsed.database)))
        else:
            _restore_server(folder, url)
    return manifest


def insert_events(store: SqlStore, events: Iterable[Event]) -> None:
    """Insert the events of another store into an empty one as they are, in one transaction.

    Raises:
        BackupError: the store has events already, or the hashes of the events are wrong.
    """
    with write_transaction(store._engine) as connection:
        if connection.execute(select(func.count()).select_from(heads_table)).scalar_one():
            raise BackupError(
                f"{store.redacted_url} contains events, which are not overwritten. Use a new database."
            )
        for stream, stream_events in groupby(events, key=lambda event: event.stream):
            _insert_stream(connection, stream, list(stream_events))


def _insert_stream(connection: Connection, stream: str, events: list[Event]) -> None:
    last = events[-1]
    head = Head(last.number, last.hash, is_forgotten=last.kind == FORGOTTEN)
    stored = [StoredEvent(event, _facts_text(event)) for event in events]
    _check_faults(find_faults(stream, stored, head))
    row = {"number": head.number, "hash": head.hash, "forgotten": head.is_forgotten}
    connection.execute(insert(heads_table), {"stream": stream} | row)
    rows = [vars(item.event) | {"facts": item.text} for item in stored]
    connection.execute(insert(events_table), rows)


def _facts_text(event: Event) -> str | None:
    return None if event.is_forgotten else canonical_json(event.facts)


def _restore_file(folder: Path, path: Path) -> None:
    """Restore to a SQLite file, which appears complete or not at all."""
    if path.exists():
        raise BackupError(f"{str(path)!r} exists already and is not overwritten. Choose another name.")
    with tempfile.TemporaryDirectory(prefix=".restore-", dir=path.parent) as temporary:
        partial = Path(temporary) / path.name
        if (folder / SQLITE_COPY).exists():
            copy_file(folder / SQLITE_COPY, partial)
        with _open_upgraded(partial) as store:
            if (folder / EXPORT).exists():
                insert_events(store, _read_export(folder))
            _check_faults(store.verify())
            store.scrub()
        finish_file(partial, path)


def _restore_server(folder: Path, url: str) -> None:
    upgrade(url)
    with closing(SqlStore(url, create=False)) as store:
        if (folder / EXPORT).exists():
            return insert_events(store, _read_export(folder))
        with (
            tempfile.TemporaryDirectory() as temporary
        ):  # opening the copy in the backup would change it
            path = Path(temporary) / SQLITE_COPY
            copy_file(folder / SQLITE_COPY, path)
            with _open_upgraded(path) as source:
                streams = source.streams()
                insert_events(store, (event for name in streams for event in source.read(name)))
    return None


@contextmanager
def _open_upgraded(path: Path) -> Iterator[SqlStore]:
    url = f"sqlite:///{path}"
    upgrade(url)
    with closing(SqlStore(url, create=False)) as store:
        yield store


def _read_export(folder: Path) -> Iterator[Event]:
    with (folder / EXPORT).open(encoding="utf-8") as lines:
        yield from parse_lines(lines)


@contextmanager
def _restored_workshop(folder: Path, manifest: Manifest, workshop: Path | None) -> Iterator[None]:
    """Restore the workshop, and remove it again if the block fails."""
    if not manifest.has_workshop or workshop is None:
        yield
        return
    if workshop.exists() and any(workshop.iterdir()):
        raise BackupError(f"the folder {str(workshop)!r} is not empty. Choose another with --workshop.")
    partial = workshop.with_name(workshop.name + ".partial")
    shutil.rmtree(partial, ignore_errors=True)
    create_private_folder(partial)
    try:
        for name in (name for name in manifest.files if name.startswith("workshop/")):
            copy_file(folder / name, partial / name.removeprefix("workshop/"))
        partial.replace(workshop)
        try:
            yield
        except BaseException:
            shutil.rmtree(workshop)
            raise
    finally:
        shutil.rmtree(partial, ignore_errors=True)


def _check_faults(faults: Iterable[Fault]) -> None:
    found = [str(fault) for fault in faults][:MAX_FAULTS_SHOWN]
    if found:
        raise BackupError(f"the events of the backup were changed: {'; '.join(found)}.")
