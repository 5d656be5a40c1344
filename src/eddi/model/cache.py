"""A bounded cache that belongs to one object and is freed together with it."""

import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable
from typing import Any, TypeVar

T = TypeVar("T")

MAX_ENTRIES = 1_024  # the least recently used entry is dropped first


class Cache:
    """Values that were computed once, by key; the most recently used ones are kept."""

    def __init__(self, max_entries: int = MAX_ENTRIES) -> None:
        self._max_entries = max_entries
        self._entries: OrderedDict[Hashable, Any] = OrderedDict()
        self._lock = threading.Lock()

    def __len__(self) -> int:
        return len(self._entries)

    def get(self, key: Hashable, compute: Callable[[], T]) -> T:
        """Return the value stored under ``key``; compute and store it the first time."""
        with self._lock:
            if key in self._entries:
                self._entries.move_to_end(key)
                found: T = self._entries[key]
                return found
        value = compute()  # outside the lock: it may take seconds, and may use the cache itself
        with self._lock:
            self._entries[key] = value
            while len(self._entries) > self._max_entries:
                self._entries.popitem(last=False)
        return value
