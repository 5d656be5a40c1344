"""Database connections that make acknowledged writes durable, and readable database errors."""

import os
import shutil
import sqlite3
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from sqlalchemy import URL, Connection, Engine, create_engine, event
from sqlalchemy.exc import DBAPIError, InterfaceError, OperationalError
from sqlalchemy.exc import TimeoutError as PoolTimeoutError

from eddi.errors import MissingExtraError
from eddi.store.base import (
    StoreBusyError,
    StoreDiskError,
    StoreError,
    StoreFullError,
    StoreUnreachableError,
)
from eddi.store.url import SQLITE, redact_url

BUSY_SECONDS = 30  # how long to wait for a lock
CONNECT_SECONDS = 10
N_CONNECTIONS = 10  # kept open; up to twice as many more are opened under load
OWNER_ONLY = 0o600  # other users of the machine must not read answers
LOCK_MESSAGES = ("locked", "busy", "lock timeout")  # parts of database errors about locks
MIN_FREE_BYTES = 1_000_000  # on the disk of a SQLite store; with less, it is about to be full
FULL_MESSAGES = ("disk is full", "no space left", "disk quota exceeded")
DISK_MESSAGES = ("disk i/o error", "readonly database", "unable to open database file")


def open_engine(url: URL) -> Engine:
    """Return an engine for ``url``. It connects on first use.

    Raises:
        MissingExtraError: the database driver is not installed.
    """
    is_sqlite = url.get_backend_name() == SQLITE
    timeout = {"timeout": BUSY_SECONDS} if is_sqlite else {"connect_timeout": CONNECT_SECONDS}
    try:
        engine = create_engine(
            url,
            connect_args={name: value for name, value in timeout.items() if name not in url.query},
            hide_parameters=True,  # keeps answers out of error messages
            pool_size=N_CONNECTIONS,
            max_overflow=2 * N_CONNECTIONS,
            pool_pre_ping=not is_sqlite,  # the database server may have been restarted
        )
    except ImportError as error:
        raise MissingExtraError(
            f"a PostgreSQL store needs the package {error.name!r}, which is not installed. "
            "Install it: pip install 'eddi-ml[postgres]'"
        ) from error
    event.listen(engine, "connect", _configure_sqlite if is_sqlite else _configure_postgresql)
    if is_sqlite:
        event.listen(engine, "begin", _begin_sqlite)
    return engine


def _configure_sqlite(connection: sqlite3.Connection, _: Any) -> None:
    connection.isolation_level = None  # `_begin_sqlite` issues BEGIN
    _enable_wal(connection)
    connection.execute("PRAGMA synchronous = FULL")  # acknowledged events survive a power failure
    connection.execute("PRAGMA foreign_keys = ON")
    connection.execute("PRAGMA secure_delete = ON")  # erased content is overwritten


def _enable_wal(connection: sqlite3.Connection) -> None:
    # SQLite does not wait for the lock when two processes switch a new file to WAL at the same time.
    deadline = time.monotonic() + BUSY_SECONDS
    while True:
        try:
            connection.execute("PRAGMA journal_mode = WAL").fetchone()
        except sqlite3.OperationalError as error:
            if "locked" not in str(error) or time.monotonic() > deadline:
                raise
            time.sleep(0.01)
        else:
            return


def _begin_sqlite(connection: Connection) -> None:
    statement = connection.get_execution_options().get("begin", "BEGIN")
    if statement:
        connection.exec_driver_sql(statement)


def _configure_postgresql(connection: Any, _: Any) -> None:
    with connection.cursor() as cursor:
        cursor.execute(f"SET lock_timeout = '{BUSY_SECONDS}s'")
    connection.commit()


@contextmanager
def write_transaction(engine: Engine) -> Iterator[Connection]:
    """Open a transaction for writing.

    On SQLite it takes the write lock at the start, so it cannot fail halfway for lack of the lock.
    """
    with translate_errors(engine), engine.connect() as connection:
        connection.execution_options(begin="BEGIN IMMEDIATE")
        with connection.begin():
            yield connection


@contextmanager
def read_transaction(engine: Engine) -> Iterator[Connection]:
    """Open a transaction that sees a consistent snapshot of the store."""
    with translate_errors(engine), engine.connect() as connection:
        if engine.dialect.name != SQLITE:  # SQLite always reads from a snapshot
            connection.execution_options(isolation_level="REPEATABLE READ")
        with connection.begin():
            yield connection


@contextmanager
def autocommit_connection(engine: Engine) -> Iterator[Connection]:
    """Open a connection outside any transaction, as VACUUM requires."""
    with translate_errors(engine), engine.connect() as connection:
        if engine.dialect.name == SQLITE:
            connection.execution_options(begin="")
        else:
            connection.execution_options(isolation_level="AUTOCOMMIT")
        yield connection


@contextmanager
def translate_errors(engine: Engine) -> Iterator[None]:
    """Turn database errors into a `StoreError` with an actionable message."""
    try:
        yield
    except PoolTimeoutError:
        raise StoreBusyError(
            f"the store {redact_url(engine.url)} has too many requests at once. Try again."
        ) from None
    except DBAPIError as error:
        raise _to_store_error(error, redact_url(engine.url)) from None


def _to_store_error(error: DBAPIError, url: str) -> StoreError:
    # The remaining lines of a PostgreSQL error may quote values.
    reason = str(error.orig).strip().partition("\n")[0].rstrip(".")
    if any(message in reason.lower() for message in LOCK_MESSAGES):
        return StoreBusyError(
            f"the store {url} was locked for more than {BUSY_SECONDS} seconds ({reason}). "
            "Try again. If this persists, look for a program that keeps a transaction open."
        )
    if any(message in reason.lower() for message in FULL_MESSAGES):
        return StoreFullError(
            f"the store {url} has no space left ({reason}). Nothing of this request was saved. "
            "Free space on its disk, then try again."
        )
    if any(message in reason.lower() for message in DISK_MESSAGES):
        return StoreDiskError(
            f"the store {url} cannot be read or written ({reason}). Nothing of this request was saved. "
            "Check its disk, its permissions and its quota, then try again."
        )
    if url.startswith(SQLITE):
        return StoreError(
            f"the store {url} failed: {reason}. Check the file, its permissions and the disk."
        )
    if isinstance(error, OperationalError | InterfaceError):
        return StoreUnreachableError(
            f"the store {url} cannot be reached ({reason}). Check that the server is running, and "
            "check the host, user, password and database in the URL."
        )
    return StoreError(f"the store {url} failed: {reason}. Check the URL and the server's log.")


def check_free_space(engine: Engine) -> None:
    """Check that the disk of a SQLite store has space for more than a few events.

    Raises:
        StoreFullError: it has not.
    """
    folder = Path(engine.url.database or "").absolute().parent
    n_free = shutil.disk_usage(folder).free
    if n_free < MIN_FREE_BYTES:
        raise StoreFullError(
            f"the store {redact_url(engine.url)} has only {n_free:,} bytes left on its disk. "
            "Free space on it."
        )


def create_private_file(path: Path) -> None:
    """Create an empty file that only its owner can read and write, unless the file exists."""
    try:
        os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, OWNER_ONLY))
    except FileExistsError:
        return
