"""A store in SQLite or PostgreSQL: durable, and shared by threads and processes."""

import json
from collections.abc import Iterator, Mapping
from itertools import groupby
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, Row, exists, func, insert, select, text, update
from sqlalchemy.exc import IntegrityError

from eddi.store.backup import copy_file
from eddi.store.base import FORGOTTEN, Event, Fault, StoreBusyError, StoreError, StreamNotFoundError
from eddi.store.chain import (
    START,
    Head,
    Kept,
    check_names,
    conflict,
    faults_in,
    is_name,
    sealed,
    text_of,
    tombstone,
)
from eddi.store.connection import alone, connect, in_words, reading, writing
from eddi.store.group_commit import Together, Wish
from eddi.store.tables import events, heads
from eddi.store.upgrade import make_ready
from eddi.store.url import SQLITE, parsed, shown

N_STREAMS = 1000  # names fetched at a time; between them no transaction stays open
N_ROWS = 500  # events in memory at a time while all are checked
SWEEP_BYTES = 32 * 2**20  # up to this size tables are rewritten within a moment
MAX_NUMBER = 2**31 - 1  # what the column holds
COLUMNS = tuple(column.name for column in events.columns)
LAST_CHARACTER = "\U0010ffff"  # sorts after every character that a name may hold


class SqlStore:
    """Events in a database. Open one a process; threads share it."""

    def __init__(self, url: str, *, create: bool = True) -> None:
        """Open the store at ``url``; see `eddi.store.factory.open_store`."""
        self._engine = connect(parsed(url))
        self.kind = self._engine.dialect.name  # "sqlite" or "postgresql"
        self.address = shown(self._engine.url)  # without a password
        self._together = Together(self._write)
        try:
            make_ready(self._engine, create=create)
        except BaseException:
            self._engine.dispose()
            raise

    def append(self, stream: str, kind: str, facts: Mapping[str, Any], *, after: int) -> Event:
        """Add an event as number ``after + 1``; when this returns, it is on disk."""
        check_names(stream, kind)
        wish = Wish(stream, kind, facts, after)
        if self.kind == SQLITE:  # one writer at a time; PostgreSQL gathers commits by itself
            return self._together.grant(wish)
        with writing(self._engine) as connection:
            return _granted(connection, wish)

    def _write(self, wishes: list[Wish]) -> None:
        with writing(self._engine) as connection:
            for wish in wishes:
                try:
                    wish.event = _granted(connection, wish)
                except StoreError as error:  # refused before anything of it was written
                    wish.error = error

    def read(self, stream: str, *, after: int = 0) -> list[Event]:
        """The events of a stream from number ``after + 1`` on."""
        if not is_name(stream) or after >= MAX_NUMBER:
            return []
        wanted = select(events).where(events.c.stream == stream, events.c.number > after)
        with reading(self._engine) as connection:
            rows = connection.execute(wanted.order_by(events.c.number)).all()
        return [self._event(row) for row in rows]

    def _event(self, row: Row[Any]) -> Event:
        try:
            return _event(row, json.loads(row.facts or "{}"))
        except ValueError:
            raise StoreError(
                f"event {row.number} of {row.stream!r} is damaged: its facts are not JSON. "
                f"Run: eddi store verify {self.address}"
            ) from None

    def streams(self, prefix: str = "") -> Iterator[str]:
        """The names of all streams that begin with ``prefix``, sorted."""
        if prefix and not is_name(prefix):
            return
        wanted = select(heads.c.stream).order_by(heads.c.stream).limit(N_STREAMS)
        wanted = wanted.where(heads.c.stream < prefix + LAST_CHARACTER)
        page = wanted.where(heads.c.stream >= prefix)
        while True:
            with reading(self._engine) as connection:
                names = list(connection.scalars(page))
            yield from names
            if len(names) < N_STREAMS:
                return
            page = wanted.where(heads.c.stream > names[-1])

    def forget(self, stream: str) -> None:
        """Erase the facts of a stream; that they were stays.

        In SQLite they are overwritten, and cut out of the log. PostgreSQL keeps them, out of reach,
        until its tables are rewritten: up to `SWEEP_BYTES` that is done here, beyond by `sweep`, which
        is too slow to do whenever a respondent asks; `eddi store forget` does it.
        """
        self.erase(stream)
        if self.kind == SQLITE:
            self._cut_log()
        elif self._n_bytes() <= SWEEP_BYTES:
            self.sweep()

    def erase(self, stream: str) -> None:
        """As `forget`, but the caller sweeps when all is erased."""
        with writing(self._engine) as connection:
            head = _head(connection, stream) if is_name(stream) else START
            if head == START:
                raise StreamNotFoundError(f"there is no stream {stream!r} to forget. Check its name.")
            if not head.forgotten:
                erased = update(events).where(events.c.stream == stream)
                connection.execute(erased.values(facts=None, salt=""))
                _add(connection, tombstone(stream, head))

    def sweep(self) -> None:
        """Rewrite the store, so that nothing of what was ever erased is left in its files."""
        rewrite = "VACUUM" if self.kind == SQLITE else f"VACUUM (FULL) {events.name}"
        with alone(self._engine) as connection:
            connection.exec_driver_sql(rewrite)
        if self.kind == SQLITE:
            self._cut_log()

    def _cut_log(self) -> None:
        """Move what SQLite's log holds into the file; the log has pages from before."""
        with alone(self._engine) as connection:
            busy = connection.exec_driver_sql("PRAGMA wal_checkpoint(TRUNCATE)").scalar()
        if busy:
            raise StoreBusyError(
                f"what was to be forgotten is erased, but the log of {self.address} may still hold it: "
                "somebody reads from it all the time. Forget it again when they are done."
            )

    def _n_bytes(self) -> int:
        wanted = text("SELECT pg_total_relation_size(:name)")
        with reading(self._engine) as connection:
            return int(connection.execute(wanted, {"name": events.name}).scalar_one())

    def verify(self) -> list[Fault]:
        """Everything that is not as it was written, at one moment."""
        joined = select(
            events, heads.c.number.label("end"), heads.c.hash.label("seal"), heads.c.forgotten
        )
        joined = joined.outerjoin_from(events, heads, events.c.stream == heads.c.stream)
        ordered = joined.order_by(events.c.stream, events.c.number)
        empty = select(heads).where(~exists().where(events.c.stream == heads.c.stream))
        with reading(self._engine) as connection:
            rows = connection.execution_options(yield_per=N_ROWS).execute(ordered)
            found = [
                fault
                for stream, some in groupby(rows, key=lambda row: str(row.stream))
                for fault in _faults(stream, some)
            ]
            for row in connection.execute(empty):
                found += faults_in(row.stream, [], Head(row.number, row.hash, row.forgotten))
        return found

    def count(self) -> tuple[int, int]:
        """How many streams there are, and how many events in them."""
        with reading(self._engine) as connection:
            sizes = (select(func.count()).select_from(table) for table in (heads, events))
            n_streams, n_events = (connection.execute(size).scalar_one() for size in sizes)
        return n_streams, n_events

    def backup(self, path: Path) -> None:
        """Copy a store in SQLite to a new file; others may go on writing meanwhile.

        Raises:
            StoreError: the store is in PostgreSQL, which has its own ways, or the file is there.
        """
        if self.kind != SQLITE:
            raise StoreError(f"{self.address} is backed up by its own tools: pg_dump, pg_basebackup.")
        with in_words(self._engine), self._engine.connect() as connection:
            copy_file(connection, path)

    def close(self) -> None:
        """Let go of the connections."""
        self._engine.dispose()


