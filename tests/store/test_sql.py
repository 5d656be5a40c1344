"""SQL stores: tampering is found, and forgetting leaves no traces in the files."""

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import psycopg
import pytest
from sqlalchemy import event

from eddi.store import sql
from eddi.store.base import (
    StoreBusyError,
    StoreConflict,
    StoreDiskError,
    StoreError,
    StoreFullError,
    StreamNotFoundError,
)
from eddi.store.sql import SqlStore
from eddi.store.upgrade import upgrade

SECRET = "a-secret-nobody-shall-find"  # noqa: S105  # an answer


@pytest.fixture
def store(store_url: str) -> Iterator[SqlStore]:
    """A store with two streams of four events each."""
    store = SqlStore(store_url)
    for stream in ("a", "b"):
        for after in range(4):
            store.append(stream, "told", {"answer": after}, after=after)
    yield store
    store.close()


def execute_raw(url: str, *statements: str) -> list[Any]:
    """Execute SQL without going through the store and return the rows of the last statement."""
    if url.startswith("sqlite"):
        with closing(sqlite3.connect(url.removeprefix("sqlite:///"))) as connection, connection:
            return [connection.execute(statement).fetchall() for statement in statements][-1]
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute("SET session_replication_role = replica")  # ignores foreign keys
        cursors = [connection.execute(statement) for statement in statements]
        return cursors[-1].fetchall() if cursors[-1].description else []


@pytest.mark.parametrize(
    ("statements", "message"),
    [
        (
            ["UPDATE eddi_events SET facts = '{\"answer\":7}' WHERE stream = 'a' AND number = 2"],
            "a, event 2: its facts were edited",
        ),
        (
            ["UPDATE eddi_events SET facts = 'broken' WHERE stream = 'a' AND number = 2"],
            "a, event 2: its facts were edited",
        ),
        (
            ["UPDATE eddi_events SET kind = 'undone' WHERE stream = 'a' AND number = 3"],
            "a, event 3: was edited",
        ),
        (
            ["UPDATE eddi_events SET at = '2020' WHERE stream = 'a' AND number = 4"],
            "a, event 4: was edited",
        ),
        (
            ["UPDATE eddi_events SET salt = 'x' WHERE stream = 'a' AND number = 1"],
            "a, event 1: its facts were edited",
        ),
        (["DELETE FROM eddi_events WHERE stream = 'a' AND number = 2"], "a, event 2: is missing"),
        (
            ["DELETE FROM eddi_events WHERE stream = 'a' AND number = 4"],
            "a, event 4: is missing: the stream was truncated",
        ),
        (["DELETE FROM eddi_events WHERE stream = 'a'"], "a, event 1: is missing"),
        (
            ["UPDATE eddi_events SET facts = NULL, salt = '' WHERE stream = 'a' AND number = 2"],
            "a, event 2: its facts are missing although the stream was never forgotten",
        ),
        (
            [
                "UPDATE eddi_events SET number = 9 WHERE stream = 'a' AND number = 2",
                "UPDATE eddi_events SET number = 2 WHERE stream = 'a' AND number = 3",
                "UPDATE eddi_events SET number = 3 WHERE stream = 'a' AND number = 9",
            ],
            "a, event 2: was edited",
        ),
        (
            [
                "DELETE FROM eddi_events WHERE stream = 'a' AND number = 4",
                "UPDATE eddi_events SET stream = 'a' WHERE stream = 'b' AND number = 4",
            ],
            "a, event 4: does not match the previous",
        ),
        (["DELETE FROM eddi_heads WHERE stream = 'a'"], "the record of its end is missing"),
        (["UPDATE eddi_heads SET number = 3 WHERE stream = 'a'"], "a, event 4: was inserted"),
        (["UPDATE eddi_heads SET hash = 'x' WHERE stream = 'a'"], "is not the event"),
        (["UPDATE eddi_heads SET forgotten = true WHERE stream = 'a'"], "forgotten flag"),
    ],
)
def test_tampering_is_found(
    store: SqlStore, store_url: str, statements: list[str], message: str
) -> None:
    assert store.verify() == []
    execute_raw(store_url, *statements)
    faults = [str(fault) for fault in store.verify()]
    assert any(message in fault for fault in faults), faults


@pytest.mark.parametrize("column", ["number", "kind", "at", "facts", "salt", "hash", "before", "digest"])
def test_a_value_of_the_wrong_type_is_reported_as_a_fault(tmp_path: Path, column: str) -> None:
    url = f"sqlite:///{tmp_path}/a.db"
    store = SqlStore(url)
    store.append("a", "opened", {}, after=0)
    store.append("a", "told", {}, after=1)
    execute_raw(
        url, "UPDATE eddi_events SET number = x'00ff' WHERE number = 2".replace("number", column, 1)
    )
    assert "a, event" in " ".join(map(str, store.verify()))
    store.close()


