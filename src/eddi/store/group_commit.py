"""Group commit: concurrent appends share one transaction and therefore one disk sync."""

import threading
from collections import deque
from collections.abc import Callable, Sequence

from eddi.store.base import PendingAppend, StoreError
from eddi.store.chain import check_names


def check_request(request: PendingAppend) -> bool:
    """Whether the names of an append are valid; if not, its error is set."""
    try:
        check_names(request.stream, request.kind)
    except StoreError as error:
        request.error = error
    return request.error is None


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

    def append(self, requests: Sequence[PendingAppend]) -> None:
        """Write ``requests``, alone or in a batch with others, and set the event or error of each."""
        self._pending.extend(requests)
        with self._lock:
            if not all(request.is_done for request in requests):
                self._write_pending()

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
