"""Appends to many streams in one transaction, with a few statements for all of them."""

from collections.abc import Sequence
from typing import Any

from sqlalchemy import Connection, Dialect, bindparam, insert, select, update
from sqlalchemy.dialects import postgresql

from eddi.store.base import Event, PendingAppend, StoreError
from eddi.store.chain import EMPTY_HEAD, Head, canonical_json, conflict_error, create_event
from eddi.store.tables import events, heads
from eddi.store.url import POSTGRESQL

MAX_STREAMS = 500  # per query; databases limit the number of parameters

_update_head = (
    update(heads)
    .where(heads.c.stream == bindparam("stream_name"))
    .values(number=bindparam("new_number"), hash=bindparam("new_hash"))
)


def append_batch(connection: Connection, batch: Sequence[PendingAppend]) -> None:
    """Set the event or the error of each append, in the transaction of ``connection``.

    An append that fails does not affect other streams. Later appends to its own stream fail, too.
    """
    streams = sorted({request.stream for request in batch})
    old_heads = read_heads(connection, streams)
    new_heads = _create_events(batch, dict(old_heads))
    new_streams = [stream for stream in new_heads if stream not in old_heads]
    taken = set(new_streams) - _insert_heads(connection, {s: new_heads[s] for s in new_streams})
    changed = [
        {"stream_name": stream, "new_number": head.number, "new_hash": head.hash}
        for stream, head in new_heads.items()
        if stream in old_heads
    ]
    if changed:
        connection.execute(_update_head, changed)
    for request in batch:
        if request.stream in taken:
            request.event = None
            request.error = conflict_error(request.stream, "event 1 or later, not at event 0")
    rows = [_to_row(request.event) for request in batch if request.event is not None]
    if rows:
        connection.execute(insert(events), rows)


def read_heads(connection: Connection, streams: Sequence[str]) -> dict[str, Head]:
    """Return the ends of streams, and lock them against other writers, always in the same order."""
    found: dict[str, Head] = {}
    for start in range(0, len(streams), MAX_STREAMS):
        names = streams[start : start + MAX_STREAMS]
        query = select(heads.c.stream, heads.c.number, heads.c.hash, heads.c.forgotten)
        query = query.where(heads.c.stream.in_(names)).order_by(heads.c.stream).with_for_update()
        found |= {stream: Head(*head) for stream, *head in connection.execute(query)}
    return found


def _create_events(batch: Sequence[PendingAppend], current: dict[str, Head]) -> dict[str, Head]:
    """Create the event of each append; return the new ends of the streams, sorted by name."""
    new_heads: dict[str, Head] = {}
    failed: dict[str, StoreError] = {}
    for request in batch:
        stream = request.stream
        try:
            if stream in failed:
                raise failed[stream]
            head = current.get(stream, EMPTY_HEAD)
            request.event = event = create_event(
                stream, request.kind, request.facts, head=head, after=request.after
            )
        except StoreError as error:
            request.error = failed[stream] = error
        else:
            current[stream] = new_heads[stream] = Head(event.number, event.hash)
    return dict(sorted(new_heads.items()))


def _insert_heads(connection: Connection, new_heads: dict[str, Head]) -> set[str]:
    """Insert the ends of new streams; return those that no other writer has inserted meanwhile."""
    rows = [
        {"stream": stream, "number": head.number, "hash": head.hash, "forgotten": False}
        for stream, head in new_heads.items()
    ]
    if not rows:
        return set()
    if not _has_concurrent_writers(connection.dialect):
        connection.execute(insert(heads), rows)
        return set(new_heads)
    statement = postgresql.insert(heads).on_conflict_do_nothing().returning(heads.c.stream)
    return set(connection.scalars(statement, rows))


def _has_concurrent_writers(dialect: Dialect) -> bool:
    """Whether other writers may insert during a transaction; SQLite locks the whole database."""
    return dialect.name == POSTGRESQL


def _to_row(event: Event) -> dict[str, Any]:
    return vars(event) | {"facts": canonical_json(event.facts)}
