"""Half-sent requests and too many clients: the server stays alive, and others are served."""

import asyncio
import socket
import time
from contextlib import ExitStack
from dataclasses import dataclass

import httpx

from eddi_benchmarks.service.http_connection import HOST
from eddi_benchmarks.service.person import simulate_people
from eddi_benchmarks.service.server import ServerProcess

HALF_REQUESTS = (
    b"",
    b"GET /healthz HTTP/1.1\r\nHost: loc",
    b"POST /ask HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 50\r\n\r\n{",
)
CHECK_S = 5.0  # for a health check


@dataclass(frozen=True)
class OverloadResult:
    """What happened during an overload."""

    n_connections: int  # that were opened
    n_closed: int  # of them, after the time limits
    health_ms: float  # the slowest health check
    n_failed_checks: int
    n_answers: int  # of people who were interviewed meanwhile
    share_shed: float
    n_characters: int  # that the server printed

    def __str__(self) -> str:
        return (
            f"{self.n_connections} half-sent requests, {self.n_closed} closed by the server; "
            f"{self.n_failed_checks} health checks failed, the slowest took {self.health_ms:.0f} ms; "
            f"{self.n_answers} answers meanwhile, {self.share_shed:.0%} of requests refused; "
            f"{self.n_characters} characters of messages"
        )

    @property
    def is_handled(self) -> bool:
        """Whether the server closed all connections, and others were served."""
        return self.n_closed == self.n_connections and not self.n_failed_checks and self.n_answers > 0


def run(
    server: ServerProcess, *, n_connections: int, n_people: int, seconds: float, wait_s: float
) -> OverloadResult:
    """Open half-sent requests, interview people meanwhile, and wait until the server closes all.

    Args:
        server: the server.
        n_connections: half-sent requests.
        n_people: people who are interviewed.
        seconds: how long they are interviewed.
        wait_s: how long the server may take to close the connections.
    """
    with ExitStack() as stack:
        connections = [_open(server.port, number, stack) for number in range(n_connections)]
        checks = [_check_health(server.port) for _ in range(3)]
        seen = asyncio.run(simulate_people(server.port, n_people, seconds))
        checks += [_check_health(server.port) for _ in range(3)]
        n_closed = _count_closed(connections, time.monotonic() + wait_s)
        checks.append(_check_health(server.port))
    n_requests = len(seen.seconds) + len(seen.acknowledged) + seen.n_shed
    return OverloadResult(
        n_connections,
        n_closed,
        health_ms=max(checks) * 1000,
        n_failed_checks=sum(seconds >= CHECK_S for seconds in checks),
        n_answers=len(seen.seconds),
        share_shed=seen.n_shed / max(n_requests, 1),
        n_characters=server.n_characters,
    )


def _open(port: int, number: int, stack: ExitStack) -> socket.socket:
    connection = stack.enter_context(socket.create_connection((HOST, port), timeout=10))
    connection.sendall(HALF_REQUESTS[number % len(HALF_REQUESTS)])
    return connection


def _check_health(port: int) -> float:
    """Return how long a health check takes; at least `CHECK_S` if it fails."""
    started = time.perf_counter()
    try:
        response = httpx.get(f"http://{HOST}:{port}/healthz", timeout=CHECK_S)
        is_alive = response.status_code == 200
    except httpx.TransportError:
        is_alive = False
    seconds = time.perf_counter() - started
    return seconds if is_alive else max(seconds, CHECK_S)


def _count_closed(connections: list[socket.socket], deadline: float) -> int:
    """Return how many connections the server closes before the deadline."""
    n_closed = 0
    for connection in connections:
        connection.settimeout(max(deadline - time.monotonic(), 0.01))
        try:
            while connection.recv(4096):
                pass
            n_closed += 1
        except TimeoutError:
            continue
        except ConnectionError:
            n_closed += 1
    return n_closed
