"""Forms of respondents: text fields are read, and too many fields are refused."""

import asyncio
from urllib.parse import urlencode

import pytest
from fastapi import Request
from starlette.exceptions import HTTPException

from eddi.service.web.respondent.page_frame import MAX_FORM_FIELDS, read_form


def send_form(fields: list[tuple[str, str]]) -> dict[str, str]:
    body = urlencode(fields).encode()

    async def receive() -> dict[str, object]:
        return {"type": "http.request", "body": body, "more_body": False}

    headers = [(b"content-type", b"application/x-www-form-urlencoded")]
    scope = {"type": "http", "method": "POST", "path": "/", "headers": headers, "app": None}
    return asyncio.run(read_form(Request(scope, receive)))


def test_text_fields_are_read() -> None:
    assert send_form([("age", "61"), ("note", "über 60")]) == {"age": "61", "note": "über 60"}


def test_the_last_of_repeated_fields_counts() -> None:
    assert send_form([("age", "61"), ("age", "62")]) == {"age": "62"}


def test_too_many_fields_are_refused() -> None:
    with pytest.raises(HTTPException, match="Too many fields"):
        send_form([(f"x{place}", "1") for place in range(MAX_FORM_FIELDS + 1)])
