"""Exports and backups are complete or absent, and readable only by their owner."""

import threading
from pathlib import Path

import pytest

from eddi.store.backup import create_atomically, export_lines, parse_lines
from eddi.store.base import FactsError, StoreError
from eddi.store.factory import open_store
from eddi.store.memory import MemoryStore
from eddi.store.sql import SqlStore
from eddi.store.upgrade import upgrade


def test_an_export_reads_back_as_the_same_events() -> None:
    store = MemoryStore()
    for after in range(3):
        store.append("interview/b", "told", {"x": "\u00e9\ud800"}, after=after)
    store.append("interview/a", "opened", {}, after=0)
    store.append("key/c", "made", {}, after=0)
    store.forget("interview/b")
    lines = [*export_lines(store, "interview/")]
    assert [*parse_lines(lines)] == store.read("interview/a") + store.read("interview/b")
    assert all(line.isascii() and "\n" not in line for line in lines)


@pytest.mark.parametrize("line", ["", "{}", "[1]", '{"stream": "a"}', "no"])
def test_a_line_that_is_not_an_event_is_reported_by_its_number(line: str) -> None:
    store = MemoryStore()
    store.append("a", "opened", {}, after=0)
    with pytest.raises(FactsError, match=r"line 2 is not an event.*eddi store export"):
        list(parse_lines([*export_lines(store), line]))


def test_a_backup_is_consistent_during_concurrent_writes(tmp_path: Path) -> None:
    store = SqlStore(f"sqlite:///{tmp_path}/a.db")
    stop = threading.Event()

    def write() -> None:
        after = 0
        while not stop.is_set():
            store.append("a", "told", {"text": "x" * 5000}, after=after)
            after += 1

    writer = threading.Thread(target=write)
    writer.start()
    while len(store.read("a")) < 5:
        pass
    store.backup(tmp_path / "b.db")
    stop.set()
    writer.join()
    assert sorted(path.name for path in tmp_path.glob("b.db*")) == ["b.db"]
    assert (tmp_path / "b.db").stat().st_mode & 0o777 == 0o600
    copy = open_store(f"sqlite:///{tmp_path}/b.db", create=False)
    events = copy.read("a")
    assert copy.verify() == []
    assert len(events) >= 5
    assert events == store.read("a")[: len(events)]
    copy.close()
    store.close()


def test_a_backup_does_not_overwrite_a_file(tmp_path: Path) -> None:
    store = SqlStore(f"sqlite:///{tmp_path}/a.db")
    (tmp_path / "b.db").write_text("precious")
    with pytest.raises(StoreError, match="exists already and is not overwritten"):
        store.backup(tmp_path / "b.db")
    assert (tmp_path / "b.db").read_text() == "precious"
    store.close()


def test_a_postgresql_store_refers_to_pg_dump(postgres_url: str, tmp_path: Path) -> None:
    upgrade(postgres_url)
    store = SqlStore(postgres_url)
    with pytest.raises(StoreError, match="pg_dump"):
        store.backup(tmp_path / "b.db")
    store.close()


def write_half(path: Path) -> None:
    with create_atomically(path) as partial:
        partial.write_text("half")
        raise KeyboardInterrupt


def test_an_interrupted_file_is_removed(tmp_path: Path) -> None:
    with pytest.raises(KeyboardInterrupt):
        write_half(tmp_path / "x")
    assert [*tmp_path.iterdir()] == []
