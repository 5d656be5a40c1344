"""Connections to a database, set up so that what was acknowledged is on disk; its errors in words."""

import os
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
from eddi.store.base import StoreBusyError, StoreError, StoreUnreachableError
from eddi.store.url import SQLITE, shown

BUSY_SECONDS = 30  # how long to wait for others before giving up
CONNECT_SECONDS = 10
N_CONNECTIONS = 10  # kept open; as many again, and once more, when many ask at once
PRIVATE = 0o600  # answers are nobody else's business on a shared machine
BUSY_WORDS = ("locked", "busy", "lock timeout")


def connect(url: URL) -> Engine:
    """An engine for ``url``; nothing is opened yet.

    Raises:
        MissingExtraError: the driver is not installed.
    """
    is_file = url.get_backend_name() == SQLITE
    wait = {"timeout": BUSY_SECONDS} if is_file else {"connect_timeout": CONNECT_SECONDS}
    try:
        engine = create_engine(
            url,
            connect_args={name: value for name, value in wait.items() if name not in url.query},
            hide_parameters=True,  # answers stay out of error messages
            pool_size=N_CONNECTIONS,
            max_overflow=2 * N_CONNECTIONS,
            pool_pre_ping=not is_file,  # a database server may have been started anew
        )
    except ImportError as error:
        raise MissingExtraError(
            f"a store in PostgreSQL needs the package {error.name!r}, which is not installed. "
            "Install it: pip install 'eddi-ml[postgres]'"
        ) from error
    event.listen(engine, "connect", _set_up_file if is_file else _set_up_server)
    if is_file:
        event.listen(engine, "begin", _begin)
    return engine


def _set_up_file(connection: sqlite3.Connection, _: Any) -> None:
    connection.isolation_level = None  # we say BEGIN ourselves; see `_begin`
    _write_ahead(connection)
    connection.execute("PRAGMA synchronous = FULL")  # an acknowledged event survives a power cut
    connection.execute("PRAGMA foreign_keys = ON")
    connection.execute("PRAGMA secure_delete = ON")  # what is erased is overwritten


def _write_ahead(connection: sqlite3.Connection) -> None:
    # Two processes that turn a new file to WAL at once meet a lock that SQLite does not wait for.
    give_up = time.monotonic() + BUSY_SECONDS
    while True:
        try:
            connection.execute("PRAGMA journal_mode = WAL").fetchone()
        except sqlite3.OperationalError as error:
            if "locked" not in str(error) or time.monotonic() > give_up:
                raise
            time.sleep(0.01)
        else:
            return


def _begin(connection: Connection) -> None:
    statement = connection.get_execution_options().get("begin", "BEGIN")
    if statement:
        connection.exec_driver_sql(statement)


def _set_up_server(connection: Any, _: Any) -> None:
    with connection.cursor() as cursor:
        cursor.execute(f"SET lock_timeout = '{BUSY_SECONDS}s'")
    connection.commit()


@contextmanager
def writing(engine: Engine) -> Iterator[Connection]:
    """A transaction that may write. On SQLite it takes the lock first, so it cannot fail halfway."""
    with in_words(engine), engine.connect() as connection:
        connection.execution_options(begin="BEGIN IMMEDIATE")
        with connection.begin():
            yield connection


@contextmanager
def reading(engine: Engine) -> Iterator[Connection]:
    """A transaction that sees the store as it was at one moment."""
    with in_words(engine), engine.connect() as connection:
        if engine.dialect.name != SQLITE:  # which reads so by itself
            connection.execution_options(isolation_level="REPEATABLE READ")
        with connection.begin():
            yield connection


@contextmanager
def alone(engine: Engine) -> Iterator[Connection]:
    """A connection outside any transaction, as VACUUM wants it."""
    with in_words(engine), engine.connect() as connection:
        if engine.dialect.name == SQLITE:
            connection.execution_options(begin="")
        else:
            connection.execution_options(isolation_level="AUTOCOMMIT")
        yield connection


@contextmanager
def in_words(engine: Engine) -> Iterator[None]:
    """What the database complains of, as an error a person can act on."""
    try:
        yield
    except PoolTimeoutError:
        raise StoreBusyError(
            f"the store {shown(engine.url)} is asked for more at once than it can do. Try again."
        ) from None
    except DBAPIError as error:
        raise _translated(error, shown(engine.url)) from None


def _translated(error: DBAPIError, where: str) -> StoreError:
    # Further lines of PostgreSQL quote values.
    words = str(error.orig).strip().partition("\n")[0].rstrip(".")
    if any(word in words.lower() for word in BUSY_WORDS):
        return StoreBusyError(
            f"the store {where} was locked by others for more than {BUSY_SECONDS} seconds ({words}). "
            "Try again; if it stays so, look for a program that keeps a transaction open."
        )
    if where.startswith(SQLITE):
        return StoreError(
            f"the store {where} failed: {words}. Check the file, its permissions and the disk."
        )
    if isinstance(error, OperationalError | InterfaceError):
        return StoreUnreachableError(
            f"the store {where} cannot be reached ({words}). Check that the server runs, and the "
            "host, user, password and database in the address."
        )
    return StoreError(f"the store {where} failed: {words}. Check the address and the server's log.")


def make_private(path: Path) -> None:
    """Make an empty file that only its owner may read, unless there is one."""
    try:
        os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, PRIVATE))
    except FileExistsError:
        return
