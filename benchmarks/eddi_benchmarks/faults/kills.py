"""Random kill -9 of servers, workers and PostgreSQL while people answer.

Every answer that was acknowledged must be stored once, whatever is killed and whenever. People repeat
requests that got no response, with the same idempotency key.
"""

import asyncio
import os
import random
import signal
import threading
import time
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from eddi.store.base import Store
from eddi_benchmarks.service.person import Observations, simulate_people
from eddi_benchmarks.service.server import ServerProcess

GRACE_S = 6.0  # without kills at the end, in which all people get responses again


@dataclass
class KillResult:
    """What was killed, and what became of the answers."""

    kills: Counter[str] = field(default_factory=Counter)
    n_acknowledged: int = 0
    n_lost: int = 0
    n_duplicated: int = 0
    n_faults: int = 0  # of the hash chain
    n_repeated: int = 0  # requests without a response

    def __str__(self) -> str:
        killed = ", ".join(f"{n} {name}" for name, n in sorted(self.kills.items()))
        return (
            f"{self.kills.total()} kills ({killed}); {self.n_acknowledged} answers acknowledged, "
            f"{self.n_lost} lost, {self.n_duplicated} duplicated, {self.n_faults} faults in the chain; "
            f"{self.n_repeated} requests repeated"
        )

    @property
    def is_handled(self) -> bool:
        """Whether nothing was lost, duplicated or damaged."""
        return self.n_acknowledged > 0 and not (self.n_lost + self.n_duplicated + self.n_faults)


def kill_worker(server: ServerProcess, choose: random.Random) -> Callable[[], None]:
    """Return a function that kills one of the workers."""

    def kill() -> None:
        if pids := server.worker_pids():
            os.kill(choose.choice(pids), signal.SIGKILL)

    return kill


def run(
    port: int,
    killers: Mapping[str, Callable[[], None]],
    *,
    n_kills: int,
    period_s: float,
    n_people: int,
    seed: int,
) -> tuple[KillResult, Observations]:
    """Let people answer while something is killed every ``period_s``, at random.

    Args:
        port: of the server.
        killers: functions that kill something, by its name. A function that kills the server itself must
            start another one on the same port.
        n_kills: number of kills.
        period_s: average time between them.
        n_people: people who answer.
        seed: of the answers and the kills.
    """
    result, choose = KillResult(), random.Random(seed)  # noqa: S311  # not for secrets
    names = sorted(killers)

    def kill_repeatedly() -> None:
        for _ in range(n_kills):
            time.sleep(choose.uniform(0.5, 1.5) * period_s)
            name = choose.choice(names)
            killers[name]()
            result.kills[name] += 1

    thread = threading.Thread(target=kill_repeatedly)
    thread.start()
    seconds = n_kills * period_s * 1.1 + GRACE_S
    seen = asyncio.run(simulate_people(port, n_people, seconds, seed=seed, uses_keys=True))
    thread.join()
    return result, seen


def check_store(store: Store, seen: Observations, result: KillResult) -> None:
    """Compare the answers in the store with those that were acknowledged."""
    for key, questions in seen.acknowledged.items():
        events = store.read(f"interview/{key}")
        stored = Counter(event.facts["question"] for event in events if event.kind == "told")
        result.n_acknowledged += len(questions)
        result.n_lost += sum(question not in stored for question in questions)
        result.n_duplicated += sum(n - 1 for n in stored.values())
    result.n_faults = len(store.verify())
    result.n_repeated = seen.n_lost
