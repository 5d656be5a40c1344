"""API keys: random, stored as hashes, with one role and an expiry date.

A key has the form ``eddi_<name>_<secret>``. The name is public and identifies the key in the store. The
secret has 256 random bits, so a plain SHA-256 hash of it reveals nothing.
"""

import hashlib
import hmac
import re
import secrets
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from enum import StrEnum

from starlette.requests import HTTPConnection

from eddi.errors import EddiError
from eddi.store.base import Store

KEY_PATTERN = re.compile(r"eddi_([0-9a-f]{12})_([A-Za-z0-9_-]{43})")
MAX_GUESSES = 10  # wrong secrets of one key ...
GUESS_PERIOD_S = 60  # ... within this time, after which the key is refused for as long
SCOPE_KEY = "eddi.key"  # of a request: the name of the API key that it was sent with
NO_KEY = "analyst"  # the author of changes on a server that needs no keys
DUMMY_HASH = "0" * 64  # compared with if there is no such key, so that the response takes as long


class KeyMissingError(EddiError, PermissionError):
    """There is no key, or it is not valid."""

    status = 401
    title = "This needs a key"


class KeyForbiddenError(EddiError, PermissionError):
    """The key is valid, but its role does not allow the request."""

    status = 403
    title = "This key is not allowed to do that"


class TooManyGuessesError(EddiError, PermissionError):
    """Too many wrong secrets were sent with the name of one key."""

    status = 429
    title = "Too many attempts with this key"


class KeyNotFoundError(EddiError, LookupError):
    """There is no key with this name."""


class Role(StrEnum):
    """The role of a key."""

    RESPONDENT = "respondent"  # holds interviews
    ANALYST = "analyst"  # holds interviews, and manages questionnaires and models
    OPERATOR = "operator"  # sees metrics and the workshop, never an interview


@dataclass(frozen=True)
class Key:
    """A key as it is stored, without its secret."""

    name: str
    role: Role
    expires: datetime
    is_revoked: bool
    sha256: str

    def is_valid(self, now: datetime) -> bool:
        """Whether the key is neither revoked nor expired."""
        return not self.is_revoked and now < self.expires


class GuessLimit:
    """Limits how many wrong secrets may be sent per key, from however many addresses."""

    def __init__(self, *, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._failures: dict[str, deque[float]] = {}  # times of the last wrong secrets, by name of key
        self._lock = threading.Lock()

    def check(self, name: str) -> None:
        """Check that another secret may be tried.

        Raises:
            TooManyGuessesError: there were `MAX_GUESSES` wrong ones within `GUESS_PERIOD_S`.
        """
        with self._lock:
            failures = self._failures.get(name) or deque()
            if len(failures) == MAX_GUESSES and self._clock() - failures[0] < GUESS_PERIOD_S:
                raise TooManyGuessesError(
                    f"{MAX_GUESSES} requests with this key had a wrong secret. "
                    f"Try again in {GUESS_PERIOD_S} seconds."
                )

    def count(self, name: str) -> None:
        """Count a wrong secret."""
        with self._lock:
            self._failures.setdefault(name, deque(maxlen=MAX_GUESSES)).append(self._clock())


class Keys:
    """The keys of a store."""

    def __init__(self, store: Store) -> None:
        self.store = store
        self._guesses = GuessLimit()

    def issue(self, role: Role, *, days: float) -> str:
        """Create a key and return it. It cannot be read again later."""
        name, secret = secrets.token_hex(6), secrets.token_urlsafe(32)
        expires = datetime.now(UTC) + timedelta(days=days)
        facts = {"role": str(role), "expires": expires.isoformat(), "sha256": _hash(secret)}
        self.store.append(_stream(name), "issued", facts, after=0)
        return f"eddi_{name}_{secret}"

    def revoke(self, name: str) -> None:
        """Make a key invalid from now on.

        Raises:
            KeyNotFoundError: there is no key with this name.
        """
        if self.find(name) is None:
            raise KeyNotFoundError(f"there is no key {name!r}. `eddi keys list` lists them.")
        self.store.append(_stream(name), "revoked", {}, after=len(self.store.read(_stream(name))))

    def find(self, name: str) -> Key | None:
        """Return the key with this name."""
        events = self.store.read(_stream(name))
        if not events or events[0].is_forgotten:
            return None
        facts = events[0].facts
        return Key(
            name,
            Role(facts["role"]),
            expires=datetime.fromisoformat(facts["expires"]),
            is_revoked=any(event.kind == "revoked" for event in events),
            sha256=facts["sha256"],
        )

    def all(self) -> Iterator[Key]:
        """Yield all keys, including revoked and expired ones."""
        for stream in self.store.streams("key/"):
            if (key := self.find(stream.removeprefix("key/"))) is not None:
                yield key

    def check(self, text: str, roles: frozenset[Role]) -> Key:
        """Return the key that ``text`` is, if it is valid and has one of these roles.

        Raises:
            KeyMissingError: the key is unknown, wrong, revoked or expired.
            KeyForbiddenError: the key has another role.
            TooManyGuessesError: too many wrong secrets were sent with the name of this key.
        """
        parts = KEY_PATTERN.fullmatch(text)
        key = self.find(parts[1]) if parts else None
        if key is not None:
            self._guesses.check(key.name)
        secret_hash = _hash(parts[2] if parts else "")
        is_correct = hmac.compare_digest(secret_hash, key.sha256 if key else DUMMY_HASH)
        if key is not None and not is_correct:
            self._guesses.count(key.name)
        if key is None or not is_correct or not key.is_valid(datetime.now(UTC)):
            raise KeyMissingError(
                "this request needs a valid key, neither expired nor revoked. Send it as "
                "'Authorization: Bearer eddi_...'. An operator creates keys with `eddi keys issue`."
            )
        if key.role not in roles:
            allowed = " or ".join(sorted(roles))
            raise KeyForbiddenError(
                f"this request needs a key with the role {allowed}; yours has the role {key.role}."
            )
        return key


def get_author(request: HTTPConnection) -> str:
    """The name of the API key that a request was sent with; events record it."""
    return str(request.scope.get(SCOPE_KEY, NO_KEY))


def _hash(secret: str) -> str:
    return hashlib.sha256(secret.encode()).hexdigest()


def _stream(name: str) -> str:
    return f"key/{name}"
