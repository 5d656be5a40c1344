"""Refuses requests that would wait too long, before they enter the queue.

Beyond its capacity, a server that accepts everything makes everybody wait ever longer. A server that
refuses the excess at once answers the others in a bounded time. Refusals must be cheap, or they take the
time from those others: they are outside all other middleware, and their bodies are prepared once.
"""

import math
import random
import time
from collections.abc import Callable

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from eddi.service.fhir.operation_outcome import is_fhir_path
from eddi.service.fhir.vocabulary import MEDIA_TYPE
from eddi.service.interviews.metrics import Metrics
from eddi.service.web import problem_details
from eddi.service.web.error_pages import render_status_page
from eddi.service.web.middleware import security_headers
from eddi.service.web.middleware.fhir_errors import outcome_body
from eddi.service.web.middleware.rate_limit import UNLIMITED_PATHS
from eddi.service.web.middleware.raw_headers import get_header
from eddi.service.web.middleware.request_id import RAW_HEADER, create_request_id
from eddi.service.web.rendering import Renderer

MIN_WAITING = 32  # so many requests may always wait: a short burst is no overload
HALF_LIFE_S = 2.0  # of busy time: how fast the estimate of the capacity follows a change
MAX_RETRY_AFTER_S = 30
RETRY_SPREAD_S = 2  # clients that were refused at the same time do not return at the same time
STATUS = 503
DETAIL = "the server is busy. Try again later. Nothing of this request was carried out."
PLACEHOLDER = "0" * 32  # of the number of a request in a prepared body
RAW_PLACEHOLDER = PLACEHOLDER.encode()


class LoadShedding:
    """Refuses requests if the expected waiting time is too long.

    Args:
        app: the application.
        max_wait_s: longest expected waiting time; 0 for no limit.
        metrics: counts the requests that are refused.
    """

    def __init__(self, app: ASGIApp, *, max_wait_s: float, metrics: Metrics) -> None:
        self.app, self.max_wait_s, self.metrics = app, max_wait_s, metrics
        self.load = Load()
        self.refusal = Refusal()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or not self.max_wait_s or scope["path"] in UNLIMITED_PATHS:
            return await self.app(scope, receive, send)
        wait_s = self.load.expected_wait_s()
        if wait_s > self.max_wait_s:
            self.metrics.shed.inc()
            return await self.refusal.send(scope, send, wait_s=wait_s)
        return await self._serve(scope, receive, send)

    async def _serve(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve a request. It counts as waiting once it has arrived completely."""
        is_waiting = not has_body(scope)
        if is_waiting:
            self.load.enter()

        async def receive_and_enter() -> Message:
            nonlocal is_waiting
            message = await receive()
            if not is_waiting and not message.get("more_body", False):
                is_waiting = True
                self.load.enter()
            return message

        try:
            await self.app(scope, receive_and_enter, send)
        finally:
            if is_waiting:
                self.load.leave()


class Load:
    """How many requests wait, and how many are completed per second while some wait."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._n_waiting = 0
        self._changed_at = 0.0
        self._completed = self._busy_s = 0.0  # both with exponentially decreasing weights

    def enter(self) -> None:
        """Count a request that waits."""
        self._update()
        self._n_waiting += 1

    def leave(self) -> None:
        """Count a request that is completed."""
        self._update()
        self._n_waiting -= 1
        self._completed += 1

    def expected_wait_s(self) -> float:
        """Return how long a new request is expected to wait (Little's law); 0 for a short queue."""
        if self._n_waiting < MIN_WAITING:
            return 0.0
        self._update()
        return self._n_waiting * self._busy_s / max(self._completed, 1.0)

    def _update(self) -> None:
        now = self._clock()
        if self._n_waiting:
            elapsed = now - self._changed_at
            weight = 0.5 ** (elapsed / HALF_LIFE_S)
            self._completed *= weight
            self._busy_s = self._busy_s * weight + elapsed
        self._changed_at = now


def has_body(scope: Scope) -> bool:
    """Whether a request announces a body."""
    length = get_header(scope, b"content-length") or "0"
    return length != "0" or get_header(scope, b"transfer-encoding") is not None


class Refusal:
    """The response to a request that is refused: a page, problem details, or an outcome of FHIR."""

    def __init__(self) -> None:
        problem = problem_details.problem_response(PLACEHOLDER, STATUS, DETAIL, kind="busy")
        self._problem = bytes(problem.body), problem_details.CONTENT_TYPE
        self._outcome = outcome_body(bytes(problem.body)), MEDIA_TYPE
        page = render_status_page(Renderer(), STATUS, PLACEHOLDER)
        self._page = page, "text/html; charset=utf-8"

    async def send(self, scope: Scope, send: Send, *, wait_s: float) -> None:
        """Send the response, with the time after which the client should try again."""
        body, content_type = self._choose(scope)
        request_id = create_request_id().encode()
        seconds = min(math.ceil(wait_s), MAX_RETRY_AFTER_S)
        seconds += random.randint(0, RETRY_SPREAD_S)  # noqa: S311  # not for secrets
        headers = [
            (RAW_HEADER, request_id),
            (b"content-type", content_type.encode()),
            (b"content-length", b"%d" % len(body)),
            (b"retry-after", b"%d" % seconds),
            *security_headers.RAW_HEADERS,
        ]
        await send({"type": "http.response.start", "status": STATUS, "headers": headers})
        content = body.replace(RAW_PLACEHOLDER, request_id)
        await send({"type": "http.response.body", "body": content})

    def _choose(self, scope: Scope) -> tuple[bytes, str]:
        """The body and its type that suit a request."""
        if is_fhir_path(scope["path"]):
            return self._outcome
        return self._page if "text/html" in (get_header(scope, b"accept") or "") else self._problem
