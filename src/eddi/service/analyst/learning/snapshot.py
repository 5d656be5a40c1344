"""A copy of the interviews of a questionnaire in a file, for the process that learns from them.

The process of a job does not use the store. A job that is started again reads the same copy, so that it ends
with the same weights, whatever was answered in the meantime.
"""

import json
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

from eddi.durable_file import finish_file, name_unfinished, open_private_file
from eddi.service.analyst.models.publishing import PREFIX as QUESTIONNAIRE_PREFIX
from eddi.service.interviews.history import PREFIX, belongs_to
from eddi.store.base import FORGOTTEN, Event, Store
from eddi.store.memory import MemoryStore

STREAMS_PER_READ = 1000  # interviews in one read of the store


def write_snapshot(store: Store, questionnaire: str, path: Path) -> None:
    """Write the events of a questionnaire and of its interviews to a file, one per line.

    The file appears complete or not at all.
    """
    unfinished = name_unfinished(path)
    with open_private_file(unfinished) as file:
        for event in _iter_events(store, questionnaire):
            line = {"stream": event.stream, "kind": event.kind, "facts": dict(event.facts)}
            file.write(json.dumps(line, allow_nan=False).encode() + b"\n")
    finish_file(unfinished, path)


def read_snapshot(path: Path) -> MemoryStore:
    """Return a store with the events of a snapshot."""
    store, numbers = MemoryStore(), dict[str, int]()
    with path.open(encoding="utf-8") as lines:
        for line in lines:
            event = json.loads(line)
            stream = event["stream"]
            after = numbers.get(stream, 0)
            store.append(stream, event["kind"], event["facts"], after=after)
            numbers[stream] = after + 1
    return store


def _iter_events(store: Store, questionnaire: str) -> Iterator[Event]:
    yield from store.read(f"{QUESTIONNAIRE_PREFIX}{questionnaire}")
    ends = (first.stream for first, _ in store.read_ends(PREFIX) if belongs_to([first], questionnaire))
    while streams := list(islice(ends, STREAMS_PER_READ)):
        for events in store.read_all(streams).values():
            if events[-1].kind != FORGOTTEN:  # in the meantime
                yield from events
