"""Every store of ours keeps the promises that `eddi.testing` asks of other people's."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import replace
from typing import Any

import pytest

from eddi.store.base import Event, Fault, Store, StoreConflict
from eddi.store.factory import open_store
from eddi.store.memory import MemoryStore
from eddi.testing import ContractError, check_store


def test_memory_keeps_the_contract() -> None:
    store = MemoryStore()
    check_store(lambda: store)


def test_a_database_keeps_the_contract(store_url: str) -> None:
    check_store(lambda: open_store(store_url))


class Forgetful(MemoryStore):
    """Loses every third event."""

    def read(self, stream: str, *, after: int = 0) -> list[Event]:
        return [event for event in super().read(stream, after=after) if event.number != 3]


class Careless(MemoryStore):
    """Does not look whether somebody else was first."""

    def append(self, stream: str, kind: str, facts: Mapping[str, Any], *, after: int) -> Event:
        end = len(self.read(stream))
        return super().append(stream, kind, facts, after=end if after == 4 else after)


class Racy(MemoryStore):
    """Adds for whoever comes second as well, behind the winner."""

    def append(self, stream: str, kind: str, facts: Mapping[str, Any], *, after: int) -> Event:
        while stream.endswith("race"):
            with suppress(StoreConflict):
                return super().append(stream, kind, facts, after=len(self.read(stream)))
        return super().append(stream, kind, facts, after=after)


class Gossip(MemoryStore):
    """Keeps what it was told to forget."""

    def read(self, stream: str, *, after: int = 0) -> list[Event]:
        found = super().read(stream, after=after)
        return [replace(event, facts={"secret": 1}) if event.is_forgotten else event for event in found]


class Unsorted(MemoryStore):
    """Names its streams in any order."""

    def streams(self, prefix: str = "") -> Iterator[str]:
        return reversed([*super().streams(prefix)])


class Alarmed(MemoryStore):
    """Finds fault with everything."""

    def verify(self) -> list[Fault]:
        return [Fault(stream, 1, "was edited") for stream in self.streams()]


@pytest.mark.parametrize(
    ("kind", "words"),
    [
        (Forgetful, "read must return the appended events in order"),
        (Careless, r"append\(after=4\) to a stream of 5 events must raise StoreConflict"),
        (Racy, "of 8 simultaneous appends exactly one must succeed, got 8"),
        (Gossip, "forget must erase the facts"),
        (Unsorted, "streams must be sorted by code point"),
        (Alarmed, "verify must report no fault"),
    ],
)
def test_a_store_that_breaks_a_promise_is_named(kind: Callable[[], Store], words: str) -> None:
    store = kind()
    with pytest.raises(ContractError, match=words):
        check_store(lambda: store)


def test_a_store_that_loses_everything_when_closed_is_named() -> None:
    first, *_ = stores = [MemoryStore() for _ in range(2)]
    calls = iter([first, first, first, stores[1]])
    with pytest.raises(ContractError, match="opened again must contain the same events"):
        check_store(lambda: next(calls))
