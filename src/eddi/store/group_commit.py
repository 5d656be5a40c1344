"""Appends that come at once share one transaction, and so one wait for the disk."""

import threading
from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from eddi.store.base import Event, StoreError


@dataclass(eq=False)
class Wish:
    """An event that somebody waits to have written; then the event, or why not."""

    stream: str
    kind: str
    facts: Mapping[str, Any]
    after: int
    event: Event | None = None
    error: StoreError | None = None


class Together:
    """Whoever's turn it is writes for all who wait; they find it done when theirs comes."""

    def __init__(self, write: Callable[[list[Wish]], None]) -> None:
        """Write wishes with ``write``, which returns when they are on disk, each granted or refused."""
        self._write = write
        self._waiting: deque[Wish] = deque()
        self._turn = threading.Lock()

    def grant(self, wish: Wish) -> Event:
        """Have a wish written, alone or with others."""
        self._waiting.append(wish)
        with self._turn:
            if wish.event is None and wish.error is None:
                self._write_all()
        if wish.event is None:
            raise wish.error or StoreError("the store left an event unwritten. Try again.")
        return wish.event

    def _write_all(self) -> None:
        wishes = [self._waiting.popleft() for _ in range(len(self._waiting))]
        try:
            self._write(wishes)
        except BaseException as error:
            told = (
                error
                if isinstance(error, StoreError)
                else StoreError("writing was interrupted. Try again.")
            )
            for wish in wishes:  # nothing of it was kept, whatever was granted on the way
                wish.event, wish.error = None, told
            raise
