"""A durable store in SQLite or PostgreSQL, shared by threads and processes."""

import json
from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby, islice
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, Row, exists, func, insert, select, update

from eddi.store import scrubbing
from eddi.store.backup import copy_sqlite
from eddi.store.base import (
    FORGOTTEN,
    Event,
    Fault,
    PendingAppend,
    StoreError,
    StreamNotFoundError,
)
from eddi.store.batch_append import MAX_STREAMS, append_batch
from eddi.store.chain import (
    EMPTY_HEAD,
    Head,
    StoredEvent,
    canonical_json,
    create_tombstone,
    find_faults,
    is_valid_name,
)
from eddi.store.connection import (
    check_free_space,
    open_engine,
    read_transaction,
    translate_errors,
    write_transaction,
)
from eddi.store.group_commit import GroupCommit, check_request
from eddi.store.tables import events, heads, scrubs
from eddi.store.upgrade import prepare_tables
from eddi.store.url import SQLITE, parse_url, redact_url

STREAMS_PER_PAGE = 1000  # no transaction stays open between pages of stream names
ROWS_PER_FETCH = 500  # events in memory at a time during verification
MAX_NUMBER = 2**31 - 1  # largest value of the integer column
COLUMNS = tuple(column.name for column in events.columns)
LAST_CHARACTER = "\U0010ffff"  # sorts after every character that a name may contain


