"""A minimal, fast HTTP client on one connection, which it opens again if the server closed it."""

import asyncio
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

HOST = "127.0.0.1"


@dataclass(frozen=True)
class Response:
    """The response of a server."""

    status: int
    headers: Mapping[str, str]
    body: bytes

    @property
    def document(self) -> Any:
        """The body as JSON."""
        return json.loads(self.body)


class HttpConnection:
    """A connection to a server on this machine."""

    def __init__(self, port: int) -> None:
        self.port = port
        self._streams: tuple[asyncio.StreamReader, asyncio.StreamWriter] | None = None

    async def get(self, path: str) -> Response:
        """Send a GET request. It is repeated once if the server closed the connection."""
        request = f"GET {path} HTTP/1.1\r\nHost: {HOST}\r\n\r\n".encode()
        is_new = self._streams is None
        try:
            return await self._exchange(request)
        except (ConnectionError, asyncio.IncompleteReadError):
            if is_new:
                raise
            return await self._exchange(request)

    async def post(self, path: str, document: Any, headers: Mapping[str, str] | None = None) -> Response:
        """Send a POST request with JSON.

        Raises:
            ConnectionError: the server closed the connection without a response.
        """
        body = json.dumps(document).encode()
        lines = [
            f"POST {path} HTTP/1.1",
            f"Host: {HOST}",
            "Content-Type: application/json",
            f"Content-Length: {len(body)}",
            *(f"{name}: {value}" for name, value in (headers or {}).items()),
        ]
        return await self._exchange("\r\n".join([*lines, "", ""]).encode() + body)

    def close(self) -> None:
        """Close the connection."""
        if self._streams is not None:
            self._streams[1].close()
            self._streams = None

    async def _exchange(self, request: bytes) -> Response:
        if self._streams is not None and self._streams[0].at_eof():
            self.close()  # the server closed a connection that was idle for too long
        if self._streams is None:
            self._streams = await asyncio.open_connection(HOST, self.port)
        reader, writer = self._streams
        try:
            writer.write(request)
            response = await _read_response(reader)
        except BaseException as error:
            self.close()
            if isinstance(error, asyncio.IncompleteReadError | OSError):
                raise ConnectionError("the server closed the connection") from None
            raise
        if response.headers.get("connection") == "close":
            self.close()
        return response


async def _read_response(reader: asyncio.StreamReader) -> Response:
    first, *lines = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
    pairs = (line.partition(":") for line in lines if line)
    headers = {name.lower(): value.strip() for name, _, value in pairs}
    body = await reader.readexactly(int(headers.get("content-length", "0")))
    return Response(int(first.split(" ", 2)[1]), headers, body)
