"""API keys: random, kept only as hashes, of one role, and expiring.

A key reads ``eddi_<name>_<secret>``. Its name is public and finds it in the store; its secret has 256
random bits, so that a plain SHA-256 of it gives nothing away.
"""

import hashlib
import hmac
import re
import secrets
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from enum import StrEnum

from eddi.errors import EddiError
from eddi.store.base import Store

SHAPE = re.compile(r"eddi_([0-9a-f]{12})_([A-Za-z0-9_-]{43})")
NO_HASH = "0" * 64  # compared with where there is no such key, so that finding out takes as long


class KeyMissingError(EddiError, PermissionError):
    """There is no key, or one that does not open anything."""


class KeyForbiddenError(EddiError, PermissionError):
    """The key is good, but not for this."""


class KeyNotFoundError(EddiError, LookupError):
    """There is no key of this name."""


class Role(StrEnum):
    """What a key is for."""

    RESPONDENT = "respondent"  # holds interviews
    ANALYST = "analyst"  # holds interviews, and sees questionnaires and models
    OPERATOR = "operator"  # sees how the service fares, never an interview


@dataclass(frozen=True)
class Key:
    """What is known of a key; its secret is not."""

    name: str
    role: Role
    expires: datetime
    revoked: bool
    sha256: str

    def is_good(self, now: datetime) -> bool:
        """Whether it still opens anything."""
        return not self.revoked and now < self.expires


class Keys:
    """The keys of a store."""

    def __init__(self, store: Store) -> None:
        self.store = store

    def issue(self, role: Role, *, days: float) -> str:
        """Make a key; this is the only time it is seen."""
        name, secret = secrets.token_hex(6), secrets.token_urlsafe(32)
        expires = datetime.now(UTC) + timedelta(days=days)
        facts = {"role": str(role), "expires": expires.isoformat(), "sha256": _hash(secret)}
        self.store.append(_stream(name), "issued", facts, after=0)
        return f"eddi_{name}_{secret}"

    def revoke(self, name: str) -> None:
        """Make a key useless from now on."""
        if self.find(name) is None:
            raise KeyNotFoundError(f"there is no key {name!r}. `eddi keys list` names them.")
        self.store.append(_stream(name), "revoked", {}, after=len(self.store.read(_stream(name))))

    def find(self, name: str) -> Key | None:
        """What is known of the key of this name."""
        events = self.store.read(_stream(name))
        if not events or events[0].is_forgotten:
            return None
        facts = events[0].facts
        revoked = any(event.kind == "revoked" for event in events)
        expires = datetime.fromisoformat(facts["expires"])
        return Key(name, Role(facts["role"]), expires, revoked, facts["sha256"])

    def all(self) -> Iterator[Key]:
        """Every key there was, good or not."""
        for stream in self.store.streams("key/"):
            if (key := self.find(stream.removeprefix("key/"))) is not None:
                yield key

    def check(self, text: str, roles: frozenset[Role]) -> None:
        """Let a request through that carries ``text`` and needs one of these roles.

        Raises:
            KeyMissingError: the key is unknown, wrong, revoked or expired.
            KeyForbiddenError: the key is of another role.
        """
        parts = SHAPE.fullmatch(text)
        key = self.find(parts[1]) if parts else None
        right = hmac.compare_digest(_hash(parts[2] if parts else ""), key.sha256 if key else NO_HASH)
        if key is None or not right or not key.is_good(datetime.now(UTC)):
            raise KeyMissingError(
                "this needs a key that is known, neither expired nor revoked. Send it as "
                "'Authorization: Bearer eddi_...'; an operator makes one with `eddi keys issue`."
            )
        if key.role not in roles:
            wanted = " or ".join(sorted(roles))
            raise KeyForbiddenError(f"this needs a key of role {wanted}; yours is of role {key.role}.")


def _hash(secret: str) -> str:
    return hashlib.sha256(secret.encode()).hexdigest()


def _stream(name: str) -> str:
    return f"key/{name}"
