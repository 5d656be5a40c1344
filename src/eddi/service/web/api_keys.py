"""API keys: random, stored as hashes, with one role, an expiry date and a holder.

A key has the form ``eddi_<name>_<secret>``. The name is public and identifies the key in the store. The
secret has 256 random bits, so a plain SHA-256 hash of it reveals nothing. Events record the name of a key
as their author. Rotation replaces the secret and keeps the name, so a key is the account of its holder.
"""

import hashlib
import hmac
import re
import secrets
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from enum import StrEnum

from starlette.requests import HTTPConnection

from eddi.errors import EddiError
from eddi.service.errors import N_
from eddi.store.base import Store, StoreConflict

KEY_PATTERN = re.compile(r"eddi_([0-9a-f]{12})_([A-Za-z0-9_-]{43})")
NAME_PATTERN = re.compile(r"[0-9a-f]{12}")
MAX_HOLDER = 80  # characters
MAX_ATTEMPTS = 8  # to change a key that others change at the same time
MAX_GUESSES = 10  # wrong secrets of one key ...
GUESS_PERIOD_S = 60  # ... within this time, after which the key is refused for as long
SCOPE_KEY = "eddi.key"  # of a request: the name of the API key that it was sent with
NO_KEY = "analyst"  # the author of changes on a server that needs no keys
SERVER = "server"  # the author of what the server does by itself
COMMAND_LINE = "command line"  # the author of what an operator does there
DUMMY_HASH = "0" * 64  # compared with if there is no such key, so that the response takes as long


class KeyMissingError(EddiError, PermissionError):
    """There is no key, or it is not valid."""

    status = 401
    title = N_("This needs a key")


class KeyForbiddenError(EddiError, PermissionError):
    """The key is valid, but its role does not allow the request."""

    status = 403
    title = N_("This key is not allowed to do that")


class TooManyGuessesError(EddiError, PermissionError):
    """Too many wrong secrets were sent with the name of one key."""

    status = 429
    title = N_("Too many attempts with this key")


class KeyNotFoundError(EddiError, LookupError):
    """There is no key with this name."""


class HolderError(EddiError, ValueError):
    """The name of a holder is not valid, or the holder has a key already."""


class Role(StrEnum):
    """The role of a key."""

    RESPONDENT = "respondent"  # holds interviews
    ANALYST = "analyst"  # holds interviews, and manages models and their own questionnaires
    ADMINISTRATOR = "administrator"  # an analyst who manages the questionnaires of everybody
    OPERATOR = "operator"  # sees metrics and the workshop, never an interview


PUBLISHERS = frozenset({Role.ANALYST, Role.ADMINISTRATOR})  # may publish questionnaires


@dataclass(frozen=True)
class Key:
    """A key as it is stored, without its secret."""

    name: str
    role: Role
    expires: datetime
    is_revoked: bool
    sha256: str
    holder: str = ""  # the name of a person or a program; empty for keys of earlier versions

    @property
    def label(self) -> str:
        """The name of the holder; if there is none, the name of the key."""
        return self.holder or self.name

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

    def issue(self, role: Role, *, days: float, holder: str = "") -> str:
        """Create a key and return it. It cannot be read again later.

        Raises:
            HolderError: the name of the holder is not valid, or the holder has a key with this role.
        """
        holder = self._check_holder(holder, role)
        name, secret = secrets.token_hex(6), secrets.token_urlsafe(32)
        facts = {
            "role": str(role),
            "expires": _in_days(days),
            "sha256": _hash(secret),
            "holder": holder,
            "by": COMMAND_LINE,
        }
        self.store.append(_stream(name), "issued", facts, after=0)
        return f"eddi_{name}_{secret}"

    def rotate(self, name: str, *, days: float | None = None, by: str = COMMAND_LINE) -> str:
        """Replace the secret of a key and return the new key. The old secret is invalid from now on.

        Args:
            name: of the key; it stays the same, and so does everything that the key owns.
            days: until the key expires; by default the date stays the same.
            by: who does so.

        Raises:
            KeyNotFoundError: there is no key with this name, or it is revoked.
        """
        key = self.find(name)
        if key is None or key.is_revoked:
            raise KeyNotFoundError(
                f"there is no key {name!r}, or it is revoked. `eddi keys list` lists them."
            )
        secret = secrets.token_urlsafe(32)
        facts = {"sha256": _hash(secret), "by": by} | (
            {} if days is None else {"expires": _in_days(days)}
        )
        self._append(_stream(name), "rotated", facts)
        return f"eddi_{name}_{secret}"

    def revoke(self, name: str) -> None:
        """Make a key invalid from now on.

        Raises:
            KeyNotFoundError: there is no key with this name.
        """
        self.get(name)
        self._append(_stream(name), "revoked", {"by": COMMAND_LINE})

    def get(self, name: str) -> Key:
        """Return the key with this name.

        Raises:
            KeyNotFoundError: there is none.
        """
        if (key := self.find(name)) is None:
            raise KeyNotFoundError(f"there is no key {name!r}. `eddi keys list` lists them.")
        return key

    def find(self, name: str) -> Key | None:
        """Return the key with this name; None if there is none."""
        events = self.store.read(_stream(name))
        if not events or events[0].is_forgotten:
            return None
        facts = {key: value for event in events for key, value in event.facts.items()}
        return Key(
            name,
            Role(facts["role"]),
            expires=datetime.fromisoformat(facts["expires"]),
            is_revoked=any(event.kind == "revoked" for event in events),
            sha256=facts["sha256"],
            holder=facts.get("holder", ""),
        )

    def add_sign_in(self, name: str) -> None:
        """Record that the holder of a key has signed in."""
        self._append(_sign_in_stream(name), "signed-in", {})

    def sign_ins(self, name: str) -> list[str]:
        """The times at which the holder of a key signed in (ISO 8601), newest first."""
        return [event.at for event in reversed(self.store.read(_sign_in_stream(name)))]

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

    def _check_holder(self, holder: str, role: Role) -> str:
        cleaned = " ".join(holder.split())
        if len(cleaned) > MAX_HOLDER or not cleaned.isprintable():
            raise HolderError(f"the name of a holder has up to {MAX_HOLDER} printable characters.")
        for key in self.all() if cleaned else ():
            if (key.holder, key.role) == (cleaned, role) and not key.is_revoked:
                raise HolderError(
                    f"{cleaned!r} already holds the key {key.name} with the role {role}. Replace its "
                    f"secret with `eddi keys rotate {key.name}`."
                )
        return cleaned

    def _append(self, stream: str, kind: str, facts: Mapping[str, str]) -> None:
        for attempt in range(MAX_ATTEMPTS):
            try:
                self.store.append(stream, kind, facts, after=len(self.store.read(stream)))
                return
            except StoreConflict:
                if attempt == MAX_ATTEMPTS - 1:
                    raise


def get_author(request: HTTPConnection) -> str:
    """The name of the API key that a request was sent with; events record it."""
    return str(request.scope.get(SCOPE_KEY, NO_KEY))


def _hash(secret: str) -> str:
    return hashlib.sha256(secret.encode()).hexdigest()


def _in_days(days: float) -> str:
    return (datetime.now(UTC) + timedelta(days=days)).isoformat()


def _stream(name: str) -> str:
    return f"key/{name}"


def _sign_in_stream(name: str) -> str:
    return f"sign-in/{name}"
