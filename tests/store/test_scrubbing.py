"""Erased facts leave the files of the database: at once, or after the last reader; writers do not wait."""

import sqlite3
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import psycopg
import pytest
from sqlalchemy import text

from eddi.store import scrubbing
from eddi.store.sql import SqlStore

SECRET = "a-secret-nobody-shall-find"  # noqa: S105  # an answer


@pytest.fixture
def store(store_url: str) -> Iterator[SqlStore]:
    store = SqlStore(store_url)
    yield store
    store.close()


@pytest.fixture
def folder(request: pytest.FixtureRequest, store_url: str, tmp_path: Path) -> Path:
    """The folder with the files of the database."""
    return tmp_path if store_url.startswith("sqlite") else request.getfixturevalue("postgres").pgdata


def execute_raw(url: str, *statements: str) -> None:
    """Execute SQL without going through the store."""
    if url.startswith("sqlite"):
        with closing(sqlite3.connect(url.removeprefix("sqlite:///"))) as connection, connection:
            for statement in statements:
                connection.execute(statement)
    else:
        with psycopg.connect(url, autocommit=True) as connection:
            for statement in statements:
                connection.execute(statement)


def files_with_secret(url: str, folder: Path) -> list[str]:
    """The names of the database files that contain the secret."""
    if not url.startswith("sqlite"):
        execute_raw(url, "CHECKPOINT")
    files = [path for path in folder.rglob("*") if path.is_file() and "pg_wal" not in path.parts]
    return [path.name for path in files if SECRET.encode() in read_if_present(path)]


def read_if_present(path: Path) -> bytes:
    """The content of a file; empty if the server has just removed it."""
    try:
        return path.read_bytes()
    except FileNotFoundError:
        return b""


def append_secrets(store: SqlStore) -> None:
    """Append secrets of many sizes between other events, so that database pages split and move."""
    for after in range(20):
        for stream in ("m", "secret", "z"):
            answer = SECRET if stream == "secret" else "harmless"
            store.append(stream, "told", {"answer": answer * (1 + 7 * after)}, after=after)


@contextmanager
def open_snapshot(url: str) -> Iterator[None]:
    """Read all events in a transaction that stays open."""
    query = "SELECT * FROM eddi_events"
    if url.startswith("sqlite"):
        with closing(sqlite3.connect(url.removeprefix("sqlite:///"), isolation_level=None)) as reader:
            reader.execute("BEGIN")
            reader.execute(query).fetchall()
            yield
    else:
        with psycopg.connect(url) as reader:
            reader.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ")
            reader.execute(query).fetchall()
            yield


def test_forgotten_facts_are_removed_from_the_files(
    store: SqlStore, store_url: str, folder: Path
) -> None:
    append_secrets(store)
    assert files_with_secret(store_url, folder)
    store.forget("secret")
    assert files_with_secret(store_url, folder) == []
    assert scrubbing.read_queue(store._engine) == []
    assert store.verify() == []


def test_forgetting_during_a_long_read_is_queued_and_completed_after_it(
    store: SqlStore, store_url: str, folder: Path
) -> None:
    append_secrets(store)
    with open_snapshot(store_url):
        started = time.monotonic()
        store.forget("secret")
        store.append("m", "told", {}, after=20)  # a writer
        assert time.monotonic() - started < 5  # a lock is waited for up to 30 seconds
        assert {str(event.facts) for event in store.read("secret")} == {"{}"}
        assert not store.scrub()
        assert scrubbing.read_queue(store._engine) == ["secret"]
    assert store.scrub()
    assert files_with_secret(store_url, folder) == []
    assert scrubbing.read_queue(store._engine) == []


def test_the_queue_survives_the_process(store: SqlStore, store_url: str, folder: Path) -> None:
    append_secrets(store)
    with open_snapshot(store_url):
        store.forget("secret")
        store.close()
    again = SqlStore(store_url)
    assert scrubbing.read_queue(again._engine) == ["secret"]
    assert again.scrub()
    again.close()
    assert files_with_secret(store_url, folder) == []


def test_a_short_reader_does_not_delay_forgetting(store: SqlStore, store_url: str) -> None:
    store.append("a", "told", {"answer": SECRET}, after=0)
    with open_snapshot(store_url):
        pass
    store.forget("a")
    assert scrubbing.read_queue(store._engine) == []


def test_a_connection_waits_for_locks_again_after_scrubbing(tmp_path: Path) -> None:
    store = SqlStore(f"sqlite:///{tmp_path}/a.db")
    store.append("a", "told", {}, after=0)
    store.forget("a")
    with store._engine.connect() as connection:
        assert connection.exec_driver_sql("PRAGMA busy_timeout").scalar() == 30_000
    store.close()


def test_later_backups_do_not_contain_forgotten_facts(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path}/a.db"
    store = SqlStore(url)
    append_secrets(store)
    with open_snapshot(url):
        store.forget("secret")
        store.backup(tmp_path / "copy.db")  # before the log is scrubbed
    store.close()
    assert SECRET.encode() not in (tmp_path / "copy.db").read_bytes()


def test_a_large_server_table_is_rewritten_only_on_demand(
    store: SqlStore, store_url: str, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(scrubbing, "MAX_REWRITE_BYTES", 0)
    append_secrets(store)
    store.forget("secret")
    assert store.scrub() is store_url.startswith("sqlite")
    assert store.rewrite()
    assert files_with_secret(store_url, folder) == []
    assert len(store.read("m")) == 20


def test_rewriting_removes_content_that_other_programs_deleted(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path}/a.db"
    store = SqlStore(url)
    store.append("a", "told", {"answer": SECRET}, after=0)
    execute_raw(url, "PRAGMA secure_delete = OFF", "DELETE FROM eddi_events")
    execute_raw(url, "PRAGMA wal_checkpoint(TRUNCATE)")
    assert files_with_secret(url, tmp_path)
    assert store.rewrite()
    assert files_with_secret(url, tmp_path) == []
    store.close()


def test_many_queued_streams_are_removed_from_the_queue(
    store: SqlStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(scrubbing, "STREAMS_PER_DELETE", 2)
    for name in "abcde":
        store.append(name, "told", {}, after=0)
        store.erase(name)
    assert len(scrubbing.read_queue(store._engine)) == 5
    assert store.scrub()
    with store._engine.connect() as connection:
        assert connection.execute(text("SELECT count(*) FROM eddi_scrubs")).scalar() == 0
