"""Removes erased facts from the files of a database, without making writers wait.

Erasing facts changes the current rows at once. Old versions of these rows stay in the write-ahead log of
SQLite, or in the table's file of PostgreSQL, while somebody reads an older snapshot. A transaction that
erases facts therefore enters the stream into a queue, the table ``eddi_scrubs``. `scrub` works through
the queue; if a reader is in the way, the queue stays as it is, and a later call succeeds.
"""

from collections.abc import Iterator
from contextlib import contextmanager

from sqlalchemy import Connection, Engine, delete, select, text

from eddi.store.base import StoreBusyError
from eddi.store.connection import (
    BUSY_SECONDS,
    autocommit_connection,
    read_transaction,
    write_transaction,
)
from eddi.store.tables import events, scrubs
from eddi.store.url import SQLITE

WAIT_MS = 50  # the longest time for which an attempt may make writers wait for a reader
MAX_REWRITE_BYTES = 32 * 2**20  # PostgreSQL rewrites tables up to this size almost instantly
STREAMS_PER_DELETE = 500  # parameters of one statement

# Whether a session still sees rows that a transaction of the queue erased; xmin is that transaction.
OLD_SNAPSHOTS = text("""
    SELECT EXISTS (
        SELECT 1 FROM pg_stat_activity
        WHERE pid <> pg_backend_pid() AND datname = current_database()
        AND age(backend_xmin) >= (SELECT min(age(xmin)) FROM eddi_scrubs)
    )
""")


def read_queue(engine: Engine) -> list[str]:
    """Return the streams whose erased facts may still be in the files."""
    with read_transaction(engine) as connection:
        return list(connection.scalars(select(scrubs.c.stream)))


def scrub(engine: Engine) -> bool:
    """Try to remove erased facts from the files; return whether the queue is empty now.

    A large table of PostgreSQL is not rewritten, because others would wait too long; see `rewrite`.
    """
    streams = read_queue(engine)
    if not streams:
        return True
    is_sqlite = engine.dialect.name == SQLITE
    is_done = truncate_log(engine) if is_sqlite else rewrite_table(engine, max_bytes=MAX_REWRITE_BYTES)
    if is_done:
        _remove_from_queue(engine, streams)
    return is_done


def rewrite(engine: Engine) -> bool:
    """Rewrite the database without anything that was deleted; return whether the queue is empty now.

    Others wait while the database is rewritten.
    """
    streams = read_queue(engine)
    if engine.dialect.name == SQLITE:
        with autocommit_connection(engine) as connection:
            connection.exec_driver_sql("VACUUM")
        is_done = truncate_log(engine)
    else:
        is_done = rewrite_table(engine)
    if is_done:
        _remove_from_queue(engine, streams)
    return is_done


def truncate_log(engine: Engine) -> bool:
    """Move SQLite's write-ahead log, which has old pages, into the database file and empty the log.

    Returns False if a reader of an older snapshot is in the way.
    """
    with _short_wait(engine, f"PRAGMA busy_timeout = {WAIT_MS}", _reset_sqlite()) as connection:
        # The first checkpoint does most of the work, and does not hold the lock of writers.
        connection.exec_driver_sql("PRAGMA wal_checkpoint(PASSIVE)")
        is_busy = connection.exec_driver_sql("PRAGMA wal_checkpoint(TRUNCATE)").scalar()
    return not is_busy


def rewrite_table(engine: Engine, *, max_bytes: int | None = None) -> bool:
    """Rewrite PostgreSQL's table of events without old versions of its rows.

    Returns False if a reader is in the way, or if the table is larger than ``max_bytes``.
    """
    with read_transaction(engine) as connection:
        size = text("SELECT pg_total_relation_size(:name)")
        n_bytes = int(connection.execute(size, {"name": events.name}).scalar_one())
        has_old_snapshots = bool(connection.execute(OLD_SNAPSHOTS).scalar())
    if has_old_snapshots or (max_bytes is not None and n_bytes > max_bytes):
        return False
    reset = f"SET lock_timeout = '{BUSY_SECONDS}s'"
    try:
        with _short_wait(engine, f"SET lock_timeout = '{WAIT_MS}ms'", reset) as connection:
            connection.exec_driver_sql(f"VACUUM (FULL) {events.name}")
    except StoreBusyError:
        return False
    return True


def _reset_sqlite() -> str:
    return f"PRAGMA busy_timeout = {round(1000 * BUSY_SECONDS)}"


@contextmanager
def _short_wait(engine: Engine, statement: str, reset: str) -> Iterator[Connection]:
    """Open a connection that gives up early if it has to wait for a lock."""
    with autocommit_connection(engine) as connection:
        connection.exec_driver_sql(statement)
        try:
            yield connection
        finally:
            connection.exec_driver_sql(reset)  # the connection returns to the pool


def _remove_from_queue(engine: Engine, streams: list[str]) -> None:
    with write_transaction(engine) as connection:
        for start in range(0, len(streams), STREAMS_PER_DELETE):
            chunk = streams[start : start + STREAMS_PER_DELETE]
            connection.execute(delete(scrubs).where(scrubs.c.stream.in_(chunk)))
