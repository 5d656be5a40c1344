"""An in-memory store for tests and experiments. Its contents are lost when the process ends."""

import json
import threading
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from eddi.store.base import (
    FORGOTTEN,
    Event,
    Fault,
    PendingAppend,
    StoreError,
    StreamNotFoundError,
)
from eddi.store.chain import (
    EMPTY_HEAD,
    Head,
    StoredEvent,
    canonical_json,
    check_names,
    create_event,
    create_tombstone,
    find_faults,
)


class MemoryStore:
    """A store that keeps its events in a dictionary; see `eddi.store.base.Store` for the methods."""

    def __init__(self) -> None:
        self._streams: dict[str, list[StoredEvent]] = {}
        self._lock = threading.Lock()

    def append(self, stream: str, kind: str, facts: Mapping[str, Any], *, after: int) -> Event:
        """Append an event with number ``after + 1``."""
        check_names(stream, kind)
        with self._lock:
            event = create_event(stream, kind, facts, head=self._head(stream), after=after)
            stored = StoredEvent(event, canonical_json(event.facts))
            self._streams.setdefault(stream, []).append(stored)
        return event

    def append_all(self, requests: Sequence[PendingAppend]) -> None:
        """Append events to many streams; each has its event or its error then."""
        failed: dict[str, StoreError] = {}
        for request in requests:
            try:
                if request.stream in failed:
                    raise failed[request.stream]
                request.event = self.append(
                    request.stream, request.kind, request.facts, after=request.after
                )
            except StoreError as error:
                request.error = failed[request.stream] = error

    def _head(self, stream: str) -> Head:
        if stream not in self._streams:
            return EMPTY_HEAD
        last = self._streams[stream][-1].event
        return Head(last.number, last.hash, is_forgotten=last.kind == FORGOTTEN)

    def read(self, stream: str, *, after: int = 0) -> list[Event]:
        """Return the events of a stream, starting with number ``after + 1``."""
        with self._lock:
            stored = self._streams.get(stream, [])[max(after, 0) :]
        # New objects for the facts: callers who change them must not change the store.
        return [replace(item.event, facts=json.loads(item.text or "{}")) for item in stored]

    def read_all(self, streams: Sequence[str]) -> dict[str, list[Event]]:
        """Return the events of several streams."""
        return {stream: self.read(stream) for stream in streams}

    def streams(self, prefix: str = "") -> Iterator[str]:
        """Yield the names of all streams that start with ``prefix``, sorted."""
        with self._lock:
            names = sorted(name for name in self._streams if name.startswith(prefix))
        return iter(names)

    def read_ends(self, prefix: str) -> Iterator[tuple[Event, Event]]:
        """Yield the first and the last event of each stream that is not forgotten."""
        for stream in self.streams(prefix):
            events = self.read(stream)
            if events[-1].kind != FORGOTTEN:
                yield events[0], events[-1]

    def forget(self, stream: str, *, by: str = "") -> None:
        """Erase the facts of a stream and append a tombstone."""
        with self._lock:
            head = self._head(stream)
            if head == EMPTY_HEAD:
                raise StreamNotFoundError(f"there is no stream {stream!r} to forget. Check its name.")
            if head.is_forgotten:
                return
            erased = [
                StoredEvent(replace(stored.event, facts={}, salt=""), None)
                for stored in self._streams[stream]
            ]
            tombstone = create_tombstone(stream, head, by=by)
            last = StoredEvent(tombstone, canonical_json(tombstone.facts))
            self._streams[stream] = [*erased, last]

    def scrub(self) -> bool:
        """Return True: erased facts are not kept."""
        return True

    def idle_streams(self, prefix: str, before: str) -> list[str]:
        """Return the streams with this prefix whose last event is older than ``before``."""
        with self._lock:
            last_events = [(name, stored[-1].event) for name, stored in sorted(self._streams.items())]
        return [
            name
            for name, event in last_events
            if name.startswith(prefix) and event.at < before and event.kind != FORGOTTEN
        ]

    def verify(self) -> list[Fault]:
        """Return every event that is not as it was written."""
        with self._lock:
            return [
                fault
                for stream, stored in sorted(self._streams.items())
                for fault in find_faults(stream, stored, self._head(stream))
            ]

    def check_write(self) -> None:
        """Do nothing: memory can be written as long as the process runs."""

    def close(self) -> None:
        """Do nothing: a store in memory holds no files or connections."""
