"""A store in memory, for tests and for trying things out. It ends with its process."""

import json
import threading
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from eddi.store.base import FORGOTTEN, Event, Fault, StreamNotFoundError
from eddi.store.chain import START, Head, Kept, check_names, faults_in, sealed, text_of, tombstone


class MemoryStore:
    """Events in a dictionary."""

    def __init__(self) -> None:
        self._kept: dict[str, list[Kept]] = {}
        self._lock = threading.Lock()

    def append(self, stream: str, kind: str, facts: Mapping[str, Any], *, after: int) -> Event:
        """Add an event as number ``after + 1``; see `eddi.store.base.Store`."""
        check_names(stream, kind)
        with self._lock:
            event = sealed(stream, kind, facts, head=self._head(stream), after=after)
            self._kept.setdefault(stream, []).append(Kept(event, text_of(event.facts)))
        return event

    def _head(self, stream: str) -> Head:
        if stream not in self._kept:
            return START
        last = self._kept[stream][-1].event
        return Head(last.number, last.hash, forgotten=last.kind == FORGOTTEN)

    def read(self, stream: str, *, after: int = 0) -> list[Event]:
        """The events of a stream from number ``after + 1`` on."""
        with self._lock:
            kept = self._kept.get(stream, [])[max(after, 0) :]
        # Facts as new objects: whoever changes what was read does not change what is kept.
        return [replace(each.event, facts=json.loads(each.text or "{}")) for each in kept]

    def streams(self, prefix: str = "") -> Iterator[str]:
        """The names of all streams that begin with ``prefix``, sorted."""
        with self._lock:
            names = sorted(name for name in self._kept if name.startswith(prefix))
        return iter(names)

    def forget(self, stream: str) -> None:
        """Erase the facts of a stream; that they were stays."""
        with self._lock:
            head = self._head(stream)
            if head == START:
                raise StreamNotFoundError(f"there is no stream {stream!r} to forget. Check its name.")
            if head.forgotten:
                return
            self._kept[stream] = [
                *(Kept(replace(kept.event, facts={}, salt=""), None) for kept in self._kept[stream]),
                Kept(tombstone(stream, head), "{}"),
            ]

    def verify(self) -> list[Fault]:
        """Everything that is not as it was written."""
        with self._lock:
            return [
                fault
                for stream, kept in sorted(self._kept.items())
                for fault in faults_in(stream, kept, self._head(stream))
            ]

    def close(self) -> None:
        """Nothing to let go of."""
