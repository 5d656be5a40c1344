"""The interviews that were changed last, so that the next answer needs no replay.

An entry may be out of date, because another server has changed the interview. Whoever uses it must read
the interview again if its event cannot be appended, or if the change is not possible.
"""

import threading
import time
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass

from eddi.interview.next_step import NextStep
from eddi.service.interviews.history import History

MAX_ENTRIES = 4096  # a few kilobytes each
MAX_AGE_S = 120.0  # answers of interviews that were forgotten elsewhere do not stay in memory


@dataclass(frozen=True)
class RecentInterview:
    """An interview after its last change, with its next step."""

    history: History
    step: NextStep


class RecentInterviews:
    """The interviews that were changed last, for use by several threads."""

    def __init__(
        self, *, max_entries: int = MAX_ENTRIES, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._max_entries, self._clock = max_entries, clock
        self._entries: OrderedDict[str, tuple[float, RecentInterview]] = OrderedDict()
        self._lock = threading.Lock()

    def __len__(self) -> int:
        return len(self._entries)

    def get(self, key: str) -> RecentInterview | None:
        """Return an interview that was changed recently."""
        with self._lock:
            changed_at, entry = self._entries.get(key, (0.0, None))
        return entry if self._clock() - changed_at <= MAX_AGE_S else None

    def put(self, entry: RecentInterview) -> None:
        """Keep an interview; the oldest ones are dropped."""
        now = self._clock()
        with self._lock:
            self._entries[entry.history.key] = (now, entry)
            self._entries.move_to_end(entry.history.key)
            while len(self._entries) > self._max_entries or self._oldest() < now - MAX_AGE_S:
                self._entries.popitem(last=False)

    def drop(self, key: str) -> None:
        """Drop an interview."""
        with self._lock:
            self._entries.pop(key, None)

    def _oldest(self) -> float:
        return next(iter(self._entries.values()))[0]
