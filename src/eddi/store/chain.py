"""The hash chain: how events are hashed, and how changed events are found.

The hashes are not secret. They reveal damage, mistakes and silent edits. Someone with write access to
the database can rewrite a whole stream consistently. Comparing the store with an earlier export
(`compare_with_export`) or with a signed anchor (`eddi.store.anchor`) reveals that.
"""

import hashlib
import json
import secrets
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from eddi.store.base import FORGOTTEN, Event, FactsError, Fault, StoreConflict, StreamForgottenError

MAX_NAME_LENGTH = 250  # characters of a stream's name; an index entry has to hold it
N_SALT_BYTES = 16  # 128 bits: no two events share a salt


@dataclass(frozen=True)
class Head:
    """The end of a stream, stored separately from its events so that a truncated stream is detected."""

    number: int
    hash: str
    is_forgotten: bool = False


EMPTY_HEAD = Head(0, "")  # of a stream without events


def create_event(stream: str, kind: str, facts: Mapping[str, Any], *, head: Head, after: int) -> Event:
    """Create the event that follows ``head``.

    Raises:
        StreamForgottenError: the stream was forgotten.
        StoreConflict: the stream does not end at ``after``.
        FactsError: the facts are not plain JSON.
    """
    if head.is_forgotten:
        raise StreamForgottenError(
            f"{stream!r} was forgotten; no events can be added to it. Start a new stream."
        )
    if head.number != after:
        raise conflict_error(stream, f"event {head.number}, not at event {after}")
    return _create_event(stream, kind, canonical_json(facts), head)


def conflict_error(stream: str, end: str) -> StoreConflict:
    """Return the error for a writer that was not first."""
    return StoreConflict(
        f"{stream!r} ends at {end}: another writer was first. "
        "Read the stream again and decide whether to append."
    )


def create_tombstone(stream: str, head: Head, *, by: str = "") -> Event:
    """Create the final event of a stream whose facts are erased; its own facts say by whom, if known."""
    return _create_event(stream, FORGOTTEN, canonical_json({"by": by} if by else {}), head)


def _create_event(stream: str, kind: str, text: str, head: Head) -> Event:
    number, salt = head.number + 1, secrets.token_hex(N_SALT_BYTES)
    digest = compute_digest(salt, text)
    at = datetime.now(UTC).isoformat(timespec="microseconds")
    event_hash = compute_hash(stream, number, kind, at=at, before=head.hash, digest=digest)
    return Event(stream, number, kind, json.loads(text), at, head.hash, event_hash, digest, salt)


def is_valid_name(name: str) -> bool:
    """Whether ``name`` is allowed as the name of a stream or an event kind."""
    return 0 < len(name) <= MAX_NAME_LENGTH and name.isprintable()


def check_names(stream: str, kind: str) -> None:
    """Reject names that some databases cannot store or sort.

    Raises:
        FactsError: a name is invalid.
    """
    for label, name in (("stream name", stream), ("event kind", kind)):
        if not is_valid_name(name):
            raise FactsError(
                f"invalid {label} {name[:MAX_NAME_LENGTH]!r}. "
                f"Use 1 to {MAX_NAME_LENGTH} printable characters."
            )
    if kind == FORGOTTEN:
        raise FactsError(f"events of kind {kind!r} cannot be appended. Call forget() instead.")


def canonical_json(facts: Mapping[str, Any]) -> str:
    """Return facts as canonical JSON: equal facts always give the same text.

    Raises:
        FactsError: the facts are not plain JSON.
    """
    try:
        text = _dump_canonical(dict(facts))
        is_plain = json.loads(text) == dict(facts)
    except (TypeError, ValueError, RecursionError) as error:
        raise FactsError(f"facts must be plain JSON ({error}). Convert them first.") from None
    if not is_plain:
        raise FactsError(
            "facts must be a plain JSON object that reads back unchanged. "
            "Use text for keys, and lists instead of tuples."
        )
    return text


def _dump_canonical(document: object) -> str:
    # ASCII only: not every database can store a lone surrogate or a null character.
    return json.dumps(document, sort_keys=True, separators=(",", ":"), allow_nan=False)


