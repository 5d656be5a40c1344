"""Refuses changes that were requested by pages of other sites."""

from urllib.parse import urlsplit

from starlette.types import ASGIApp, Receive, Scope, Send

from eddi.service.web.middleware.raw_headers import get_header
from eddi.service.web.middleware.request_id import SCOPE_KEY
from eddi.service.web.problem_details import problem_response

CHANGING_METHODS = ("POST", "PUT", "PATCH", "DELETE")


class SameOrigin:
    """Allows changes only from pages of this site and from programs other than browsers."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        is_change = scope["type"] == "http" and scope["method"] in CHANGING_METHODS
        if is_change and _is_cross_site(scope):
            detail = "this request came from a page of another site, which may not change anything here."
            refusal = problem_response(scope[SCOPE_KEY], 403, detail, kind="foreign-page")
            return await refusal(scope, receive, send)
        return await self.app(scope, receive, send)


def _is_cross_site(scope: Scope) -> bool:
    """Whether a browser sent the request from a page of another site.

    Programs other than browsers send neither of these headers.
    """
    site = get_header(scope, b"sec-fetch-site")
    if site is not None:
        return site not in ("same-origin", "none")
    origin = get_header(scope, b"origin")
    return origin is not None and _host_of(origin) != get_header(scope, b"host")


def _host_of(origin: str) -> str | None:
    """Return the host and port of an origin; None if it is malformed."""
    try:
        return urlsplit(origin).netloc
    except ValueError:  # such as "http://[", an IPv6 address without its end
        return None
