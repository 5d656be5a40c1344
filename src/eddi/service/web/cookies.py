"""Cookies of the pages, and the questions that a respondent put off, which are kept in one."""

import re
from collections.abc import Collection, Sequence

from fastapi import Request, Response

DEFERRED_COOKIE = "eddi_later"
INTERVIEW_COOKIE = "eddi_interview"  # the key of the interview that this browser began last
POSITIONS_PATTERN = re.compile(r"\d{1,5}(\.\d{1,5}){0,999}")


def set_cookie(request: Request, response: Response, name: str, value: str, *, path: str = "/") -> None:
    """Set a cookie that scripts cannot read and other sites cannot send.

    A page that another site embeds gets a cookie of its own for that site (partitioned), which browsers
    accept over HTTPS only. Forms are protected by their tokens in any case.
    """
    is_secure = request.url.scheme == "https"
    is_embedded = is_secure and request.headers.get("sec-fetch-dest") == "iframe"
    response.set_cookie(
        name,
        value,
        path=path,
        httponly=True,
        samesite="none" if is_embedded else "strict",
        secure=is_secure,
    )
    if is_embedded:  # starlette has no such option before Python 3.14
        header = response.raw_headers[-1]
        response.raw_headers[-1] = (header[0], header[1] + b"; Partitioned")


def read_deferred(request: Request, questions: Sequence[str]) -> set[str]:
    """Return the names of the questions that the respondent put off.

    The cookie contains their positions among ``questions``, the names of all questions.
    """
    text = request.cookies.get(DEFERRED_COOKIE, "")
    if not POSITIONS_PATTERN.fullmatch(text):
        return set()
    positions = {int(position) for position in text.split(".")}
    return {name for position, name in enumerate(questions) if position in positions}


def format_deferred(deferred: Collection[str], questions: Sequence[str]) -> str:
    """Return the content of the cookie for these questions; the inverse of `read_deferred`."""
    return ".".join(str(position) for position, name in enumerate(questions) if name in deferred)
