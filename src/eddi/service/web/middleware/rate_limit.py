"""How often a client may come: a bucket of tokens for each, and memory for so many clients only."""

import time
from collections import OrderedDict
from collections.abc import Callable

MAX_CLIENTS = 10_000  # remembered at once; those not seen for longest start anew


class Buckets:
    """A bucket of ``burst`` tokens for each client, filled by ``rate`` tokens a second."""

    def __init__(
        self,
        rate: float,
        burst: int,
        *,
        clock: Callable[[], float] = time.monotonic,
        most: int = MAX_CLIENTS,
    ) -> None:
        self.rate, self.burst = rate, burst
        self._clock, self._most = clock, most
        self._left: OrderedDict[str, tuple[float, float]] = OrderedDict()  # tokens, and when

    def __len__(self) -> int:
        return len(self._left)

    def seconds_to_wait(self, client: str) -> float:
        """0 where the client may come now, which takes a token; else how long until it may."""
        if self.rate == 0:
            return 0.0
        now = self._clock()
        tokens, then = self._left.pop(client, (float(self.burst), now))
        tokens = min(self.burst, tokens + (now - then) * self.rate)
        wait = 0.0 if tokens >= 1 else (1 - tokens) / self.rate
        self._left[client] = (tokens - 1 if wait == 0 else tokens, now)
        while len(self._left) > self._most:
            self._left.popitem(last=False)
        return wait
