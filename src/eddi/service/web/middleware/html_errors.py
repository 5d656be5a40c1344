"""Shows errors to browsers as a page instead of JSON."""

from starlette.datastructures import MutableHeaders
from starlette.requests import Request
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from eddi.service.web import problem_details
from eddi.service.web.error_pages import render_status_page
from eddi.service.web.languages.choice import choose_language
from eddi.service.web.languages.language import LANGUAGES
from eddi.service.web.middleware.body_limit import LIMIT_KEY, UPLOAD_PATHS
from eddi.service.web.middleware.raw_headers import get_header
from eddi.service.web.middleware.request_id import SCOPE_KEY
from eddi.service.web.rendering import Renderer


class HtmlErrors:
    """Replaces problem details by a page if the client accepts HTML."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app
        self.renderer = Renderer()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        # Only browsers name HTML explicitly; other clients accept "*/*".
        if scope["type"] != "http" or "text/html" not in (get_header(scope, b"accept") or ""):
            return await self.app(scope, receive, send)
        page: bytes | None = None

        async def send_html(message: Message) -> None:
            nonlocal page
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                if headers.get("content-type") == problem_details.CONTENT_TYPE:
                    page = render_status_page(
                        self.renderer,
                        message["status"],
                        scope[SCOPE_KEY],
                        upload_limit=_find_upload_limit(scope),
                        language=LANGUAGES[choose_language(Request(scope))],
                    )
                    headers["Content-Type"] = "text/html; charset=utf-8"
                    headers["Content-Length"] = f"{len(page)}"
            elif page is not None:  # problem details are sent as one body message
                message = {**message, "body": page}
            await send(message)

        return await self.app(scope, receive, send_html)


def _find_upload_limit(scope: Scope) -> int | None:
    """The maximum size of a table in bytes, if the request uploads one."""
    return scope.get(LIMIT_KEY) if scope["path"] in UPLOAD_PATHS else None