def compute_digest(salt: str, text: str) -> str:
    """Return a commitment to the facts that reveals nothing about them once the salt is erased."""
    return hashlib.sha256(f"{salt}{text}".encode()).hexdigest()


def compute_hash(stream: str, number: int, kind: str, *, at: str, before: str, digest: str) -> str:
    """Return the hash that links an event to the previous one."""
    hashed = {
        "stream": stream,
        "number": number,
        "kind": kind,
        "at": at,
        "before": before,
        "digest": digest,
    }
    return hashlib.sha256(_dump_canonical(hashed).encode()).hexdigest()


@dataclass(frozen=True)
class StoredEvent:
    """An event as stored, with its facts as text, which may no longer be valid JSON after an edit."""

    event: Event
    text: str | None  # None if the facts were erased


def find_faults(stream: str, stored: Iterable[StoredEvent], head: Head | None) -> Iterator[Fault]:
    """Yield what is wrong with the events of one stream, given in order, or with its head."""
    last: Event | None = None
    erased: list[int] = []
    for stored_event in stored:
        event = stored_event.event
        yield from _check_link(stream, last, event)
        yield from _check_hashes(stream, stored_event)
        if stored_event.text is None:
            erased.append(event.number)
        last = event
    if erased and (last is None or last.kind != FORGOTTEN):
        message = "its facts are missing although the stream was never forgotten"
        yield from (Fault(stream, number, message) for number in erased)
    yield from _check_head(stream, last, head)


def _check_link(stream: str, last: Event | None, event: Event) -> Iterator[Fault]:
    last_number, last_hash = (last.number, last.hash) if last else (0, "")
    if event.number > last_number + 1:
        is_single = event.number == last_number + 2
        rest = "" if is_single else f", as are all events up to {event.number - 1}"
        yield Fault(stream, last_number + 1, f"is missing{rest}")
    elif event.number != last_number + 1:
        yield Fault(stream, event.number, f"has a number that cannot follow {last_number}")
    elif event.before != last_hash:
        yield Fault(
            stream, event.number, "does not match the previous event's hash: one of them was changed"
        )


def _check_hashes(stream: str, stored: StoredEvent) -> Iterator[Fault]:
    event = stored.event
    if stored.text is not None and compute_digest(event.salt, stored.text) != event.digest:
        yield Fault(stream, event.number, "its facts were edited: they do not match their digest")
    parts = {"at": event.at, "before": event.before, "digest": event.digest}
    if compute_hash(event.stream, event.number, event.kind, **parts) != event.hash:
        yield Fault(stream, event.number, "was edited: it does not match its own hash")


def _check_head(stream: str, last: Event | None, head: Head | None) -> Iterator[Fault]:
    number, last_hash = (last.number, last.hash) if last else (0, "")
    if head is None:
        yield Fault(stream, None, f"has events up to {number}, but the record of its end is missing")
    elif head.number > number:
        yield Fault(
            stream, number + 1, f"is missing: the stream was truncated; it should end at {head.number}"
        )
    elif head.number < number:
        yield Fault(stream, number, f"was inserted: the stream ends at event {head.number}")
    elif head.hash != last_hash:
        yield Fault(stream, number, "is not the event that this stream ended with")
    elif head.is_forgotten != (last is not None and last.kind == FORGOTTEN):
        yield Fault(stream, None, "has a forgotten flag that contradicts its last event")


def compare_with_export(
    exported: Iterable[Event], read: Callable[[str], list[Event]]
) -> Iterator[Fault]:
    """Yield the events of an earlier export that are missing from a store or differ in it."""
    stream, hashes = "", dict[int, str]()
    for event in exported:
        if event.stream != stream:
            stream = event.stream
            hashes = {current.number: current.hash for current in read(stream)}
        if event.number not in hashes:
            yield Fault(stream, event.number, "is in the earlier export but no longer in the store")
        elif hashes[event.number] != event.hash:
            yield Fault(stream, event.number, "differs from the earlier export: it was rewritten")
