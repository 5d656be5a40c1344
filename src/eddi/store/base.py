"""The event model and the `Store` protocol. This module uses neither SQL nor torch.

A store is append-only: it keeps *events* in *streams* and never changes them. The current state of an
interview follows from replaying its events. Every event carries the hash of the previous event, so
`Store.verify` detects events that were edited, deleted or moved.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from eddi.errors import EddiError

BUSY = "the store of answers does not respond. Nothing was changed. Try again in a moment."
FORGOTTEN = "forgotten"  # kind of the last event of a stream whose facts were erased


class StoreError(EddiError, RuntimeError):
    """A store cannot be opened, read or written."""


class StoreConflict(StoreError):  # noqa: N818  # an expected outcome of concurrent writes, not a mistake
    """Another writer appended to the stream first. Read it again before appending."""


class StreamNotFoundError(StoreError, LookupError):
    """The stream does not exist."""


class StreamForgottenError(StoreError, LookupError):
    """The stream was forgotten and accepts no more events."""

    status = 404
    title = "This was forgotten"


class FactsError(StoreError, ValueError):
    """The facts are not plain JSON, or the name of a stream or kind is invalid."""


class StoreBusyError(StoreError, TimeoutError):
    """The store was locked for too long."""

    status = 503
    title = "We are very busy just now"
    public_message = BUSY


class StoreUrlError(StoreError, ValueError):
    """The URL of a store is invalid."""


class StoreUnreachableError(StoreError, ConnectionError):
    """The database server does not respond or refuses the connection."""

    status = 503
    title = "We are very busy just now"
    public_message = BUSY


class StoreFullError(StoreError, OSError):
    """The disk of the store has no space left, or a quota is reached."""

    status = 507
    title = "This server has no space left"
    public_message = (
        "the store of answers has no space left. Nothing of this request was saved. Try again later; the "
        "operator has to free space."
    )


class StoreDiskError(StoreError, OSError):
    """The disk of the store cannot be read or written."""

    status = 503
    title = "This server cannot save answers just now"
    public_message = (
        "the disk of the store cannot be read or written. Nothing of this request was saved. Try again "
        "later."
    )


class StoreNotFoundError(StoreError, LookupError):
    """There is no store at this URL."""


class StoreSchemaError(StoreError):
    """The tables of a store are older or newer than this version of eddi expects."""


@dataclass(frozen=True)
class Event:
    """An immutable event of a stream.

    The hash covers the facts only through ``digest``, so the chain remains valid after the facts are
    erased. The random ``salt`` prevents guessing a short answer from its digest.
    """

    stream: str  # "interview/<id>", "opening/<id>", "questionnaire/<name>", "exposure/<name>/<id>" ...
    number: int  # position in the stream: 1, 2, 3 ... without gaps
    kind: str  # "opened", "told", "changed", "undone", "closed", "published" ...
    facts: Mapping[str, Any]  # plain JSON; empty once forgotten
    at: str  # ISO 8601, UTC
    before: str  # hash of the previous event; "" for the first
    hash: str  # sha256 over canonical JSON of stream, number, kind, at, before and digest
    digest: str  # sha256 over the salt and canonical JSON of the facts
    salt: str  # random; "" once the facts are forgotten

    @property
    def is_forgotten(self) -> bool:
        """Whether the facts were erased."""
        return not self.salt

    def to_document(self) -> dict[str, Any]:
        """Return the event as plain JSON."""
        return {**vars(self), "facts": dict(self.facts)}

    @classmethod
    def from_document(cls, document: Mapping[str, Any]) -> "Event":
        """Build the event from the output of `to_document`."""
        return cls(**document)


@dataclass(frozen=True)
class Fault:
    """A difference between what a store contains and what was written to it."""

    stream: str
    number: int | None  # of the event; None if the fault concerns the whole stream
    message: str  # continues a sentence that starts with the stream and the event

    def __str__(self) -> str:
        location = self.stream if self.number is None else f"{self.stream}, event {self.number}"
        return f"{location}: {self.message}"


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

    def result(self) -> Event:
        """Return the event, or raise the error."""
        if self.event is None:
            raise self.error or StoreError("the store did not write an event. Try again.")
        return self.event


class Store(Protocol):
    """An append-only event store, safe to use from many threads and many processes."""

    def append(self, stream: str, kind: str, facts: Mapping[str, Any], *, after: int) -> Event:
        """Append an event with number ``after + 1``. On return the event is on disk.

        Raises:
            StoreConflict: the stream does not end at ``after`` because another writer was first.
            StreamForgottenError: the stream was forgotten.
            FactsError: the facts are not plain JSON, or ``stream`` or ``kind`` is not a valid name.
        """

    def append_all(self, requests: Sequence[PendingAppend]) -> None:
        """Append events to many streams at once, and set the event or the error of each request.

        A request that fails does not affect other streams; later ones for the same stream fail, too.

        Raises:
            StoreError: nothing was written, for example because the store does not respond.
        """

    def read(self, stream: str, *, after: int = 0) -> list[Event]:
        """Return the events of a stream in order, starting with number ``after + 1``.

        An unknown stream has no events.
        """

    def read_all(self, streams: Sequence[str]) -> dict[str, list[Event]]:
        """Return the events of several streams in order."""

    def streams(self, prefix: str = "") -> Iterator[str]:
        """Yield the names of all streams that start with ``prefix``, sorted by code point."""

    def read_ends(self, prefix: str) -> Iterator[tuple[Event, Event]]:
        """Yield the first and the last event of each stream with this prefix, sorted by name.

        Forgotten streams are left out. This is much faster than reading all events.
        """

    def forget(self, stream: str, *, by: str = "") -> None:
        """Erase the facts of a stream permanently and append a final event of kind `FORGOTTEN`.

        Forgetting a stream again changes nothing. Programs that read the store do not delay it, and it does
        not delay programs that write.

        Args:
            stream: the stream.
            by: who erases it, such as the name of an API key; a fact of the final event.

        Raises:
            StreamNotFoundError: the stream does not exist.
        """

    def scrub(self) -> bool:
        """Try to remove erased facts from files and logs, too; return whether nothing of them is left.

        A program that reads an older snapshot may be in the way. Then call this again later.
        """

    def idle_streams(self, prefix: str, before: str) -> list[str]:
        """Return the streams with this prefix whose last event is older than the time ``before``.

        Forgotten streams are left out. The time is ISO 8601 in UTC, as in `Event.at`.
        """

    def verify(self) -> list[Fault]:
        """Return every event that was edited, deleted, moved or truncated."""

    def check_write(self) -> None:
        """Check that events can be appended, with a durable write that adds none.

        Raises:
            StoreError: the store cannot be written.
        """

    def close(self) -> None:
        """Release files and connections."""
