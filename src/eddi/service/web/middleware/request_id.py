"""Gives every request an ID, which the response, the log and error messages contain."""

import random
import re

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from eddi.service.web.middleware.raw_headers import get_header

HEADER = "X-Request-Id"
RAW_HEADER = HEADER.lower().encode()
SCOPE_KEY = "eddi.request"
PATTERN = re.compile(r"[A-Za-z0-9._-]{1,64}")


class RequestId:
    """Takes the ID from the request's header if it is valid, and creates one otherwise."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            return await self.app(scope, receive, send)
        given = get_header(scope, RAW_HEADER) or ""
        request_id = given if PATTERN.fullmatch(given) else create_request_id()
        scope[SCOPE_KEY] = request_id
        header = (RAW_HEADER, request_id.encode())

        async def send_with_id(message: Message) -> None:
            if message["type"] == "http.response.start":
                message["headers"] = [*message.get("headers", ()), header]
            await send(message)

        return await self.app(scope, receive, send_with_id)


def create_request_id() -> str:
    """Return a number for a request. It is not secret, so it needs no random bytes of the system."""
    return f"{random.getrandbits(128):032x}"