def _granted(connection: Connection, wish: Wish) -> Event:
    head = _head(connection, wish.stream)
    event = sealed(wish.stream, wish.kind, wish.facts, head=head, after=wish.after)
    _add(connection, event)
    return event


def _head(connection: Connection, stream: str) -> Head:
    wanted = select(heads.c.number, heads.c.hash, heads.c.forgotten).where(heads.c.stream == stream)
    row = connection.execute(wanted.with_for_update()).one_or_none()  # SQLite holds its lock already
    return START if row is None else Head(*row)


def _add(connection: Connection, event: Event) -> None:
    end = {"number": event.number, "hash": event.hash, "forgotten": event.kind == FORGOTTEN}
    if event.number > 1:
        connection.execute(update(heads).where(heads.c.stream == event.stream), end)
    else:
        try:
            connection.execute(insert(heads), {"stream": event.stream} | end)
        except IntegrityError:  # on PostgreSQL, two who begin a stream at once meet here
            raise conflict(event.stream, "at event 1 or later, not at 0") from None
    connection.execute(insert(events), vars(event) | {"facts": text_of(event.facts)})


def _event(row: Row[Any], facts: Mapping[str, Any]) -> Event:
    # SQLite keeps any kind of value in any column: what an edit left there must not stop us.
    columns = {name: row._mapping[name] for name in COLUMNS}
    kept: dict[str, Any] = {
        name: value if isinstance(value, str) else repr(value) for name, value in columns.items()
    }
    return Event(**kept | {"number": _number(row.number), "facts": facts})


def _number(value: object) -> int:
    return value if isinstance(value, int) else 0


def _faults(stream: str, rows: Iterator[Row[Any]]) -> Iterator[Fault]:
    first = next(rows)
    head = None if first.end is None else Head(_number(first.end), first.seal, first.forgotten)

    def kept() -> Iterator[Kept]:
        yield Kept(_event(first, {}), first.facts)
        yield from (Kept(_event(row, {}), row.facts) for row in rows)

    yield from faults_in(stream, kept(), head)
