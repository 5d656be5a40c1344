"""What a form carries to show that it is ours, and what a page keeps in the respondent's browser."""

import hashlib
import hmac
import re
import secrets
from collections.abc import Mapping

from fastapi import Request, Response

from eddi.errors import EddiError
from eddi.service.settings import Settings

SEED_COOKIE = "eddi_form"
ASIDE_COOKIE = "eddi_later"
SEED_SHAPE = re.compile(r"[A-Za-z0-9_-]{22,64}")
PLACES_SHAPE = re.compile(r"\d{1,5}(\.\d{1,5}){0,999}")


class ForeignFormError(EddiError, PermissionError):
    """A form that this server did not give out to this browser, or that is too old."""


class Forms:
    """Signs forms: each carries a token that follows from a random cookie and the server's secret.

    A foreign page can make a browser send a form, but knows neither.
    """

    def __init__(self, settings: Settings) -> None:
        self._secret = settings.secret.encode() or secrets.token_bytes(32)

    def seed(self, request: Request) -> str:
        """The browser's random cookie, or a new one."""
        given = request.cookies.get(SEED_COOKIE, "")
        return given if SEED_SHAPE.fullmatch(given) else secrets.token_urlsafe(24)

    def token(self, seed: str) -> str:
        """What forms given to the browser with this cookie carry."""
        return hmac.new(self._secret, f"form:{seed}".encode(), hashlib.sha256).hexdigest()

    def check(self, request: Request, form: Mapping[str, str]) -> None:
        """Let a form through that we gave out.

        Raises:
            ForeignFormError: it is not ours.
        """
        seed = request.cookies.get(SEED_COOKIE, "")
        expected = self.token(seed)
        if not SEED_SHAPE.fullmatch(seed) or not hmac.compare_digest(
            expected.encode(), form.get("csrf", "").encode()
        ):
            raise ForeignFormError("this form is not from here, or too old. Load the page again.")


def keep(request: Request, response: Response, name: str, value: str, *, path: str = "/") -> None:
    """Leave a cookie that scripts cannot read and other sites cannot send."""
    response.set_cookie(
        name, value, path=path, httponly=True, samesite="strict", secure=request.url.scheme == "https"
    )


def put_aside(request: Request, questions: tuple[str, ...]) -> set[str]:
    """Questions the respondent put off until later, from the cookie that keeps their places."""
    text = request.cookies.get(ASIDE_COOKIE, "")
    if not PLACES_SHAPE.fullmatch(text):
        return set()
    places = {int(place) for place in text.split(".")}
    return {name for place, name in enumerate(questions) if place in places}


def aside_text(aside: set[str], questions: tuple[str, ...]) -> str:
    """The same questions as the cookie keeps them."""
    return ".".join(str(place) for place, name in enumerate(questions) if name in aside)
