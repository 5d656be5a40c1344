"""Anchors are signed, contain no names, and reveal a history that was rewritten or deleted."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from sqlalchemy import delete

from eddi.store.anchor import (
    AnchorError,
    compare_with_anchor,
    create_anchor,
    parse_anchor,
    read_key,
)
from eddi.store.sql import SqlStore
from eddi.store.tables import events, heads

KEY = b"k" * 32


@pytest.fixture
def store(store_url: str) -> Iterator[SqlStore]:
    store = SqlStore(store_url)
    for stream in ("interview/a", "interview/b"):
        for after in range(3):
            store.append(stream, "told", {"answer": after}, after=after)
    yield store
    store.close()


def write(store: SqlStore) -> str:
    anchor = create_anchor(store.hashes())
    return "\n".join([anchor.header(KEY), *anchor.lines()]) + "\n"


def find_faults(store: SqlStore, text: str) -> list[str]:
    return [str(fault) for fault in compare_with_anchor(parse_anchor(text, KEY), store.hashes())]


def rewrite(store: SqlStore, stream: str, *, n_events: int) -> None:
    """Replace a stream by another one whose hashes are all correct."""
    with store._engine.begin() as connection:
        for table in (events, heads):
            connection.execute(delete(table).where(table.c.stream == stream))
    for after in range(n_events):
        store.append(stream, "told", {"answer": "another"}, after=after)


def test_a_store_that_grows_or_forgets_agrees_with_its_anchor(store: SqlStore) -> None:
    text = write(store)
    store.append("interview/a", "told", {}, after=3)
    store.append("interview/c", "told", {}, after=0)
    store.forget("interview/b")
    assert find_faults(store, text) == []


@pytest.mark.parametrize(("n_events", "words"), [(3, "was rewritten"), (5, "was rewritten")])
def test_a_rewritten_stream_differs_from_the_anchor(store: SqlStore, n_events: int, words: str) -> None:
    text = write(store)
    rewrite(store, "interview/b", n_events=n_events)
    assert store.verify() == []  # its hashes are correct
    [fault] = find_faults(store, text)
    assert fault.startswith("interview/b, event 3: differs from the anchor")
    assert words in fault


@pytest.mark.parametrize("n_events", [0, 2])
def test_a_deleted_or_shortened_stream_is_missing(store: SqlStore, n_events: int) -> None:
    text = write(store)
    rewrite(store, "interview/b", n_events=n_events)
    assert store.verify() == []
    [fault] = find_faults(store, text)
    assert "no longer in the store" in fault


def test_an_anchor_does_not_contain_the_names_of_streams(store: SqlStore) -> None:
    assert "interview" not in write(store)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda text: text.replace('"streams": 2', '"streams": 3'), "signature of the anchor is wrong"),
        (lambda text: text[: text.rindex(" ") - 2], "do not match its signed header"),
        (lambda text: text.partition("\n")[0], "do not match its signed header"),
        (lambda _: "", "not an anchor"),
        (lambda _: "[]", "not an anchor"),
        (lambda _: '{"signature": "ü"}', "signature of the anchor is wrong"),
        (lambda _: "\x00\n\n", "not an anchor"),
    ],
)
def test_a_changed_anchor_is_refused(store: SqlStore, change: object, message: str) -> None:
    assert callable(change)
    with pytest.raises(AnchorError, match=message):
        parse_anchor(change(write(store)), KEY)


def test_an_anchor_of_another_key_is_refused(store: SqlStore) -> None:
    with pytest.raises(AnchorError, match="the key is another"):
        parse_anchor(write(store), b"x" * 32)


def test_the_root_covers_every_stream(store: SqlStore) -> None:
    first = json.loads(write(store).partition("\n")[0])["root"]
    store.append("interview/a", "told", {}, after=3)
    assert json.loads(write(store).partition("\n")[0])["root"] != first


def test_a_key_is_created_for_its_owner_only(tmp_path: Path) -> None:
    path = tmp_path / "anchor.key"
    with pytest.raises(AnchorError, match="there is no key"):
        read_key(path)
    key = read_key(path, create=True)
    assert len(key) == 64
    assert read_key(path, create=True) == key
    assert path.stat().st_mode & 0o777 == 0o600


def test_a_short_key_is_refused(tmp_path: Path) -> None:
    (tmp_path / "key").write_text("secret\n")
    with pytest.raises(AnchorError, match="too short; it needs 32 characters"):
        read_key(tmp_path / "key")
