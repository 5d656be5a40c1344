"""Anchors: signed lists of the ends of all streams, kept outside the store.

The hashes of a store reveal edits, but whoever can write to the database can rewrite a whole stream, or
delete it, and compute all hashes again. An anchor lists the number and the hash of the last event of every
stream at some time, and is signed with a key that is not in the database. `compare_with_anchor` finds
every stream that no longer continues from there. Forgetting a stream keeps its hashes, so anchors remain
valid. Events that are newer than the last anchor are not covered.

The file has a header as one line of JSON, and a line for each stream: the SHA-256 of its name, the number
and the hash of its last event. The names themselves are secret: that of an interview is its link.
"""

import hashlib
import hmac
import json
import re
import secrets
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from eddi.store.base import Fault, StoreError
from eddi.store.connection import create_private_file

FORMAT = "eddi-anchor-1"
MIN_KEY_BYTES = 32
MAX_KEY_BYTES = 4096
LINE = re.compile(r"([0-9a-f]{64}) ([1-9][0-9]{0,9}) ([0-9a-f]{64})")

EventHash = tuple[str, int, str]  # stream, number and hash of an event


class AnchorError(StoreError):
    """An anchor or its key is damaged, forged or missing."""


@dataclass(frozen=True)
class Anchor:
    """The ends of all streams at one time.

    Args:
        at: when it was created, ISO 8601.
        heads: number and hash of the last event, by the SHA-256 of the stream's name.
    """

    at: str
    heads: dict[str, tuple[int, str]]

    @property
    def root(self) -> str:
        """The hash over the ends of all streams."""
        sha256 = hashlib.sha256()
        for line in self.lines():
            sha256.update(f"{line}\n".encode())
        return sha256.hexdigest()

    def lines(self) -> Iterator[str]:
        """Yield a line for each stream, in a fixed order."""
        for name, (number, event_hash) in sorted(self.heads.items()):
            yield f"{name} {number} {event_hash}"

    def header(self, key: bytes) -> str:
        """Return the signed header as one line of JSON."""
        content = {"format": FORMAT, "at": self.at, "streams": len(self.heads), "root": self.root}
        return json.dumps({**content, "signature": _sign(key, content)})


def create_anchor(hashes: Iterable[EventHash]) -> Anchor:
    """Create the anchor of a store, given the hashes of its events in order."""
    heads = {stream: (number, event_hash) for stream, number, event_hash in hashes}
    at = datetime.now(UTC).isoformat(timespec="seconds")
    return Anchor(at, {_hash_name(stream): head for stream, head in heads.items()})


def parse_anchor(text: str, key: bytes) -> Anchor:
    """Read an anchor and check its signature.

    Raises:
        AnchorError: it is not an anchor, it was changed, or it was signed with another key.
    """
    header, _, rest = text.partition("\n")
    try:
        document = json.loads(header)
        signature = str(document.pop("signature"))
    except (ValueError, KeyError, AttributeError, TypeError):
        raise AnchorError("this is not an anchor. Use a file written by `eddi store anchor`.") from None
    if not hmac.compare_digest(_sign(key, document).encode(), signature.encode()):
        raise AnchorError("the signature of the anchor is wrong: it was changed, or the key is another.")
    matches = map(LINE.fullmatch, rest.splitlines())
    heads = {match[1]: (int(match[2]), match[3]) for match in matches if match}
    anchor = Anchor(str(document["at"]), heads)
    if document["format"] != FORMAT or anchor.root != document["root"]:
        raise AnchorError("the lines of the anchor do not match its signed header: they were changed.")
    return anchor


def compare_with_anchor(anchor: Anchor, hashes: Iterable[EventHash]) -> Iterator[Fault]:
    """Yield the streams that do not continue from their end in the anchor."""
    missing = dict(anchor.heads)
    current, name = "", ""
    for stream, number, event_hash in hashes:
        if stream != current or not name:
            current, name = stream, _hash_name(stream)
        if missing.get(name, (0, ""))[0] != number:
            continue
        if missing.pop(name)[1] != event_hash:
            yield Fault(stream, number, f"differs from the anchor of {anchor.at}: it was rewritten")
    for name, (number, _) in missing.items():
        stream = f"stream with the SHA-256 {name[:16]}..."
        yield Fault(stream, number, f"is in the anchor of {anchor.at} but no longer in the store")


def read_key(path: Path, *, create: bool = False) -> bytes:
    """Read the key that signs anchors.

    Args:
        path: the file of the key.
        create: create the file, readable only by its owner, if it does not exist.

    Raises:
        AnchorError: there is no such file, or the key is too short.
    """
    if create and not path.exists():
        create_private_file(path)
        path.write_text(secrets.token_hex(MIN_KEY_BYTES), encoding="ascii")
    try:
        with path.open("rb") as file:
            key = file.read(MAX_KEY_BYTES).strip()
    except FileNotFoundError:
        raise AnchorError(f"there is no key at {str(path)!r}. Use the key of the anchor.") from None
    if len(key) < MIN_KEY_BYTES:
        raise AnchorError(f"the key at {str(path)!r} is too short; it needs {MIN_KEY_BYTES} characters.")
    return key


def _sign(key: bytes, content: Any) -> str:
    text = json.dumps(content, sort_keys=True, separators=(",", ":"))
    return hmac.new(key, text.encode(), hashlib.sha256).hexdigest()


def _hash_name(stream: str) -> str:
    return hashlib.sha256(stream.encode()).hexdigest()
