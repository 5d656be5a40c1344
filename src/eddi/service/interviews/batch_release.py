"""Holds observations of answers back until they come from enough interviews.

Whoever reads the metrics before and after an answer would otherwise see what that answer changed.
"""

import threading
from collections import deque
from collections.abc import Callable

MIN_INTERVIEWS = 10  # whose observations are released together
MAX_PENDING = 10_000  # observations; of more, the oldest are dropped


class BatchRelease:
    """Collects observations, and releases all of them once they come from `MIN_INTERVIEWS` interviews."""

    def __init__(self) -> None:
        self._pending: deque[Callable[[], None]] = deque(maxlen=MAX_PENDING)
        self._interviews: set[str] = set()
        self._lock = threading.Lock()

    def add(self, interview: str, observe: Callable[[], None]) -> None:
        """Call ``observe`` together with the observations of other interviews, perhaps now."""
        with self._lock:
            self._pending.append(observe)
            self._interviews.add(interview)
            if len(self._interviews) < MIN_INTERVIEWS:
                return
            released = list(self._pending)
            self._pending.clear()
            self._interviews.clear()
        for observe_now in released:
            observe_now()
