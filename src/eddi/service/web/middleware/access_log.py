"""Logs and counts every request.

The log contains the template of the route instead of the path, so it never contains an answer, an API key
or the secret key of an interview.
"""

import logging
import time

from starlette.routing import Route
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from eddi.service import logs
from eddi.service.interviews.metrics import Metrics
from eddi.service.web.api_keys import SCOPE_KEY as API_KEY
from eddi.service.web.middleware.request_id import SCOPE_KEY

_log = logging.getLogger(__name__)


class AccessLog:
    """Writes one line per request and updates the metrics."""

    def __init__(self, app: ASGIApp, *, metrics: Metrics) -> None:
        self.app, self.metrics = app, metrics

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            return await self.app(scope, receive, send)
        started_at, status = time.perf_counter(), 0

        async def send_and_note_status(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
            await send(message)

        try:
            return await self.app(scope, receive, send_and_note_status)
        finally:
            self._record(scope, status, time.perf_counter() - started_at)

    def _record(self, scope: Scope, status: int, seconds: float) -> None:
        matched = scope.get("route")
        route = matched.path if isinstance(matched, Route) else "none"
        self.metrics.requests.labels(route, str(status)).inc()
        if status >= 500:
            self.metrics.errors.labels(route).inc()
        if not _log.isEnabledFor(logging.INFO):
            return
        fields = {
            "request": scope[SCOPE_KEY],
            "method": scope["method"],
            "route": route,
            "status": status,
            "ms": round(seconds * 1000, 2),
        }
        if API_KEY in scope:
            fields["key"] = scope[API_KEY]  # its public name
        _log.info("request", extra={logs.FIELDS: fields})
