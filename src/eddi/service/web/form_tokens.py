"""Tokens that protect forms against cross-site request forgery.

Every browser has a cookie with a random session ID. Every form contains a token, which is the signature
of that ID with the server's secret. A page of another site can make a browser send a form, but it knows
neither the cookie nor the secret.
"""

import hashlib
import re
import secrets
from collections.abc import Mapping

from fastapi import Request, Response
from itsdangerous import Signer

from eddi.service.errors import N_, RespondentError
from eddi.service.settings import Settings
from eddi.service.web.cookies import set_cookie

SESSION_COOKIE = "eddi_form"
SESSION_ID_PATTERN = re.compile(r"[A-Za-z0-9_-]{22,64}")
TOKEN_FIELD = "csrf"  # noqa: S105  # name of the form field


class ForeignFormError(RespondentError, PermissionError):
    """The form does not come from this server or this browser, or it is too old."""

    status = 403
    title = N_("Please try that once more")
    explanation = N_(
        "The form was too old, or this browser does not accept cookies, so we cannot be sure that it came "
        "from you. Your answers so far are safe."
    )


class FormTokens:
    """Creates and checks the tokens of forms."""

    def __init__(self, settings: Settings) -> None:
        secret = settings.secret or secrets.token_bytes(32)
        self._signer = Signer(secret, salt="form", digest_method=hashlib.sha256)

    def session_id(self, request: Request) -> str:
        """Return the session ID of the browser, or a new one."""
        session_id = request.cookies.get(SESSION_COOKIE, "")
        return session_id if SESSION_ID_PATTERN.fullmatch(session_id) else secrets.token_urlsafe(24)

    def token(self, session_id: str) -> str:
        """Return the token of forms for the browser with this session ID."""
        return self._signer.get_signature(session_id).decode()

    def set_session_cookie(self, request: Request, response: Response, session_id: str) -> None:
        """Store the session ID in the browser."""
        set_cookie(request, response, SESSION_COOKIE, session_id)

    def check(self, request: Request, form: Mapping[str, str]) -> None:
        """Check the token of a form.

        Raises:
            ForeignFormError: the token is missing or wrong.
        """
        session_id, token = request.cookies.get(SESSION_COOKIE, ""), form.get(TOKEN_FIELD, "")
        is_valid = SESSION_ID_PATTERN.fullmatch(session_id) is not None
        if not is_valid or not self._signer.verify_signature(session_id, token):
            raise ForeignFormError("this form is not from this server, or too old. Load the page again.")
