"""Refuses requests to host names that are not this server's."""

import re
from collections.abc import Collection

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Receive, Scope, Send

from eddi.service.web.middleware.request_id import SCOPE_KEY
from eddi.service.web.problem_details import problem_response


class TrustedHosts:
    """Compares the Host header with the names of the server; no names allow any host."""

    def __init__(self, app: ASGIApp, *, names: Collection[str]) -> None:
        self.app, self.names = app, names

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and self.names:
            host = _remove_port(Headers(scope=scope).get("host", ""))
            if host not in self.names:
                # The name is not repeated: a client chose it.
                detail = "this server does not have this name. Set EDDI_HOSTS to its names."
                refusal = problem_response(scope[SCOPE_KEY], 421, detail, kind="host")
                return await refusal(scope, receive, send)
        return await self.app(scope, receive, send)


def _remove_port(host: str) -> str:
    """Return the name in a Host header without the port."""
    return host if host.endswith("]") else re.sub(r":\d*$", "", host)