class SqlStore:
    """A store in a database. Open one per process; threads share it."""

    def __init__(self, url: str, *, create: bool = True) -> None:
        """Open the store at ``url``; see `eddi.store.factory.open_store`."""
        self._engine = open_engine(parse_url(url))
        self.dialect = self._engine.dialect.name  # "sqlite" or "postgresql"
        self.redacted_url = redact_url(self._engine.url)
        self._group_commit = GroupCommit(self._write_batch)
        try:
            prepare_tables(self._engine, create=create)
        except BaseException:
            self._engine.dispose()
            raise

    def append(self, stream: str, kind: str, facts: Mapping[str, Any], *, after: int) -> Event:
        """Append an event with number ``after + 1``. On return the event is on disk."""
        request = PendingAppend(stream, kind, facts, after)
        self.append_all([request])
        return request.result()

    def append_all(self, requests: Sequence[PendingAppend]) -> None:
        """Append events to many streams in one transaction; each has its event or its error then."""
        valid = [request for request in requests if check_request(request)]
        if self.dialect == SQLITE:  # allows one writer at a time; PostgreSQL has its own group commit
            self._group_commit.append(valid)
        else:
            self._write_batch(valid)

    def _write_batch(self, batch: Sequence[PendingAppend]) -> None:
        with write_transaction(self._engine) as connection:
            append_batch(connection, batch)

    def read(self, stream: str, *, after: int = 0) -> list[Event]:
        """Return the events of a stream, starting with number ``after + 1``."""
        if not is_valid_name(stream) or after >= MAX_NUMBER:
            return []
        query = select(events).where(events.c.stream == stream, events.c.number > after)
        with read_transaction(self._engine) as connection:
            rows = connection.execute(query.order_by(events.c.number)).all()
        return [self._parse_row(row) for row in rows]

    def read_all(self, streams: Sequence[str]) -> dict[str, list[Event]]:
        """Return the events of several streams, from one consistent snapshot."""
        found: dict[str, list[Event]] = {stream: [] for stream in streams}
        names = [stream for stream in found if is_valid_name(stream)]
        with read_transaction(self._engine) as connection:
            for start in range(0, len(names), MAX_STREAMS):
                query = select(events).where(events.c.stream.in_(names[start : start + MAX_STREAMS]))
                for row in connection.execute(query.order_by(events.c.stream, events.c.number)):
                    found[row.stream].append(self._parse_row(row))
        return found

    def _parse_row(self, row: Row[Any]) -> Event:
        try:
            return _event_from_row(row, json.loads(row.facts or "{}"))
        except ValueError:
            raise StoreError(
                f"event {row.number} of {row.stream!r} is damaged: its facts are not JSON. "
                f"Run: eddi store verify {self.redacted_url}"
            ) from None

    def streams(self, prefix: str = "") -> Iterator[str]:
        """Yield the names of all streams that start with ``prefix``, sorted."""
        if prefix and not is_valid_name(prefix):
            return
        query = select(heads.c.stream).order_by(heads.c.stream).limit(STREAMS_PER_PAGE)
        query = query.where(heads.c.stream < prefix + LAST_CHARACTER)
        page = query.where(heads.c.stream >= prefix)
        while True:
            with read_transaction(self._engine) as connection:
                names = list(connection.scalars(page))
            yield from names
            if len(names) < STREAMS_PER_PAGE:
                return
            page = query.where(heads.c.stream > names[-1])

    def read_ends(self, prefix: str) -> Iterator[tuple[Event, Event]]:
        """Yield the first and the last event of each stream that is not forgotten, sorted by name."""
        if prefix and not is_valid_name(prefix):
            return
        is_end = events.c.number.in_([1, heads.c.number])
        query = select(events).join_from(heads, events, (events.c.stream == heads.c.stream) & is_end)
        query = query.where(~heads.c.forgotten).order_by(heads.c.stream, events.c.number)
        streams = self.streams(prefix)
        while names := list(islice(streams, STREAMS_PER_PAGE)):
            page = query.where(heads.c.stream >= names[0], heads.c.stream <= names[-1])
            with read_transaction(self._engine) as connection:
                rows = connection.execute(page).all()
            for _, pair in groupby(rows, key=lambda row: str(row.stream)):
                ends = [self._parse_row(row) for row in pair]
                yield ends[0], ends[-1]

    def forget(self, stream: str, *, by: str = "") -> None:
        """Erase the facts of a stream and append a tombstone; writers do not wait for readers.

        On return the facts are erased. If a program reads an older snapshot, old versions of the rows are
        still in the files; a later `scrub` removes them.
        """
        self.erase(stream, by=by)
        self.scrub()

    def erase(self, stream: str, *, by: str = "") -> None:
        """Forget a stream, and leave it to `scrub` to remove old versions of its rows from the files."""
        with write_transaction(self._engine) as connection:
            head = _read_head(connection, stream) if is_valid_name(stream) else EMPTY_HEAD
            if head == EMPTY_HEAD:
                raise StreamNotFoundError(f"there is no stream {stream!r} to forget. Check its name.")
            if not head.is_forgotten:
                erase_facts = update(events).where(events.c.stream == stream)
                connection.execute(erase_facts.values(facts=None, salt=""))
                tombstone = create_tombstone(stream, head, by=by)
                _insert(connection, tombstone)
                connection.execute(insert(scrubs), {"stream": stream, "at": tombstone.at})

    def scrub(self) -> bool:
        """Remove erased facts from the files if nobody reads them; return whether all are gone."""
        return scrubbing.scrub(self._engine)

    def rewrite(self) -> bool:
        """Rewrite the files without anything that was deleted; return whether all erased facts are gone.

        Others wait in the meantime. `scrub` is sufficient for SQLite and for small stores in PostgreSQL.
        """
        return scrubbing.rewrite(self._engine)

    def verify(self) -> list[Fault]:
        """Return every event that is not as it was written, from one consistent snapshot."""
        columns = (heads.c.number.label("head_number"), heads.c.hash.label("head_hash"))
        query = select(events, *columns, heads.c.forgotten)
        query = query.outerjoin_from(events, heads, events.c.stream == heads.c.stream)
        query = query.order_by(events.c.stream, events.c.number)
        empty_streams = select(heads).where(~exists().where(events.c.stream == heads.c.stream))
        with read_transaction(self._engine) as connection:
            rows = connection.execution_options(yield_per=ROWS_PER_FETCH).execute(query)
            faults = [
                fault
                for stream, stream_rows in groupby(rows, key=lambda row: str(row.stream))
                for fault in _find_stream_faults(stream, stream_rows)
            ]
            for row in connection.execute(empty_streams):
                faults += find_faults(row.stream, [], Head(row.number, row.hash, row.forgotten))
        return faults

    def idle_streams(self, prefix: str, before: str) -> list[str]:
        """Return the streams with this prefix whose last event is older than ``before``."""
        is_last = (events.c.stream == heads.c.stream) & (events.c.number == heads.c.number)
        query = select(heads.c.stream).join_from(heads, events, is_last).order_by(heads.c.stream)
        query = query.where(heads.c.stream >= prefix, heads.c.stream < prefix + LAST_CHARACTER)
        query = query.where(~heads.c.forgotten, events.c.at < before)
        with read_transaction(self._engine) as connection:
            return list(connection.scalars(query))

    def hashes(self) -> Iterator[tuple[str, int, str]]:
        """Yield stream, number and hash of every event, in order and from one consistent snapshot."""
        query = select(events.c.stream, events.c.number, events.c.hash)
        query = query.order_by(events.c.stream, events.c.number)
        with read_transaction(self._engine) as connection:
            for row in connection.execution_options(yield_per=ROWS_PER_FETCH).execute(query):
                yield row.stream, row.number, row.hash

    def check_write(self) -> None:
        """Check that events can be appended, with a durable write that adds none."""
        if self.dialect == SQLITE:
            check_free_space(self._engine)
        with write_transaction(self._engine) as connection:
            if self.dialect == SQLITE:  # writes the first page of the file, unchanged
                version = connection.exec_driver_sql("PRAGMA user_version").scalar_one()
                connection.exec_driver_sql(f"PRAGMA user_version = {int(version)}")
            else:  # a transaction with a number is written to the log
                connection.exec_driver_sql("SELECT pg_current_xact_id()")

    def count(self) -> tuple[int, int]:
        """Return the number of streams and the number of events."""
        with read_transaction(self._engine) as connection:
            queries = (select(func.count()).select_from(table) for table in (heads, events))
            n_streams, n_events = (connection.execute(query).scalar_one() for query in queries)
        return n_streams, n_events

    def backup(self, path: Path) -> None:
        """Copy a SQLite store to a new file. Other connections may write in the meantime.

        Raises:
            StoreError: the store is in PostgreSQL, which has its own backup tools, or ``path`` exists.
        """
        if self.dialect != SQLITE:
            raise StoreError(
                f"cannot copy {self.redacted_url} to a file. Back it up with pg_dump or pg_basebackup."
            )
        with translate_errors(self._engine), self._engine.connect() as connection:
            copy_sqlite(connection, path)

    def close(self) -> None:
        """Close all connections."""
        self._engine.dispose()


