"""Old interviews are erased, erased answers leave the files, and errors of the store show no paths."""

import sqlite3
import time
from contextlib import closing, contextmanager
from datetime import UTC, datetime

import pytest

from eddi.service import maintenance
from eddi.service.maintenance import Maintenance
from eddi.store import chain


@contextmanager
def long_read(path):
    """A transaction that reads the store and stays open."""
    with closing(sqlite3.connect(path, isolation_level=None)) as reader:
        reader.execute("BEGIN")
        reader.execute("SELECT * FROM eddi_events").fetchall()
        yield


def answer_age(client, age):
    key = client.post("/interviews", json={}).json()["id"]
    client.post(f"/interviews/{key}/answers", json={"question": "age", "values": age, "confirm": True})
    return key


def files_with(folder, text):
    files = [path for path in folder.rglob("*") if path.is_file()]
    return [path.name for path in files if text.encode() in path.read_bytes()]


def test_an_interview_is_deleted_while_a_long_reader_is_open(serving, tmp_path, monkeypatch):
    monkeypatch.setattr(maintenance, "PERIOD_S", 0.1)
    with serving(store=f"sqlite:///{tmp_path}/answers.db") as client:
        key = answer_age(client, 61.828125)
        with long_read(tmp_path / "answers.db"):
            started = time.monotonic()
            assert client.delete(f"/interviews/{key}").status_code == 204
            assert client.get(f"/interviews/{key}").status_code == 404
            assert client.post("/interviews", json={}).status_code == 201  # writers do not wait
            assert time.monotonic() - started < 10  # a lock is waited for up to 30 seconds
        deadline = time.monotonic() + 20
        while files_with(tmp_path, "61.828125") and time.monotonic() < deadline:
            time.sleep(0.1)
        assert files_with(tmp_path, "61.828125") == []


def test_a_locked_store_is_reported_without_its_path(serving, tmp_path, monkeypatch):
    monkeypatch.setattr("eddi.store.connection.BUSY_SECONDS", 0.1)
    with serving(store=f"sqlite:///{tmp_path}/answers.db") as client:
        with closing(sqlite3.connect(tmp_path / "answers.db", isolation_level=None)) as other:
            other.execute("BEGIN IMMEDIATE")
            refused = client.post("/interviews", json={})
        assert refused.status_code == 503
        assert "the store of answers does not respond" in refused.json()["detail"]
        assert str(tmp_path) not in refused.text
        assert "sqlite" not in refused.text


class YearsAgo(datetime):
    """A clock that is far behind."""

    @classmethod
    def now(cls, _):
        return datetime(2020, 1, 1, tzinfo=UTC)


@pytest.fixture
def old_and_new(serving, monkeypatch):
    """A server with an interview of 2020 and a new one."""
    with serving() as client:
        with monkeypatch.context() as patch:
            patch.setattr(chain, "datetime", YearsAgo)
            old = client.post("/interviews", json={}, headers={"Idempotency-Key": "k" * 16}).json()["id"]
        new = client.post("/interviews", json={}).json()["id"]
        yield client, old, new


def test_interviews_are_erased_some_days_after_their_last_change(old_and_new):
    client, old, new = old_and_new
    service = client.app.state.service
    assert Maintenance(service, keep_days=30).erase_old_interviews() == 1
    assert client.get(f"/interviews/{old}").status_code == 404
    assert client.get(f"/interviews/{new}").status_code == 200
    assert service.store.idle_streams("", "2021") == []


def test_interviews_are_kept_by_default(old_and_new):
    client, old, _ = old_and_new
    assert Maintenance(client.app.state.service, keep_days=0).erase_old_interviews() == 0
    assert client.get(f"/interviews/{old}").status_code == 200
