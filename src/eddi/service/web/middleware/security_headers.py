"""Adds security headers to every response."""

from collections.abc import Sequence

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from eddi.service.web.middleware.raw_headers import add_missing_headers, to_raw


def content_security_policy(*, embed_on: Sequence[str] = ()) -> str:
    """Return the policy of a page that these sites may embed."""
    sites = " ".join(embed_on) or "'none'"
    return (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
        f"font-src 'self'; connect-src 'self'; form-action 'self'; frame-ancestors {sites}; "
        "base-uri 'none'"
    )


HEADERS = {
    "Content-Security-Policy": content_security_policy(),
    "Referrer-Policy": "same-origin",  # the address of an interview is secret
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=()",
    "Cache-Control": "no-store",
}
HTTPS_ONLY = {"Strict-Transport-Security": "max-age=31536000"}
RAW_HEADERS = to_raw(HEADERS)
RAW_HTTPS_HEADERS = to_raw({**HEADERS, **HTTPS_ONLY})


class SecurityHeaders:
    """Adds the headers that a response does not set itself."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            return await self.app(scope, receive, send)
        defaults = RAW_HTTPS_HEADERS if scope.get("scheme") == "https" else RAW_HEADERS

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                add_missing_headers(message, defaults)
            await send(message)

        return await self.app(scope, receive, send_with_headers)
