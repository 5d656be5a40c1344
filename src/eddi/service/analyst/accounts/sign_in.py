"""Signing in with an analyst's API key, after which a signed cookie identifies the browser.

The cookie does not contain the key. It contains the key's public name, its own expiry, and a signature
over both and the hash of the key's secret. Every page checks that the key is still valid and has the same
secret, so that revoking or rotating a key ends all its sessions at once.
"""

import hashlib
import hmac
import re
import secrets
import time
from datetime import UTC, datetime
from typing import ClassVar

from fastapi import Request, Response

from eddi.errors import EddiError
from eddi.service.errors import N_
from eddi.service.settings import Settings
from eddi.service.web.api_keys import PUBLISHERS, SCOPE_KEY, Key, Keys

COOKIE = "eddi_analyst"
COOKIE_SHAPE = re.compile(r"([0-9a-f]{12})\.(\d{1,12})\.([0-9a-f]{64})")
MAX_AGE_HOURS = 12  # a working day
PATH = "/analyst"
SCOPE_HOLDER = "eddi.holder"  # of a request: who is signed in


class NotSignedInError(EddiError, PermissionError):
    """The page is only for analysts who have signed in."""

    status: ClassVar[int] = 401
    title: ClassVar[str] = N_("Sign in to the workshop")


class SignIn:
    """Access to the analyst's pages: open to all if the server needs no keys, else after signing in."""

    def __init__(self, keys: Keys | None, settings: Settings) -> None:
        self.keys = keys
        self._secret = settings.secret.encode() or secrets.token_bytes(32)

    @property
    def is_needed(self) -> bool:
        """Whether analysts must sign in."""
        return self.keys is not None

    def check(self, request: Request) -> None:
        """Check that a request comes from an analyst who has signed in.

        Raises:
            NotSignedInError: the cookie is missing, forged or expired, or the key is no longer valid.
        """
        if self.keys is None:
            return
        parts = COOKIE_SHAPE.fullmatch(request.cookies.get(COOKIE, ""))
        key = self.keys.find(parts[1]) if parts else None
        if parts is None or key is None:
            raise NotSignedInError("sign in with an analyst's key.")
        if not hmac.compare_digest(self._sign(key, parts[2]), parts[3]):
            raise NotSignedInError("the key has changed. Sign in with the new one.")
        now = datetime.now(UTC)
        is_valid = key.role in PUBLISHERS and key.is_valid(now)
        if not is_valid or now.timestamp() >= int(parts[2]):
            raise NotSignedInError("the key or the sign-in has expired. Sign in again.")
        request.scope[SCOPE_KEY] = key.name
        request.scope[SCOPE_HOLDER] = key.label

    def sign_in(self, request: Request, response: Response, text: str) -> None:
        """Check a key and set the cookie.

        Raises:
            KeyMissingError: the key is unknown, wrong, revoked or expired.
            KeyForbiddenError: the key does not belong to an analyst.
        """
        if self.keys is None:
            return
        key = self.keys.check(text, PUBLISHERS)
        self.keys.add_sign_in(key.name)
        self.set_cookie(request, response, key)

    def set_cookie(self, request: Request, response: Response, key: Key) -> None:
        """Set the cookie of a key that was checked."""
        expiry = str(int(time.time()) + MAX_AGE_HOURS * 3600)
        response.set_cookie(
            COOKIE,
            f"{key.name}.{expiry}.{self._sign(key, expiry)}",
            max_age=MAX_AGE_HOURS * 3600,
            path=PATH,
            httponly=True,
            samesite="strict",
            secure=request.url.scheme == "https",
        )

    def sign_out(self, response: Response) -> None:
        """Delete the cookie."""
        response.delete_cookie(COOKIE, path=PATH, httponly=True, samesite="strict")

    def _sign(self, key: Key, expiry: str) -> str:
        message = f"signin:{key.name}:{expiry}:{key.sha256}".encode()
        return hmac.new(self._secret, message, hashlib.sha256).hexdigest()
