"""Every response has security headers."""

import asyncio

import pytest
from starlette.responses import PlainTextResponse

from eddi.service.web.middleware.security_headers import HEADERS, SecurityHeaders


@pytest.mark.parametrize("path", ["/healthz", "/nowhere", "/openapi.json", "/"])
def test_every_response_has_the_headers(client, path):
    headers = client.get(path).headers
    for name in HEADERS:
        assert name in headers
    assert "unsafe-inline" not in headers["content-security-policy"]
    assert "default-src 'none'" in headers["content-security-policy"]


@pytest.mark.parametrize(("scheme", "is_strict"), [("http", False), ("https", True)])
def test_strict_transport_security_is_only_sent_over_https(scheme, is_strict):
    messages = []

    async def send(message):
        messages.append(message)

    app = SecurityHeaders(PlainTextResponse("text"))
    scope = {"type": "http", "method": "GET", "scheme": scheme, "headers": []}
    asyncio.run(app(scope, None, send))
    names = [name for name, _ in messages[0]["headers"]]
    assert (b"strict-transport-security" in names) is is_strict
