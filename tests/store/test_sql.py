"""A store in SQLite and PostgreSQL: who changes it behind its back, and what is left when it forgets."""

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import psycopg
import pytest

from eddi.store import sql
from eddi.store.base import StoreBusyError, StoreConflict, StoreError, StreamNotFoundError
from eddi.store.sql import SqlStore
from eddi.store.upgrade import upgrade

SECRET = "a-secret-nobody-shall-find"  # noqa: S105  # an answer


@pytest.fixture
def store(store_url: str) -> Iterator[SqlStore]:
    """Two interviews of four events."""
    store = SqlStore(store_url)
    for stream in ("a", "b"):
        for after in range(4):
            store.append(stream, "told", {"answer": after}, after=after)
    yield store
    store.close()


def raw(url: str, *statements: str) -> list[Any]:
    """Reach behind the store; the rows of the last statement."""
    if url.startswith("sqlite"):
        with closing(sqlite3.connect(url.removeprefix("sqlite:///"))) as connection, connection:
            return [connection.execute(statement).fetchall() for statement in statements][-1]
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute("SET session_replication_role = replica")  # an owner is past foreign keys
        cursors = [connection.execute(statement) for statement in statements]
        return cursors[-1].fetchall() if cursors[-1].description else []


@pytest.mark.parametrize(
    ("statements", "words"),
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
            "a, event 4: is missing: the stream was cut off",
        ),
        (["DELETE FROM eddi_events WHERE stream = 'a'"], "a, event 1: is missing"),
        (
            ["UPDATE eddi_events SET facts = NULL, salt = '' WHERE stream = 'a' AND number = 2"],
            "a, event 2: its facts are gone though the stream was never forgotten",
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
            "a, event 4: does not follow",
        ),
        (["DELETE FROM eddi_heads WHERE stream = 'a'"], "where it should end is gone"),
        (["UPDATE eddi_heads SET number = 3 WHERE stream = 'a'"], "a, event 4: was put in"),
        (["UPDATE eddi_heads SET hash = 'x' WHERE stream = 'a'"], "is not the event"),
        (["UPDATE eddi_heads SET forgotten = true WHERE stream = 'a'"], "marked as forgotten"),
    ],
)
def test_what_is_changed_behind_its_back_is_found(
    store: SqlStore, store_url: str, statements: list[str], words: str
) -> None:
    assert store.verify() == []
    raw(store_url, *statements)
    found = [str(fault) for fault in store.verify()]
    assert any(words in fault for fault in found), found


@pytest.mark.parametrize("column", ["number", "kind", "at", "facts", "salt", "hash", "before", "digest"])
def test_a_value_of_the_wrong_kind_is_a_fault_like_any_other(tmp_path: Path, column: str) -> None:
    url = f"sqlite:///{tmp_path}/a.db"
    store = SqlStore(url)
    store.append("a", "opened", {}, after=0)
    store.append("a", "told", {}, after=1)
    raw(url, "UPDATE eddi_events SET number = x'00ff' WHERE number = 2".replace("number", column, 1))
    assert "a, event" in " ".join(map(str, store.verify()))
    store.close()


def test_a_fault_is_told_of_its_own_stream_alone(store: SqlStore, store_url: str) -> None:
    raw(store_url, "UPDATE eddi_events SET facts = '{}' WHERE stream = 'b' AND number = 2")
    assert [(fault.stream, fault.number) for fault in store.verify()] == [("b", 2)]


def test_facts_that_no_longer_are_json_are_told_when_read(store: SqlStore, store_url: str) -> None:
    raw(store_url, "UPDATE eddi_events SET facts = 'broken' WHERE stream = 'a' AND number = 2")
    with pytest.raises(StoreError, match=r"event 2 of 'a' is damaged.*eddi store verify"):
        store.read("a")


def test_names_come_in_pages_and_none_is_left_out(
    store: SqlStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sql, "N_STREAMS", 2)
    for name in "dec":
        store.append(f"{name}", "opened", {}, after=0)
    assert [*store.streams()] == [f"{name}" for name in "abcde"]
    store.append("f", "opened", {}, after=0)
    assert [*store.streams("")] == [f"{name}" for name in "abcdef"]


def test_it_counts(store: SqlStore) -> None:
    assert store.count() == (2, 8)


def test_a_conflict_names_the_stream_and_both_ends(store: SqlStore) -> None:
    with pytest.raises(StoreConflict, match="'a' ends at event 4, not at 2: somebody else"):
        store.append("a", "told", {}, after=2)


