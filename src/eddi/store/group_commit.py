"""Group commit: concurrent appends share one transaction and therefore one disk sync."""

import threading
from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from eddi.store.base import Event, StoreError


@dataclass(eq=False)
class PendingAppend:
    """A requested append and, once processed, its event or its error."""

    stream: str
    kind: str
    facts: Mapping[str, Any]
    after: int
    event: Event | None = None
    error: StoreError | None = None

    @property
    def is_done(self) -> bool:
        """Whether the append succeeded or failed."""
        return self.event is not None or self.error is not None


class GroupCommit:
    """Collects appends from many threads and writes them in batches.

    The thread that holds the lock writes all pending appends. The threads that waited for the lock
    then find theirs done.
    """

    def __init__(self, write: Callable[[list[PendingAppend]], None]) -> None:
        """Use ``write`` to write batches; it sets an event or an error on each append.

        When ``write`` returns, the batch must be on disk.
        """
        self._write = write
        self._pending: deque[PendingAppend] = deque()
        self._lock = threading.Lock()

    def append(self, request: PendingAppend) -> Event:
        """Write ``request``, alone or in a batch with others, and return its event."""
        self._pending.append(request)
        with self._lock:
            if not request.is_done:
                self._write_pending()
        if request.event is None:
            raise request.error or StoreError("the store did not write an event. Try again.")
        return request.event

    def _write_pending(self) -> None:
        batch = [self._pending.popleft() for _ in range(len(self._pending))]
        try:
            self._write(batch)
        except BaseException as error:
            shared = StoreError("writing was interrupted. Try again.")
            if isinstance(error, StoreError):
                shared = error
            for request in batch:  # the transaction was rolled back, including successful appends
                request.event, request.error = None, shared
            raise
