"""How many people a server can interview at the same time, and how long they wait.

``python -m eddi_benchmarks.speed.service_load MODEL`` starts real servers with one model: one process,
and two workers. With ``--before SRC`` also the version of eddi in another source folder. Each is measured
with 1 to 2,500 people at a time, in turn, so that other programs on the machine affect all of them alike.

Simulated people answer immediately. A request that the server refuses as busy is repeated after the time
that the server says. The response time is that of accepted answers, which are on disk by then.
"""

import argparse
import asyncio
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np

from eddi_benchmarks.harness.files import write_json
from eddi_benchmarks.service.person import Observations, simulate_people
from eddi_benchmarks.service.server import ServerProcess, run_server

N_PEOPLE = (1, 16, 64, 250, 1000, 2500)
WARM_UP_S = 1.0  # not measured: connections are opened, and caches are filled
COLUMNS = "people  server      answers/s  cpu ms  p50 ms  p99 ms    shed  memory MB  errors"


@dataclass(frozen=True)
class LoadResult:
    """The load of one server by a number of people."""

    server: str
    n_people: int
    answers_per_s: float
    cpu_ms: float  # of all processes of the server, per answer, including the start of interviews
    p50_ms: float
    p99_ms: float
    share_shed: float  # of all requests
    memory_mb: float
    n_errors: int

    def __str__(self) -> str:
        return (
            f"{self.n_people:6}  {self.server:10} {self.answers_per_s:10.1f} {self.cpu_ms:7.2f} "
            f"{self.p50_ms:7.0f} {self.p99_ms:7.0f} {self.share_shed:7.1%} {self.memory_mb:10.0f} "
            f"{self.n_errors:7}"
        )


def measure(server: ServerProcess, name: str, *, n_people: int, seconds: float) -> LoadResult:
    """Measure one server with a number of people."""
    started, cpu_before = time.perf_counter(), server.cpu_seconds()
    seen = run_people(server.port, n_people, WARM_UP_S + seconds)
    cpu_ms = (server.cpu_seconds() - cpu_before) / max(len(seen.seconds), 1) * 1000
    is_measured = np.array(seen.finished_at) >= started + WARM_UP_S
    response_s = np.array(seen.seconds)[is_measured] if is_measured.any() else np.array([np.nan])
    n_requests = len(seen.seconds) + len(seen.acknowledged) + seen.n_shed
    return LoadResult(
        name,
        n_people,
        answers_per_s=int(is_measured.sum()) / seconds,
        cpu_ms=cpu_ms,
        p50_ms=float(np.percentile(response_s, 50)) * 1000,
        p99_ms=float(np.percentile(response_s, 99)) * 1000,
        share_shed=seen.n_shed / max(n_requests, 1),
        memory_mb=server.memory_mb(),
        n_errors=seen.n_errors + seen.n_lost,
    )


def run_people(port: int, n_people: int, seconds: float) -> Observations:
    """Let people take interviews, with the event loop that the server uses if there is one."""
    try:
        import uvloop
    except ImportError:
        return asyncio.run(simulate_people(port, n_people, seconds))
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        return runner.run(simulate_people(port, n_people, seconds))


def measure_all(
    model: Path,
    servers: Mapping[str, tuple[Sequence[str], Path | None]],
    *,
    store: str,
    seconds: float,
    n_people: Sequence[int],
) -> list[LoadResult]:
    """Measure all servers, each with its options and the source folder of its version."""
    results = []
    with ExitStack() as stack:
        folder = stack.enter_context(tempfile.TemporaryDirectory())
        for number in n_people:
            for name, (options, source) in servers.items():
                url = store.format(folder=folder, name=name.replace(" ", "-"))
                with run_server(model, store=url, options=options, source=source) as server:
                    result = measure(server, name, n_people=number, seconds=seconds)
                results.append(result)
                sys.stdout.write(f"{result}\n")
                sys.stdout.flush()
    return results


def main() -> None:
    """Measure, and print a line for each server and number of people."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("model", type=Path, help="a model written by `eddi fit`")
    parser.add_argument(
        "--seconds", type=float, default=8.0, help="for each server and number of people"
    )
    parser.add_argument("--people", type=int, nargs="+", default=list(N_PEOPLE))
    parser.add_argument("--store", default="sqlite:///{folder}/{name}.db")
    parser.add_argument("--before", type=Path, help="source folder of another version")
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--results", type=Path, help="JSON file for the results")
    options = parser.parse_args()
    servers: dict[str, tuple[Sequence[str], Path | None]] = {}
    if options.before is not None:
        servers["before"] = ((), options.before)
    servers["1 process"] = ((), None)
    if options.workers > 1:
        servers[f"{options.workers} workers"] = (("--workers", f"{options.workers}"), None)
    sys.stdout.write(f"{COLUMNS}\n")
    results = measure_all(
        options.model,
        servers,
        store=options.store,
        seconds=options.seconds,
        n_people=options.people,
    )
    if options.results is not None:
        write_json(options.results, {"load": [asdict(result) for result in results]})


if __name__ == "__main__":
    main()
