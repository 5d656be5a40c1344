"""Analysts sign in with their key; what their browser keeps afterwards is not the key.

The cookie holds the key's name, when it ends, and a signature over both. Whether the key is still good,
is looked up at every page, so that revoking it signs its owner out.
"""

import hashlib
import hmac
import re
import secrets
import time
from datetime import UTC, datetime

from fastapi import Request, Response

from eddi.errors import EddiError
from eddi.service.settings import Settings
from eddi.service.web.api_keys import KEY_PATTERN, Keys, Role

COOKIE = "eddi_analyst"
COOKIE_SHAPE = re.compile(r"([0-9a-f]{12})\.(\d{1,12})\.([0-9a-f]{64})")
HOURS = 12  # a working day
PATH = "/analyst"


class NotSignedInError(EddiError, PermissionError):
    """This page is for analysts who have signed in."""


class SignIn:
    """Who may see the analyst's pages: everybody where the server needs no keys, else who signed in."""

    def __init__(self, keys: Keys | None, settings: Settings) -> None:
        self.keys = keys
        self._secret = settings.secret.encode() or secrets.token_bytes(32)

    @property
    def is_needed(self) -> bool:
        """Whether there is anything to sign in with."""
        return self.keys is not None

    def admit(self, request: Request) -> None:
        """Let an analyst through.

        Raises:
            NotSignedInError: the cookie is absent, foreign or too old, or the key is no longer good.
        """
        if self.keys is None:
            return
        found = COOKIE_SHAPE.fullmatch(request.cookies.get(COOKIE, ""))
        if found is None or not hmac.compare_digest(self._signature(found[1], found[2]), found[3]):
            raise NotSignedInError("sign in with your analyst's key.")
        key = self.keys.find(found[1])
        now = datetime.now(UTC)
        good = key is not None and key.role is Role.ANALYST and key.is_valid(now)
        if not good or now.timestamp() >= int(found[2]):
            raise NotSignedInError("your key or your visit has ended. Sign in again.")

    def enter(self, request: Request, response: Response, text: str) -> None:
        """Sign in with a key.

        Raises:
            KeyMissingError: the key is unknown, wrong, revoked or expired.
            KeyForbiddenError: the key is not an analyst's.
        """
        if self.keys is None:
            return
        self.keys.check(text, frozenset({Role.ANALYST}))
        parts = KEY_PATTERN.fullmatch(text)
        name = parts[1] if parts else ""
        until = str(int(time.time()) + HOURS * 3600)
        response.set_cookie(
            COOKIE,
            f"{name}.{until}.{self._signature(name, until)}",
            max_age=HOURS * 3600,
            path=PATH,
            httponly=True,
            samesite="strict",
            secure=request.url.scheme == "https",
        )

    def leave(self, response: Response) -> None:
        """Sign out."""
        response.delete_cookie(COOKIE, path=PATH, httponly=True, samesite="strict")

    def _signature(self, name: str, until: str) -> str:
        return hmac.new(self._secret, f"signin:{name}:{until}".encode(), hashlib.sha256).hexdigest()
