"""Stands before every route: who may come, how much they may bring, and what goes into the log.

A browser that is refused gets a page, any other program a problem in JSON. No line of the log holds an
answer, a key or an interview's secret: routes are logged by template.
"""

import logging
import math
import re
import time
import uuid
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from fastapi import HTTPException
from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from eddi.service import logs
from eddi.service.interviews.metrics import Metrics
from eddi.service.settings import Settings
from eddi.service.web import error_pages, problem_details
from eddi.service.web.middleware.rate_limit import Buckets

_log = logging.getLogger(__name__)

REQUEST_ID = re.compile(r"[A-Za-z0-9._-]{1,64}")
CHANGES = ("POST", "PUT", "PATCH", "DELETE")
UPLOADS = ("/tables", "/analyst/tables")
MAX_GRID = 4_000_000  # bytes of an analyst's form: a hundred columns with long wordings
UNMETERED = ("/healthz", "/readyz")  # whoever asks whether we live must not be turned away
HEADERS = {
    "Content-Security-Policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
        "font-src 'self'; connect-src 'self'; form-action 'self'; frame-ancestors 'none'; "
        "base-uri 'none'"
    ),
    "Referrer-Policy": "same-origin",  # the address of an interview is its secret
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=()",
    "Cache-Control": "no-store",
}


@dataclass
class _Visit:
    """One request on its way through."""

    request_id: str
    began: float
    status: int = 0


class Guard:
    """The outermost layer of the service, around all routes."""

    def __init__(self, app: ASGIApp, *, settings: Settings, metrics: Metrics) -> None:
        self.app, self.metrics = app, metrics
        self.settings = settings
        self.host_names = settings.host_names
        self.buckets = Buckets(settings.rate, settings.burst)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            return await self.app(scope, receive, send)
        headers = Headers(scope=scope)
        visit = _Visit(_request_id(headers), time.perf_counter())
        scope["eddi.request"] = visit.request_id
        dressed = _dressed(visit, send, https=scope.get("scheme") == "https")
        if "text/html" in headers.get("accept", ""):  # only browsers ask for it by name
            dressed = _for_people(visit.request_id, dressed)
        if scope["method"] == "HEAD":  # answered as GET; the server leaves the body out
            scope = {**scope, "method": "GET"}
        try:
            refusal = self._refusal(scope, headers, visit.request_id)
            if refusal is not None:
                await refusal(scope, receive, dressed)
            else:
                await self.app(scope, _bounded(receive, self._most(scope)), dressed)
        except Exception as error:  # the last place where anything can be said about it
            _log.error(
                "failed", extra={logs.FACTS: {"request": visit.request_id, "error": logs.where(error)}}
            )
            if visit.status:
                raise  # half an answer is out: the connection must break
            await problem_details.answer(visit.request_id, 500, problem_details.OUR_FAULT)(
                scope, receive, dressed
            )
        finally:
            self._note(scope, visit)

    def _refusal(self, scope: Scope, headers: Headers, request_id: str) -> Response | None:
        """Why the request goes no further, if it does not."""
        host = _name(headers.get("host", ""))
        if self.host_names and host not in self.host_names:
            words = (
                f"this server does not go by the name {host[:100]!r}. Set EDDI_HOSTS to names it has."
            )
            return problem_details.answer(request_id, 421, words, kind="host")
        if scope["method"] in CHANGES and _is_foreign(headers):
            words = "this was sent by a page of another site, which may not change anything here."
            return problem_details.answer(request_id, 403, words, kind="foreign-page")
        if _length(headers) > self._most(scope):
            return problem_details.answer(request_id, 413, _too_large(self._most(scope)))
        if scope["path"] in UNMETERED:
            return None
        client = scope["client"][0] if scope.get("client") else "unknown"
        wait = self.buckets.seconds_to_wait(client)
        if wait > 0:
            words = f"too many requests from this address. Try again in {wait:.1f} s."
            return problem_details.answer(
                request_id, 429, words, headers={"Retry-After": f"{math.ceil(wait)}"}
            )
        return None

    def _most(self, scope: Scope) -> int:
        """Bytes a request may carry: more where analysts bring tables or fill in grids."""
        if scope["path"] in UPLOADS:
            return self.settings.max_upload
        return MAX_GRID if scope["path"].startswith("/analyst/") else self.settings.max_body

    def _note(self, scope: Scope, visit: _Visit) -> None:
        route = getattr(scope.get("route"), "path", "none")
        facts: dict[str, Any] = {
            "request": visit.request_id,
            "method": scope["method"],
            "route": route,
            "status": visit.status,
            "ms": round((time.perf_counter() - visit.began) * 1000, 2),
        }
        self.metrics.requests.labels(route, str(visit.status)).inc()
        if visit.status >= 500:
            self.metrics.errors.labels(route).inc()
        _log.info("request", extra={logs.FACTS: facts})


def _request_id(headers: Headers) -> str:
    given = headers.get("x-request-id", "")
    return given if REQUEST_ID.fullmatch(given) else uuid.uuid4().hex


def _dressed(visit: _Visit, send: Send, *, https: bool) -> Send:
    """A ``send`` that notes the status, and adds the headers that every response has."""

    async def sent(message: Message) -> None:
        if message["type"] == "http.response.start":
            visit.status = message["status"]
            headers = MutableHeaders(scope=message)
            headers["X-Request-Id"] = visit.request_id
            for name, value in HEADERS.items():
                headers.setdefault(name, value)
            if https:
                headers.setdefault("Strict-Transport-Security", "max-age=31536000")
        await send(message)

    return sent


def _for_people(request_id: str, send: Send) -> Send:
    """A ``send`` that says in a page what a problem says to programs."""
    page: bytes | None = None

    async def sent(message: Message) -> None:
        nonlocal page
        if message["type"] == "http.response.start":
            headers = MutableHeaders(scope=message)
            if headers.get("content-type") == problem_details.CONTENT_TYPE:
                page = error_pages.refusal(message["status"], request_id)
                headers["Content-Type"] = "text/html; charset=utf-8"
                headers["Content-Length"] = f"{len(page)}"
        elif page is not None:  # a problem is sent in one piece
            message = {**message, "body": page}
        await send(message)

    return sent


def _bounded(receive: Receive, most: int) -> Receive:
    """A ``receive`` that breaks off a body larger than its length said."""
    n_bytes = 0

    async def received() -> Message:
        nonlocal n_bytes
        message = await receive()
        n_bytes += len(message.get("body", b""))
        if n_bytes > most:
            raise HTTPException(413, _too_large(most))
        return message

    return received


def _too_large(most: int) -> str:
    return (
        f"the request is larger than {most:,} bytes, which is all this server takes here "
        "(EDDI_MAX_BODY, EDDI_MAX_UPLOAD)."
    )


def _length(headers: Headers) -> int:
    text = headers.get("content-length", "0")
    return int(text) if text.isdecimal() else 0


def _name(host: str) -> str:
    """The name in a Host header, without the port."""
    return host if host.endswith("]") else re.sub(r":\d*$", "", host)


def _is_foreign(headers: Headers) -> bool:
    """Whether a browser sent this from a page of another site; other programs send no such header."""
    site = headers.get("sec-fetch-site")
    if site is not None:
        return site not in ("same-origin", "none")
    origin = headers.get("origin")
    return origin is not None and urlsplit(origin).netloc != headers.get("host")
