"""HTTP connections with limits, so that slow or silent clients cannot occupy the server.

A client must send the head of a request, and then its body, within a limited time. If all connections are
in use, the one that has waited longest for its client is closed in favour of a new one.
"""

from asyncio import AbstractEventLoop, Transport
from collections import OrderedDict
from dataclasses import dataclass, field
from typing import Any

from uvicorn import Config
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol, RequestResponseCycle
from uvicorn.server import ServerState

MAX_HEAD_BYTES = 65_536  # of a request: its first line and all headers
MAX_PIPELINED = 32  # requests that a client may send before it reads the first response
MIN_BYTES_PER_S = 10_000  # a body of this many bytes extends the time for it by one second
TIMEOUT = b"HTTP/1.1 408 Request Timeout\r\ncontent-length: 0\r\nconnection: close\r\n\r\n"
HEAD_TOO_LARGE = (
    b"HTTP/1.1 431 Request Header Fields Too Large\r\ncontent-length: 0\r\nconnection: close\r\n\r\n"
)
TOO_MANY_CONNECTIONS = (
    b"HTTP/1.1 503 Service Unavailable\r\ncontent-type: text/plain; charset=utf-8\r\nretry-after: 1\r\n"
    b"content-length: 46\r\nconnection: close\r\n\r\nToo many connections. Try again in one second."
)


@dataclass(frozen=True)
class ConnectionLimits:
    """The limits of all connections of one server.

    Args:
        max_connections: open connections.
        head_s: seconds until the head of a request is complete.
        body_s: seconds until a small body is complete; large bodies have more time.
        keep_alive_s: seconds that a connection may be idle between two requests.
    """

    max_connections: int = 4096
    head_s: float = 10.0
    body_s: float = 20.0
    keep_alive_s: float = 15.0


@dataclass
class WaitingConnections:
    """The connections that wait for their client, with the time at which they are closed.

    The connection that has waited longest is first.
    """

    limits: ConnectionLimits
    deadlines: "OrderedDict[LimitedConnection, float]" = field(default_factory=OrderedDict)

    def close_late(self, now: float) -> None:
        """Close the connections whose time is over."""
        late = [connection for connection, deadline in self.deadlines.items() if deadline < now]
        for connection in late:
            if connection.flow.read_paused:  # the server does not read, so the client cannot send
                self.deadlines[connection] = now + self.limits.body_s
            else:
                connection.end(TIMEOUT)

    def close_longest(self) -> bool:
        """Close the connection that has waited longest; return whether there is any."""
        if not self.deadlines:
            return False
        connection = next(iter(self.deadlines))
        connection.end()
        return True


class LimitedConnection(HttpToolsProtocol):
    """A connection that is closed if its client is too slow or sends too much."""

    def __init__(
        self,
        config: Config,
        server_state: ServerState,
        app_state: dict[str, Any],
        _loop: AbstractEventLoop | None = None,
        *,
        waiting: WaitingConnections,
    ) -> None:
        super().__init__(config, server_state, app_state, _loop)
        self.waiting, self.limits = waiting, waiting.limits
        self.n_head_bytes = 0
        self.open_cycles: list[RequestResponseCycle] = []  # requests without a complete response

    def connection_made(self, transport: Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        if len(self.connections) > self.limits.max_connections and not self.waiting.close_longest():
            return self.end(TOO_MANY_CONNECTIONS)
        return self._wait_until(self.limits.head_s)

    def connection_lost(self, exc: Exception | None) -> None:
        self.waiting.deadlines.pop(self, None)
        self.pipeline.clear()
        super().connection_lost(exc)

    def eof_received(self) -> bool:  # type: ignore[override]
        """Keep the connection of a client that sends nothing more until it has its responses."""
        if self._is_idle or self.cycle.more_body:
            self._give_up_requests()
            return False
        self.cycle.keep_alive = False
        return True

    def data_received(self, data: bytes) -> None:
        if self.transport.is_closing():
            return
        self.n_head_bytes += len(data)
        super().data_received(data)
        if self._is_idle and self.n_head_bytes > MAX_HEAD_BYTES:
            self.end(HEAD_TOO_LARGE)

    def on_headers_complete(self) -> None:
        super().on_headers_complete()
        if self.cycle is not None:
            others = [c for c in self.open_cycles if not c.response_complete and c is not self.cycle]
            self.open_cycles = [*others, self.cycle]
        self._wait_until(self.limits.body_s)
        if len(self.pipeline) > MAX_PIPELINED:
            self.end()

    def on_body(self, body: bytes) -> None:
        super().on_body(body)
        self.n_head_bytes = 0
        if self in self.waiting.deadlines:
            self.waiting.deadlines[self] += len(body) / MIN_BYTES_PER_S

    def on_message_complete(self) -> None:
        super().on_message_complete()
        self.n_head_bytes = 0
        self.waiting.deadlines.pop(self, None)

    def on_response_complete(self) -> None:
        super().on_response_complete()
        if self._is_idle and not self.transport.is_closing():
            self._wait_until(self.limits.keep_alive_s + self.limits.head_s)

    def pause_writing(self) -> None:
        super().pause_writing()
        self._wait_until(self.limits.body_s)

    def resume_writing(self) -> None:
        super().resume_writing()
        if not self._is_idle:
            self.waiting.deadlines.pop(self, None)

    def send_400_response(self, msg: str) -> None:
        self._give_up_requests()
        super().send_400_response(msg)

    def end(self, response: bytes = b"") -> None:
        """Close the connection, after a last response unless another one has begun."""
        self.waiting.deadlines.pop(self, None)
        has_begun = not self._is_idle and self.cycle.response_started
        self._give_up_requests()
        if response and not has_begun and not self.transport.get_write_buffer_size():
            self.transport.write(response)
            self.transport.close()
        else:
            self.transport.abort()

    def _give_up_requests(self) -> None:
        """Let the application know that nobody receives its responses."""
        for cycle in self.open_cycles:
            cycle.disconnected = True
            cycle.message_event.set()
        self.open_cycles.clear()

    @property
    def _is_idle(self) -> bool:
        """Whether no request is being received or served, apart from an incomplete head."""
        return self.cycle is None or self.cycle.response_complete

    def _wait_until(self, seconds: float) -> None:
        """Start to wait for the client, at most for ``seconds``."""
        self.waiting.deadlines[self] = self.loop.time() + seconds
        self.waiting.deadlines.move_to_end(self)
