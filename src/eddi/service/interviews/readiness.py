"""Whether interviews can be held, checked outside the threads that serve requests."""

import asyncio
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

from eddi.service.interviews.batcher import BusyError

MAX_AGE_S = 1.0  # how long a result is valid: checks must not become load
TIMEOUT_S = 3.0  # after which a check that has not returned counts as failed


class Readiness:
    """Runs a check at most once per second, on a thread of its own.

    Args:
        run_check: raises an error if interviews cannot be held.
        timeout_s: how long it may take.
    """

    def __init__(self, run_check: Callable[[], None], *, timeout_s: float = TIMEOUT_S) -> None:
        self._run_check, self._timeout_s = run_check, timeout_s
        self._executor = ThreadPoolExecutor(1, thread_name_prefix="eddi-readiness")
        self._result: asyncio.Future[None] | None = None
        self._started_at = 0.0

    async def check(self) -> None:
        """Raise the error of a check that is at most a second old, or still runs.

        Raises:
            BusyError: the check does not return.
        """
        now = time.monotonic()
        is_old = now - self._started_at > MAX_AGE_S
        if self._result is None or (self._result.done() and is_old):
            self._started_at = now
            loop = asyncio.get_running_loop()
            self._result = loop.run_in_executor(self._executor, self._run_check)
        done, _ = await asyncio.wait([self._result], timeout=self._timeout_s)
        if not done:
            raise BusyError(f"the store did not respond within {self._timeout_s:g} s.")
        self._result.result()