def _read_head(connection: Connection, stream: str) -> Head:
    query = select(heads.c.number, heads.c.hash, heads.c.forgotten).where(heads.c.stream == stream)
    row = connection.execute(query.with_for_update()).one_or_none()  # SQLite holds its lock already
    return EMPTY_HEAD if row is None else Head(*row)


def _insert(connection: Connection, event: Event) -> None:
    head = {"number": event.number, "hash": event.hash, "forgotten": event.kind == FORGOTTEN}
    connection.execute(update(heads).where(heads.c.stream == event.stream), head)
    connection.execute(insert(events), vars(event) | {"facts": canonical_json(event.facts)})


def _event_from_row(row: Row[Any], facts: Mapping[str, Any]) -> Event:
    # SQLite stores values of any type in any column. An edited value must not stop the verification.
    fields: dict[str, Any] = {
        name: value if isinstance(value, str) else repr(value)
        for name, value in zip(COLUMNS, row, strict=False)  # the columns of an event come first
    }
    return Event(**fields | {"number": _to_number(row.number), "facts": facts})


def _to_number(value: object) -> int:
    return value if isinstance(value, int) else 0


def _find_stream_faults(stream: str, rows: Iterator[Row[Any]]) -> Iterator[Fault]:
    first = next(rows)
    head = None
    if first.head_number is not None:
        head = Head(_to_number(first.head_number), first.head_hash, first.forgotten)

    def stored_events() -> Iterator[StoredEvent]:
        yield StoredEvent(_event_from_row(first, {}), first.facts)
        yield from (StoredEvent(_event_from_row(row, {}), row.facts) for row in rows)

    yield from find_faults(stream, stored_events(), head)
