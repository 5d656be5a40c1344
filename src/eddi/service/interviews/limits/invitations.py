"""Invitations to a questionnaire. Each lets one person begin one interview.

An invitation is a random token in a link. The store has only its hash, so that nobody who reads the store
can use it. ``invitations/<questionnaire>`` lists the hashes; ``invitation/<questionnaire>/<hash>`` begins
with the use of one. An invitation does not lead back to the interview: who issued it cannot read answers.
"""

import hashlib
import re
import secrets
from dataclasses import dataclass

from eddi.errors import EddiError
from eddi.service.errors import N_, RespondentError
from eddi.store.base import Store, StoreConflict

TOKEN = re.compile(r"[A-Za-z0-9_-]{22}")  # 128 random bits
TOKEN_BYTES = 16
HASH_DIGITS = 32  # hexadecimal digits of a hash: 128 bits
MAX_AT_ONCE = 1_000
MAX_ATTEMPTS = 8


class InvitationError(RespondentError, PermissionError):
    """An invitation is missing, unknown or was already used."""

    status = 403
    title = N_("This questionnaire needs an invitation")
    explanation = N_(
        "Open the complete link of your invitation. An invitation can be used once: if you have already "
        "begun, continue with your private link."
    )


class InvitationCountError(EddiError, ValueError):
    """The number of invitations is not valid."""

    status = 422
    title = N_("These invitations cannot be issued")


@dataclass(frozen=True)
class InvitationCounts:
    """How many invitations were issued, and how many of them were used."""

    issued: int
    used: int


class Invitations:
    """The invitations of all questionnaires of a store."""

    def __init__(self, store: Store) -> None:
        self.store = store

    def issue(self, questionnaire: str, count: int, *, by: str = "") -> list[str]:
        """Issue invitations and return their tokens, which are not stored."""
        if not 1 <= count <= MAX_AT_ONCE:
            raise InvitationCountError(
                f"the number of invitations must be between 1 and {MAX_AT_ONCE:,}, got {count}."
            )
        tokens = [secrets.token_urlsafe(TOKEN_BYTES) for _ in range(count)]
        stream = _list_stream(questionnaire)
        for _ in range(MAX_ATTEMPTS):
            after = len(self.store.read(stream))
            try:
                facts = {"hashes": [*map(_hash, tokens)], "by": by}
                self.store.append(stream, "issued", facts, after=after)
            except StoreConflict:
                continue
            return tokens
        raise InvitationCountError("others are issuing invitations at the same time. Try again.")

    def check(self, questionnaire: str, token: str) -> None:
        """Raise an `InvitationError` unless this invitation exists and was not used."""
        if not self._is_issued(questionnaire, token) or self.store.read(_stream(questionnaire, token)):
            raise InvitationError("the invitation is missing, not valid, or was already used.")

    def use(self, questionnaire: str, token: str, *, request: str) -> None:
        """Use an invitation; the same request may do so again.

        Raises:
            InvitationError: it does not exist, or another request used it.
        """
        if self._is_issued(questionnaire, token):
            stream = _stream(questionnaire, token)
            try:
                self.store.append(stream, "used", {"request": _hash(request)}, after=0)
            except StoreConflict:
                if self.store.read(stream)[0].facts.get("request") == _hash(request):
                    return
            else:
                return
        raise InvitationError("the invitation is missing, not valid, or was already used.")

    def count(self, questionnaire: str) -> InvitationCounts:
        """Count the invitations of a questionnaire."""
        events = self.store.read(_list_stream(questionnaire))
        issued = sum(len(event.facts.get("hashes", ())) for event in events)
        used = sum(1 for _ in self.store.streams(f"invitation/{questionnaire}/"))
        return InvitationCounts(issued, used)

    def _is_issued(self, questionnaire: str, token: str) -> bool:
        if not TOKEN.fullmatch(token):
            return False
        events = self.store.read(_list_stream(questionnaire))
        return any(_hash(token) in event.facts.get("hashes", ()) for event in events)


def _hash(token: str) -> str:
    return hashlib.sha256(token.encode()).hexdigest()[:HASH_DIGITS]


def _list_stream(questionnaire: str) -> str:
    return f"invitations/{questionnaire}"


def _stream(questionnaire: str, token: str) -> str:
    return f"invitation/{questionnaire}/{_hash(token)}"
