"""What is remembered, and what a store promises. No SQL here, and no torch.

A store keeps *events* in *streams*, and adds, never changes: what an interview is now follows from
replaying its events. Every event carries the hash of the one before it, so that `Store.verify`
finds what was edited, left out or put elsewhere.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from eddi.errors import EddiError

FORGOTTEN = "forgotten"  # the kind of the event that ends a stream whose facts were erased


class StoreError(EddiError, RuntimeError):
    """A store cannot be opened, read, or written to."""


class StoreConflict(StoreError):  # noqa: N818  # it is how two writers meet, not a mistake
    """Somebody else added to the stream first; read it again, then decide."""


class StreamNotFoundError(StoreError, LookupError):
    """There is no such stream."""


class StreamForgottenError(StoreError, LookupError):
    """The stream was forgotten; nothing can be added to it."""


class FactsError(StoreError, ValueError):
    """What was to be kept is not plain JSON, or the stream's name is none."""


class StoreBusyError(StoreError, TimeoutError):
    """Others kept the store locked for too long."""


class StoreUrlError(StoreError, ValueError):
    """The address of a store cannot be understood."""


class StoreUnreachableError(StoreError, ConnectionError):
    """The database does not answer, or does not let us in."""


class StoreNotFoundError(StoreError, LookupError):
    """There is no store at this address."""


class StoreSchemaError(StoreError):
    """The tables of a store are older or newer than this version of eddi."""


@dataclass(frozen=True)
class Event:
    """One thing that happened, as number ``number`` of its stream. It never changes.

    The hash covers the facts through ``digest``, so that the chain still holds once they are
    forgotten; ``salt`` keeps anyone from guessing a short answer back from its digest.
    """

    stream: str  # "interview/<id>", "questionnaire/<name>", "key/<id>", "job/<id>"
    number: int  # 1, 2, 3 ... without gaps
    kind: str  # "opened", "told", "undone", "closed", "published" ...
    facts: Mapping[str, Any]  # plain JSON; empty once forgotten
    at: str  # ISO 8601, UTC
    before: str  # the hash of the event before; "" for the first
    hash: str  # sha256 over canonical JSON of stream, number, kind, at, before and digest
    digest: str  # sha256 over the salt and canonical JSON of the facts
    salt: str  # random; "" once the facts are forgotten

    @property
    def forgotten(self) -> bool:
        """Whether the facts were erased."""
        return not self.salt

    def to_document(self) -> dict[str, Any]:
        """The event as plain JSON."""
        return {**vars(self), "facts": dict(self.facts)}

    @classmethod
    def from_document(cls, document: Mapping[str, Any]) -> "Event":
        """The event that `to_document` described."""
        return cls(**document)


@dataclass(frozen=True)
class Fault:
    """Something in a store that is not as it was written."""

    stream: str
    number: int | None  # of the event; None where the whole stream is meant
    words: str  # what is wrong, to be read after the stream's name

    def __str__(self) -> str:
        where = self.stream if self.number is None else f"{self.stream}, event {self.number}"
        return f"{where}: {self.words}"


class Store(Protocol):
    """Where events live. Many threads may use one store, and many processes one database."""

    def append(self, stream: str, kind: str, facts: Mapping[str, Any], *, after: int) -> Event:
        """Add an event as number ``after + 1``. When this returns, the event is on disk.

        Raises:
            StoreConflict: the stream does not end at ``after``: somebody else was first.
            StreamForgottenError: the stream was forgotten.
            FactsError: the facts are not plain JSON, or ``stream`` or ``kind`` is not a name.
        """

    def read(self, stream: str, *, after: int = 0) -> list[Event]:
        """The events of a stream in order, from number ``after + 1`` on; none for an unknown one."""

    def streams(self, prefix: str = "") -> Iterator[str]:
        """The names of all streams that begin with ``prefix``, in the order of their characters."""

    def forget(self, stream: str) -> None:
        """Erase the facts of a stream for good. That they were, and when, stays as its last event.

        Forgetting what was forgotten changes nothing.

        Raises:
            StreamNotFoundError: there is no such stream.
        """

    def verify(self) -> list[Fault]:
        """Everything that is not as it was written: edited, missing, put elsewhere, cut off."""

    def close(self) -> None:
        """Let go of files and connections."""