def test_a_fault_is_reported_only_for_its_own_stream(store: SqlStore, store_url: str) -> None:
    execute_raw(store_url, "UPDATE eddi_events SET facts = '{}' WHERE stream = 'b' AND number = 2")
    assert [(fault.stream, fault.number) for fault in store.verify()] == [("b", 2)]


def test_reading_facts_that_are_not_json_raises(store: SqlStore, store_url: str) -> None:
    execute_raw(store_url, "UPDATE eddi_events SET facts = 'broken' WHERE stream = 'a' AND number = 2")
    with pytest.raises(StoreError, match=r"event 2 of 'a' is damaged.*eddi store verify"):
        store.read("a")


def test_stream_names_are_complete_across_pages(
    store: SqlStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sql, "STREAMS_PER_PAGE", 2)
    for name in "dec":
        store.append(name, "opened", {}, after=0)
    assert [*store.streams()] == [*"abcde"]
    store.append("f", "opened", {}, after=0)
    assert [*store.streams("")] == [*"abcdef"]


def test_streams_and_events_are_counted(store: SqlStore) -> None:
    assert store.count() == (2, 8)


def test_a_conflict_names_the_stream_and_both_numbers(store: SqlStore) -> None:
    with pytest.raises(StoreConflict, match="'a' ends at event 4, not at event 2: another writer"):
        store.append("a", "told", {}, after=2)


def test_forgetting_an_invalid_name_raises_not_found(store: SqlStore) -> None:
    with pytest.raises(StreamNotFoundError, match="there is no stream"):
        store.forget("\u0000")


def test_errors_do_not_contain_answers(store: SqlStore, store_url: str) -> None:
    execute_raw(store_url, "DROP TABLE eddi_events")
    with pytest.raises(StoreError, match="eddi_events") as caught:
        store.append("a", "told", {"answer": SECRET}, after=4)
    assert SECRET not in str(caught.value)


def test_a_locked_file_is_reported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("eddi.store.connection.BUSY_SECONDS", 0.1)
    store = SqlStore(f"sqlite:///{tmp_path}/a.db")
    with closing(sqlite3.connect(tmp_path / "a.db", isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(StoreBusyError, match=r"locked for more than.*Try again"):
            store.append("a", "told", {}, after=0)
    store.append("a", "told", {}, after=0)
    store.close()


def test_every_sqlite_connection_is_configured_for_durability(tmp_path: Path) -> None:
    store = SqlStore(f"sqlite:///{tmp_path}/a.db")
    with store._engine.connect() as first, store._engine.connect() as second:
        for connection in (first, second):
            names = ("journal_mode", "synchronous", "foreign_keys", "secure_delete", "busy_timeout")
            settings = [connection.exec_driver_sql(f"PRAGMA {name}").scalar() for name in names]
            assert settings == ["wal", 2, 1, 1, 30_000]  # synchronous 2 is FULL
    store.close()


def test_a_closed_server_connection_is_reopened(postgres_url: str) -> None:
    upgrade(postgres_url)
    store = SqlStore(postgres_url)
    store.append("a", "opened", {}, after=0)
    execute_raw(
        postgres_url,
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
        "WHERE datname = current_database() AND pid != pg_backend_pid()",
    )
    assert store.append("a", "told", {}, after=1).number == 2
    store.close()


def test_checking_a_write_changes_no_event(store: SqlStore) -> None:
    before = store.count(), store.read("a")
    store.check_write()
    assert (store.count(), store.read("a")) == before
    assert store.verify() == []


@pytest.fixture
def limited_store(tmp_path: Path) -> Iterator[SqlStore]:
    """A SQLite store whose file must not grow."""
    store = SqlStore(f"sqlite:///{tmp_path / 'answers.db'}")
    event.listen(store._engine, "connect", lambda raw, _: raw.execute("PRAGMA max_page_count = 1"))
    store._engine.dispose()
    yield store
    store.close()


def test_a_full_disk_is_reported_and_nothing_is_written(limited_store: SqlStore) -> None:
    facts = {"text": "x" * 100_000}
    for _ in range(2):
        with pytest.raises(StoreFullError, match=r"no space left.*Nothing of this request was saved"):
            limited_store.append("a", "told", facts, after=0)
    assert limited_store.read("a") == []
    assert limited_store.verify() == []


def test_a_store_that_must_not_be_written_is_reported(tmp_path: Path) -> None:
    store = SqlStore(f"sqlite:///{tmp_path / 'answers.db'}")
    event.listen(store._engine, "connect", lambda raw, _: raw.execute("PRAGMA query_only = ON"))
    store._engine.dispose()
    for write in (store.check_write, lambda: store.append("a", "told", {}, after=0)):
        with pytest.raises(StoreDiskError, match=r"cannot be read or written.*Check its disk"):
            write()
    store.close()


def test_a_disk_that_is_almost_full_is_reported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store = SqlStore(f"sqlite:///{tmp_path / 'answers.db'}")
    monkeypatch.setattr("eddi.store.connection.MIN_FREE_BYTES", 10**18)
    with pytest.raises(StoreFullError, match=r"has only .* bytes left on its disk"):
        store.check_write()
    store.close()
