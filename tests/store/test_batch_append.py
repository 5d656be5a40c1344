"""Appends to many streams share a transaction, and each has its own result."""

from collections.abc import Iterator

import pytest

from eddi.store.base import FactsError, PendingAppend, StoreConflict, StreamForgottenError
from eddi.store.sql import SqlStore


@pytest.fixture
def store(store_url: str) -> Iterator[SqlStore]:
    """A store with a stream of two events, and a forgotten one."""
    store = SqlStore(store_url)
    store.append("old", "told", {"n": 1}, after=0)
    store.append("old", "told", {"n": 2}, after=1)
    store.append("gone", "told", {}, after=0)
    store.forget("gone")
    yield store
    store.close()


def test_each_append_has_its_event_or_its_error(store: SqlStore) -> None:
    requests = [
        PendingAppend("new", "opened", {"n": 1}, after=0),
        PendingAppend("new", "told", {"n": 2}, after=1),
        PendingAppend("old", "told", {"n": 3}, after=1),
        PendingAppend("gone", "told", {}, after=2),
        PendingAppend("facts", "told", {"n": float("nan")}, after=0),
        PendingAppend("", "told", {}, after=0),
        PendingAppend("other", "opened", {}, after=0),
    ]
    store.append_all(requests)
    errors = [type(request.error) for request in requests if request.error is not None]
    assert errors == [StoreConflict, StreamForgottenError, FactsError, FactsError]
    assert [event.facts["n"] for event in store.read("new")] == [1, 2]
    assert [request.event for request in requests[:2]] == store.read("new")
    assert len(store.read("old")) == 2
    assert store.verify() == []


def test_nothing_is_appended_to_a_stream_after_an_append_that_failed(store: SqlStore) -> None:
    """Otherwise an event could follow one that another writer appended."""
    requests = [PendingAppend("old", "told", {}, after=1), PendingAppend("old", "closed", {}, after=2)]
    store.append_all(requests)
    assert all(isinstance(request.error, StoreConflict) for request in requests)
    assert len(store.read("old")) == 2


def test_a_stream_that_another_writer_created_meanwhile_is_a_conflict(
    store: SqlStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    if store.dialect == "sqlite":
        pytest.skip("SQLite has one writer at a time")
    store.append("new", "opened", {"by": "another"}, after=0)
    monkeypatch.setattr("eddi.store.batch_append.read_heads", lambda *_: {})
    requests = [
        PendingAppend("new", "opened", {}, after=0),
        PendingAppend("free", "opened", {}, after=0),
    ]
    store.append_all(requests)
    assert isinstance(requests[0].error, StoreConflict)
    assert requests[1].result().number == 1
    assert [event.facts for event in store.read("new")] == [{"by": "another"}]
    assert store.verify() == []


def test_many_streams_are_written_and_read_at_once(store: SqlStore) -> None:
    names = [f"stream {number}" for number in range(1200)]
    store.append_all([PendingAppend(name, "opened", {"name": name}, after=0) for name in names])
    found = store.read_all([*names, "missing", ""])
    assert [found[name][0].facts["name"] for name in names] == names
    assert found["missing"] == found[""] == []
