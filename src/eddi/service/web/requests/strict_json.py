"""Requests with strict JSON: finite numbers, valid text, shallow nesting; anything else would fail later."""

import json
import math
from collections.abc import Callable, Coroutine
from typing import Any, ClassVar, NoReturn

from fastapi import HTTPException, Request, Response
from fastapi.routing import APIRoute


class StrictRequest(Request):
    """A request whose JSON has only finite numbers and valid text."""

    async def json(self) -> Any:
        body = await self.body()
        try:
            document = _DECODER.decode(body.decode(json.detect_encoding(body), "surrogatepass"))
            if b"\\" in body or not body.isascii():  # only these may contain half a character
                json.dumps(document, ensure_ascii=False).encode()
        except json.JSONDecodeError:
            raise
        except (ValueError, OverflowError, RecursionError):
            raise HTTPException(
                422,
                "the body is not plain JSON: numbers must be finite, text valid, and nesting shallow.",
            ) from None
        return document


class JsonRoute(APIRoute):
    """A route that accepts only strict JSON."""

    media_types: ClassVar[tuple[str, ...]] = ("application/json",)

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        handle = super().get_route_handler()

        async def handle_strictly(request: Request) -> Response:
            request = StrictRequest(request.scope, request.receive)
            await check_media_type(request, self.media_types)
            return await handle(request)

        return handle_strictly


async def check_media_type(request: Request, accepted: tuple[str, ...]) -> None:
    """Check that the body of a POST request, if there is one, is of an accepted type.

    Raises:
        HTTPException: it is of another type (415).
    """
    media_type = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if media_type not in accepted and request.method == "POST" and await request.body():
        given = media_type[:100] or "no Content-Type"
        raise HTTPException(415, f"the body must be {accepted[0]}, got {given!r}.")


def _reject_constant(constant: str) -> NoReturn:
    raise ValueError(constant)  # NaN or Infinity


def _parse_float(digits: str) -> float:
    """Return a number; one that is too large for a float is an OverflowError."""
    number = float(digits)
    if math.isinf(number):
        raise OverflowError(digits)
    return number


def _parse_int(digits: str) -> int:
    """Return a whole number; one that is too large for a float is an OverflowError."""
    number = int(digits)
    float(number)
    return number


_DECODER = json.JSONDecoder(
    parse_constant=_reject_constant, parse_float=_parse_float, parse_int=_parse_int
)
