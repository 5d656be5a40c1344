"""Gives every request an ID, which the response, the log and error messages contain."""

import re
import uuid

from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

HEADER = "X-Request-Id"
SCOPE_KEY = "eddi.request"
PATTERN = re.compile(r"[A-Za-z0-9._-]{1,64}")


class RequestId:
    """Takes the ID from the request's header if it is valid, and creates one otherwise."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            return await self.app(scope, receive, send)
        given = Headers(scope=scope).get(HEADER, "")
        request_id = given if PATTERN.fullmatch(given) else uuid.uuid4().hex
        scope[SCOPE_KEY] = request_id

        async def send_with_id(message: Message) -> None:
            if message["type"] == "http.response.start":
                MutableHeaders(scope=message)[HEADER] = request_id
            await send(message)

        return await self.app(scope, receive, send_with_id)
