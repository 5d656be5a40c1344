"""JSON whose numbers or text would fail later is refused when it is read."""

import asyncio
import json

import pytest
from fastapi import HTTPException

from eddi.service.web.requests.strict_json import StrictRequest


def read(body):
    async def receive():
        return {"type": "http.request", "body": body, "more_body": False}

    return asyncio.run(StrictRequest({"type": "http", "headers": []}, receive).json())


@pytest.mark.parametrize(
    "body",
    [
        b"NaN",
        b"[-Infinity]",
        b"1e999",
        b'{"a": [-1e400]}',
        b"1" * 400,
        rb'"\ud800"',
        b'"\xff"',
        '"\ud800"'.encode(errors="surrogatepass"),
        '"\ud800"'.encode("utf-16", errors="surrogatepass"),
        b"[" * 100_000,
    ],
)
def test_numbers_must_be_finite_text_valid_and_nesting_shallow(body):
    with pytest.raises(HTTPException, match="numbers must be finite, text valid"):
        read(body)


@pytest.mark.parametrize("document", [{"a": [1, 2.5, None, True]}, "\u00e4\U0001f600", 10**300, ""])
def test_plain_json_is_read(document):
    assert read(json.dumps(document).encode()) == document
    assert read(json.dumps(document, ensure_ascii=False).encode("utf-16")) == document


def test_a_syntax_error_has_its_position():
    with pytest.raises(json.JSONDecodeError, match="char 4"):
        read(b'{"a"')
