"""Refuses changes that were requested by pages of other sites."""

from urllib.parse import urlsplit

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Receive, Scope, Send

from eddi.service.web.middleware.request_id import SCOPE_KEY
from eddi.service.web.problem_details import problem_response

CHANGING_METHODS = ("POST", "PUT", "PATCH", "DELETE")


class SameOrigin:
    """Allows changes only from pages of this site and from programs other than browsers."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        is_change = scope["type"] == "http" and scope["method"] in CHANGING_METHODS
        if is_change and _is_cross_site(Headers(scope=scope)):
            detail = "this request came from a page of another site, which may not change anything here."
            refusal = problem_response(scope[SCOPE_KEY], 403, detail, kind="foreign-page")
            return await refusal(scope, receive, send)
        return await self.app(scope, receive, send)


def _is_cross_site(headers: Headers) -> bool:
    """Whether a browser sent the request from a page of another site.

    Programs other than browsers send neither of these headers.
    """
    site = headers.get("sec-fetch-site")
    if site is not None:
        return site not in ("same-origin", "none")
    origin = headers.get("origin")
    return origin is not None and _host_of(origin) != headers.get("host")


def _host_of(origin: str) -> str | None:
    """Return the host and port of an origin; None if it is malformed."""
    try:
        return urlsplit(origin).netloc
    except ValueError:  # such as "http://[", an IPv6 address without its end
        return None
