"""The chain of hashes: how an event is sealed, and how one that was touched is found.

The hashes are not secret. They find damage, slips and quiet edits; someone who may write to the
database and rewrites a whole stream is found by comparing with an earlier export (`faults_against`).
"""

import hashlib
import json
import secrets
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from eddi.store.base import FORGOTTEN, Event, FactsError, Fault, StoreConflict, StreamForgottenError

MAX_NAME = 250  # characters of a stream's name; an index entry has to hold it
N_SALT_BYTES = 16  # as many as a random key has: enough that no two events share one


@dataclass(frozen=True)
class Head:
    """Where a stream ends; kept apart from its events, so that a tail cut off is missed."""

    number: int
    hash: str
    forgotten: bool = False


START = Head(0, "")


def sealed(stream: str, kind: str, facts: Mapping[str, Any], *, head: Head, after: int) -> Event:
    """The event that follows ``head``, if that is where the writer believes the stream to end."""
    if head.forgotten:
        raise StreamForgottenError(f"{stream!r} was forgotten; nothing can be added to it. Begin anew.")
    if head.number != after:
        raise conflict(stream, f"at event {head.number}, not at {after}")
    return _follow(stream, kind, text_of(facts), head)


def conflict(stream: str, ends: str) -> StoreConflict:
    """Why somebody who was second cannot add to a stream."""
    return StoreConflict(
        f"{stream!r} ends {ends}: somebody else was first. "
        "Read it again, then decide whether to add to it."
    )


def tombstone(stream: str, head: Head) -> Event:
    """The event that ends a stream whose facts are erased."""
    return _follow(stream, FORGOTTEN, "{}", head)


def _follow(stream: str, kind: str, text: str, head: Head) -> Event:
    number, salt = head.number + 1, secrets.token_hex(N_SALT_BYTES)
    digest = digest_of(salt, text)
    at = datetime.now(UTC).isoformat(timespec="microseconds")
    seal = hash_of(stream, number, kind, at=at, before=head.hash, digest=digest)
    return Event(stream, number, kind, json.loads(text), at, head.hash, seal, digest, salt)


def is_name(name: str) -> bool:
    """Whether a stream can be called so."""
    return 0 < len(name) <= MAX_NAME and name.isprintable()


def check_names(stream: str, kind: str) -> None:
    """Refuse names that some database could not keep or sort.

    Raises:
        FactsError: a name is none.
    """
    for what, name in (("a stream", stream), ("an event's kind", kind)):
        if not is_name(name):
            raise FactsError(
                f"{what} cannot be called {name[:MAX_NAME]!r}: "
                f"give it 1 to {MAX_NAME} printable characters."
            )
    if kind == FORGOTTEN:
        raise FactsError(f"an event of kind {kind!r} is written by forget() alone. Use that.")


def text_of(facts: Mapping[str, Any]) -> str:
    """Canonical JSON of plain facts: the same facts always give the same text.

    Raises:
        FactsError: the facts are not plain JSON.
    """
    try:
        text = _canonical(dict(facts))
        plain = json.loads(text) == dict(facts)
    except (TypeError, ValueError, RecursionError) as error:
        raise FactsError(f"facts must be plain JSON ({error}). Convert them first.") from None
    if not plain:
        raise FactsError(
            "facts must be a plain JSON object that reads back as it was written. Use text for the "
            "names in it, and lists, not tuples."
        )
    return text


def _canonical(facts: object) -> str:
    # ASCII only: a lone surrogate or a zero character would not pass through every database.
    return json.dumps(facts, sort_keys=True, separators=(",", ":"), allow_nan=False)


def digest_of(salt: str, text: str) -> str:
    """A commitment to facts that tells nothing of them once the salt is gone."""
    return hashlib.sha256(f"{salt}{text}".encode()).hexdigest()


def hash_of(stream: str, number: int, kind: str, *, at: str, before: str, digest: str) -> str:
    """What seals an event to the one before it."""
    rest = {
        "stream": stream,
        "number": number,
        "kind": kind,
        "at": at,
        "before": before,
        "digest": digest,
    }
    return hashlib.sha256(_canonical(rest).encode()).hexdigest()


@dataclass(frozen=True)
class Kept:
    """An event as it lies in a store; its facts as text, which an edit may have broken."""

    event: Event
    text: str | None  # None where they were erased


def faults_in(stream: str, kept: Iterable[Kept], head: Head | None) -> Iterator[Fault]:
    """What is wrong with the events of one stream, given in order, and with where it should end."""
    last, erased = None, list[int]()
    for each in kept:
        yield from _link(stream, last, each.event)
        yield from _seal(stream, each)
        erased += [each.event.number] if each.text is None else []
        last = each.event
    if erased and (last is None or last.kind != FORGOTTEN):
        words = "its facts are gone though the stream was never forgotten"
        yield from (Fault(stream, number, words) for number in erased)
    yield from _end(stream, last, head)


def _link(stream: str, last: Event | None, event: Event) -> Iterator[Fault]:
    number, seal = (last.number, last.hash) if last else (0, "")
    if event.number > number + 1:
        more = "" if event.number == number + 2 else f", and so are all up to {event.number - 1}"
        yield Fault(stream, number + 1, f"is missing{more}")
    elif event.number != number + 1:
        yield Fault(stream, event.number, f"has a number that cannot follow {number}")
    elif event.before != seal:
        yield Fault(stream, event.number, "does not follow the event before it: one of them was changed")


def _seal(stream: str, kept: Kept) -> Iterator[Fault]:
    event = kept.event
    if kept.text is not None and digest_of(event.salt, kept.text) != event.digest:
        yield Fault(stream, event.number, "its facts were edited: they do not match their digest")
    parts = {"at": event.at, "before": event.before, "digest": event.digest}
    if hash_of(event.stream, event.number, event.kind, **parts) != event.hash:
        yield Fault(stream, event.number, "was edited: it does not match its own hash")


def _end(stream: str, last: Event | None, head: Head | None) -> Iterator[Fault]:
    number, seal = (last.number, last.hash) if last else (0, "")
    if head is None:
        yield Fault(stream, None, f"has events up to {number}, but where it should end is gone")
    elif head.number > number:
        yield Fault(
            stream, number + 1, f"is missing: the stream was cut off before its end at {head.number}"
        )
    elif head.number < number:
        yield Fault(stream, number, f"was put in: the stream ends at event {head.number}")
    elif head.hash != seal:
        yield Fault(stream, number, "is not the event this stream ended with")
    elif head.forgotten != (last is not None and last.kind == FORGOTTEN):
        yield Fault(stream, None, "is marked as forgotten and is not, or the other way round")


def faults_against(earlier: Iterable[Event], read: Callable[[str], list[Event]]) -> Iterator[Fault]:
    """Events of an earlier export that a store no longer has, or has otherwise."""
    stream, now = "", dict[int, str]()
    for event in earlier:
        if event.stream != stream:
            stream, now = event.stream, {each.number: each.hash for each in read(event.stream)}
        if event.number not in now:
            yield Fault(stream, event.number, "is in the earlier export and no longer in the store")
        elif now[event.number] != event.hash:
            yield Fault(
                stream, event.number, "is not what it was in the earlier export: it was rewritten"
            )