def test_a_name_that_no_database_could_hold_is_not_found(store: SqlStore) -> None:
    with pytest.raises(StreamNotFoundError, match="there is no stream"):
        store.forget("\u0000")


def test_no_answer_shows_in_an_error(store: SqlStore, store_url: str) -> None:
    raw(store_url, "DROP TABLE eddi_events")
    with pytest.raises(StoreError, match="eddi_events") as caught:
        store.append("a", "told", {"answer": SECRET}, after=4)
    assert SECRET not in str(caught.value)


def traces(url: str, folder: Path) -> list[str]:
    """Files of the database in which the secret can be read."""
    if not url.startswith("sqlite"):
        raw(url, "CHECKPOINT")
    files = [path for path in folder.rglob("*") if path.is_file() and "pg_wal" not in path.parts]
    return [path.name for path in files if SECRET.encode() in path.read_bytes()]


@pytest.fixture
def folder(request: pytest.FixtureRequest, store_url: str, tmp_path: Path) -> Path:
    """Where the database keeps its files."""
    return tmp_path if store_url.startswith("sqlite") else request.getfixturevalue("postgres").pgdata


def scatter(store: SqlStore) -> None:
    """Secrets of all sizes among events of others, so that pages split and move."""
    for after in range(20):
        for stream in ("m", "secret", "z"):
            word = SECRET if stream.endswith("secret") else "elsewhere"
            store.append(stream, "told", {"answer": word * (1 + 7 * after)}, after=after)


def test_nothing_of_what_is_forgotten_stays_in_the_files(
    store: SqlStore, store_url: str, folder: Path
) -> None:
    scatter(store)
    assert traces(store_url, folder)
    store.forget("secret")
    assert traces(store_url, folder) == []
    assert store.verify() == []


def test_a_large_store_is_swept_when_somebody_asks(
    store: SqlStore, store_url: str, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sql, "SWEEP_BYTES", 0)
    scatter(store)
    store.forget("secret")
    store.sweep()
    assert traces(store_url, folder) == []
    assert len(store.read("m")) == 20


def test_sweeping_takes_along_what_others_deleted_without_care(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path}/a.db"
    store = SqlStore(url)
    store.append("a", "told", {"answer": SECRET}, after=0)
    raw(url, "PRAGMA secure_delete = OFF", "DELETE FROM eddi_events")
    raw(url, "PRAGMA wal_checkpoint(TRUNCATE)")
    assert traces(url, tmp_path)
    store.sweep()
    assert traces(url, tmp_path) == []
    store.close()


def test_forgetting_is_told_to_be_half_done_while_somebody_reads_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("eddi.store.connection.BUSY_SECONDS", 0.1)
    store = SqlStore(f"sqlite:///{tmp_path}/a.db")
    store.append("a", "told", {"answer": SECRET}, after=0)
    with closing(sqlite3.connect(tmp_path / "a.db", isolation_level=None)) as reader:
        reader.execute("BEGIN")
        reader.execute("SELECT * FROM eddi_events").fetchall()
        with pytest.raises(StoreBusyError, match="erased, but the log"):
            store.forget("a")
    assert store.read("a")[0].facts == {}
    store.forget("a")
    assert traces("sqlite", tmp_path) == []
    store.close()


def test_a_file_that_others_keep_locked_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("eddi.store.connection.BUSY_SECONDS", 0.1)
    store = SqlStore(f"sqlite:///{tmp_path}/a.db")
    with closing(sqlite3.connect(tmp_path / "a.db", isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(StoreBusyError, match=r"locked by others.*Try again"):
            store.append("a", "told", {}, after=0)
    store.append("a", "told", {}, after=0)
    store.close()


def test_every_connection_to_a_file_is_set_up_to_lose_nothing(tmp_path: Path) -> None:
    store = SqlStore(f"sqlite:///{tmp_path}/a.db")
    with store._engine.connect() as one, store._engine.connect() as another:
        for connection in (one, another):
            names = ("journal_mode", "synchronous", "foreign_keys", "secure_delete", "busy_timeout")
            found = [connection.exec_driver_sql(f"PRAGMA {name}").scalar() for name in names]
            assert found == ["wal", 2, 1, 1, 30_000]  # synchronous 2 is FULL
    store.close()


def test_a_server_that_hung_up_is_called_again(postgres_url: str) -> None:
    upgrade(postgres_url)
    store = SqlStore(postgres_url)
    store.append("a", "opened", {}, after=0)
    raw(
        postgres_url,
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
        "WHERE datname = current_database() AND pid != pg_backend_pid()",
    )
    assert store.append("a", "told", {}, after=1).number == 2
    store.close()
