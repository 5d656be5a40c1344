"""The queue of changes of interviews, and the thread that applies all waiting changes at once."""

import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field
from queue import Empty, SimpleQueue
from typing import Any, NamedTuple

from eddi.interview.interview import Interview
from eddi.service.interviews.batcher import BusyError
from eddi.service.interviews.history import History
from eddi.service.interviews.interview_view import InterviewView

TIMEOUT_S = 60.0  # a change that waited this long is given up


class Change(NamedTuple):
    """A change of an interview: its new state, and the event that is stored."""

    interview: Interview
    kind: str
    facts: dict[str, Any]


MakeChange = Callable[[History], Change]


@dataclass(eq=False)
class PendingChange:
    """A requested change of an interview.

    Args:
        key: of the interview.
        make_change: returns the change, given the history of the interview.
        after: the version that the change is based on; any if None.
        idempotency_key: names the request; a repeated request changes nothing.
        start: the history of a new interview, which has no events; None for an existing interview.
        is_timed: whether a respondent waits for the next question.
    """

    key: str
    make_change: MakeChange
    after: int | None = None
    idempotency_key: str | None = None
    start: History | None = None
    is_timed: bool = False
    n_attempts: int = 0
    may_use_cache: bool = True
    started_at: float = field(default_factory=time.perf_counter)
    result: "Future[InterviewView]" = field(default_factory=Future)

    def wait(self) -> InterviewView:
        """Return the interview after the change.

        Raises:
            BusyError: the change was not applied in time.
        """
        try:
            return self.result.result(TIMEOUT_S)
        except TimeoutError as error:
            if self.result.done():
                raise  # an error of the store, which is a TimeoutError, too
            raise BusyError("the server is busy. Try again in a moment.") from error


class ChangeQueue:
    """Applies changes on one thread, all that wait at once.

    Args:
        apply: applies changes, and sets the result of each.
        max_batch_size: maximum number of changes at once.
        max_waiting: maximum length of the queue.
    """

    def __init__(
        self,
        apply: Callable[[Sequence[PendingChange]], None],
        *,
        max_batch_size: int = 64,
        max_waiting: int = 1024,
    ) -> None:
        self._apply = apply
        self._max_batch_size, self._max_waiting = max_batch_size, max_waiting
        self._queue: SimpleQueue[PendingChange | None] = SimpleQueue()
        self._thread = threading.Thread(target=self._work, name="eddi-changes", daemon=True)
        self._thread.start()

    def submit(self, change: PendingChange) -> PendingChange:
        """Put a change into the queue.

        Raises:
            BusyError: the queue is full, or the server is shutting down.
        """
        self.check()
        self._queue.put(change)
        return change

    def check(self) -> None:
        """Raise `BusyError` if no change would be applied."""
        if not self._thread.is_alive():
            raise BusyError("the server is shutting down. Try again in a moment.")
        if self._queue.qsize() >= self._max_waiting:
            raise BusyError("the server is busy. Try again in a moment.")

    def close(self) -> None:
        """Apply all waiting changes, then stop."""
        self._queue.put(None)
        self._thread.join(TIMEOUT_S)

    def _work(self) -> None:
        is_last = False
        while not is_last:
            batch, is_last = self._collect()
            try:
                self._apply(batch)
            except Exception as error:  # the waiting requests must receive any error
                for change in batch:
                    if not change.result.done():
                        change.result.set_exception(error)

    def _collect(self) -> tuple[list[PendingChange], bool]:
        """Return the changes that wait, and whether the server is closing."""
        change = self._queue.get()
        batch: list[PendingChange] = []
        while change is not None:
            if change.result.set_running_or_notify_cancel():  # its client may have gone
                batch.append(change)
            if len(batch) == self._max_batch_size:
                return batch, False
            try:
                change = self._queue.get_nowait()
            except Empty:
                return batch, False
        return batch, True
