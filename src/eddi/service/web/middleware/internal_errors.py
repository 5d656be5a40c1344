"""Responds to unexpected exceptions, and logs where they occurred."""

import logging

from starlette.requests import ClientDisconnect
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from eddi.service import logs
from eddi.service.web.middleware.request_id import SCOPE_KEY
from eddi.service.web.problem_details import INTERNAL_ERROR, problem_response

_log = logging.getLogger(__name__)


class InternalErrors:
    """Turns exceptions into a response with status 500 that does not reveal their message."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            return await self.app(scope, receive, send)
        has_started = False

        async def send_and_note_start(message: Message) -> None:
            nonlocal has_started
            has_started = True
            await send(message)

        try:
            await self.app(scope, receive, send_and_note_start)
        except ClientDisconnect:
            return None  # nobody receives a response
        except Exception as error:  # no other code handles it
            request_id = scope[SCOPE_KEY]
            fields = {"request": request_id, "error": logs.describe_error(error)}
            _log.error("failed", extra={logs.FIELDS: fields})
            if has_started:
                raise  # part of the response was sent, so the connection must be closed
            await problem_response(request_id, 500, INTERNAL_ERROR)(scope, receive, send)
