"""Limits how many requests a client may send, with one token bucket per client."""

import math
import time
from collections import OrderedDict
from collections.abc import Callable

from starlette.types import ASGIApp, Receive, Scope, Send

from eddi.service.web.middleware.request_id import SCOPE_KEY
from eddi.service.web.problem_details import problem_response

MAX_CLIENTS = 10_000  # with a bucket; the client that was idle for longest loses its bucket
UNLIMITED_PATHS = ("/healthz", "/readyz")  # health checks must not be refused


class RateLimit:
    """Refuses requests of clients that send too many.

    Args:
        app: the application.
        rate: requests per second and client; 0 for no limit.
        burst: requests that a client may send at once.
    """

    def __init__(self, app: ASGIApp, *, rate: float, burst: int) -> None:
        self.app, self.buckets = app, TokenBuckets(rate, burst)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and scope["path"] not in UNLIMITED_PATHS:
            client = scope["client"][0] if scope.get("client") else "unknown"
            wait_s = self.buckets.take(client)
            if wait_s > 0:
                detail = f"too many requests from this address. Try again in {wait_s:.1f} s."
                headers = {"Retry-After": f"{math.ceil(wait_s)}"}
                refusal = problem_response(scope[SCOPE_KEY], 429, detail, headers=headers)
                return await refusal(scope, receive, send)
        return await self.app(scope, receive, send)


class TokenBuckets:
    """A bucket of ``burst`` tokens for each client, refilled with ``rate`` tokens per second."""

    def __init__(
        self,
        rate: float,
        burst: int,
        *,
        clock: Callable[[], float] = time.monotonic,
        max_clients: int = MAX_CLIENTS,
    ) -> None:
        self.rate, self.burst = rate, burst
        self._clock, self._max_clients = clock, max_clients
        self._buckets: OrderedDict[str, tuple[float, float]] = OrderedDict()  # tokens, time of last use

    def __len__(self) -> int:
        return len(self._buckets)

    def take(self, client: str) -> float:
        """Take a token; return 0 on success, otherwise the seconds until there is one."""
        if self.rate == 0:
            return 0.0
        now = self._clock()
        tokens, last_used = self._buckets.pop(client, (float(self.burst), now))
        tokens = min(self.burst, tokens + (now - last_used) * self.rate)
        wait_s = 0.0 if tokens >= 1 else (1 - tokens) / self.rate
        self._buckets[client] = (tokens - 1 if wait_s == 0 else tokens, now)
        while len(self._buckets) > self._max_clients:
            self._buckets.popitem(last=False)
        return wait_s
