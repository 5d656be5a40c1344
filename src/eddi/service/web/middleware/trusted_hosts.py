"""Refuses requests to host names that are not this server's."""

import re
from collections.abc import Collection
from urllib.parse import urlsplit

from starlette.types import ASGIApp, Receive, Scope, Send

from eddi.service.web.middleware.raw_headers import get_header
from eddi.service.web.middleware.request_id import SCOPE_KEY
from eddi.service.web.problem_details import problem_response

HOST_PATTERN = re.compile(r"(\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9._~-]+)?(:\d*)?")


class TrustedHosts:
    """Compares the Host header with the names of the server; no names allow any valid host."""

    def __init__(self, app: ASGIApp, *, names: Collection[str]) -> None:
        self.app, self.names = app, names

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            header = get_header(scope, b"host") or ""
            if not _is_valid(header):
                detail = "the Host header is not a valid name and port, such as ask.example.org:8000."
                refusal = problem_response(scope[SCOPE_KEY], 400, detail, kind="host")
                return await refusal(scope, receive, send)
            if self.names and _remove_port(header) not in self.names:
                # The name is not repeated: a client chose it.
                detail = "this server does not have this name. Set EDDI_HOSTS to its names."
                refusal = problem_response(scope[SCOPE_KEY], 421, detail, kind="host")
                return await refusal(scope, receive, send)
        return await self.app(scope, receive, send)


def _is_valid(host: str) -> bool:
    """Whether a Host header can be part of a URL; a missing one can."""
    try:
        parts = urlsplit(f"//{host}")
        is_complete = parts.netloc == host and (parts.port is None or parts.port >= 0)
    except ValueError:  # a port that is no number, or an IPv6 address without its end
        return False
    return is_complete and HOST_PATTERN.fullmatch(host) is not None


def _remove_port(host: str) -> str:
    """Return the name in a Host header without the port."""
    return host if host.endswith("]") else re.sub(r":\d*$", "", host)
