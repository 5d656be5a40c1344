"""Serves HEAD requests like GET requests. The web server leaves out the body."""

from starlette.types import ASGIApp, Receive, Scope, Send


class HeadRequests:
    """Passes HEAD requests on as GET requests."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and scope["method"] == "HEAD":
            scope = {**scope, "method": "GET"}
        await self.app(scope, receive, send)
