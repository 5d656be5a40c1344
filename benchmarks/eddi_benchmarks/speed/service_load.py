"""How long people wait for their next question when many are interviewed at the same time.

``python -m eddi_benchmarks.speed.service_load MODEL`` starts three real servers with one model, and
lets 1, 16 and 64 people at a time answer questions of each server in turn:

- threads: every request computes its own next question in its own thread, without batching;
- serial: one thread has the model and handles one request after another;
- batched: one thread has the model and handles all waiting requests at once.

If other programs run on the machine, the CPU time per answer is the most reliable number.
"""

import argparse
import asyncio
import json
import os
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from eddi.errors import EddiError
from eddi.service.settings import Settings

N_PEOPLE = (1, 16, 64)
MODES = {"threads": 0, "serial": 1, "batched": Settings().batch}  # values of EDDI_BATCH
CPU_METRIC = "process_cpu_seconds_total "  # in /metrics, on Linux only
N_ROUNDS = 2  # the modes alternate, so that other programs affect all of them


@dataclass
class ResponseTimes:
    """The times from sending an answer until the next question arrives."""

    seconds: list[float] = field(default_factory=list)
    n_in_time: int = 0  # answers handled before the end of the measurement
    measured_seconds: float = 0.0  # duration of the measurement
    cpu_seconds: float = 0.0  # of the server
    n_errors: int = 0

    def combine(self, other: "ResponseTimes") -> "ResponseTimes":
        return ResponseTimes(
            self.seconds + other.seconds,
            self.n_in_time + other.n_in_time,
            self.measured_seconds + other.measured_seconds,
            self.cpu_seconds + other.cpu_seconds,
            self.n_errors + other.n_errors,
        )

    @property
    def answers_per_second(self) -> float:
        return self.n_in_time / self.measured_seconds

    @property
    def cpu_ms_per_answer(self) -> float:
        """The CPU time per answer, including the start of interviews."""
        return self.cpu_seconds / len(self.seconds) * 1000

    def percentile_ms(self, percent: float) -> float:
        return float(np.percentile(self.seconds, percent)) * 1000


class HttpConnection:
    """A minimal, fast HTTP client on one connection."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.reader, self.writer = reader, writer

    @classmethod
    async def open(cls, port: int) -> "HttpConnection":
        return cls(*await asyncio.open_connection("127.0.0.1", port))

    def close(self) -> None:
        self.writer.close()

    async def get(self, path: str) -> tuple[int, bytes]:
        """The status and body of the response to a GET request."""
        return await self._send(f"GET {path} HTTP/1.1")

    async def post(self, path: str, document: Any) -> tuple[int, Any]:
        """The status and JSON document of the response to a POST request."""
        body = json.dumps(document).encode()
        head = f"POST {path} HTTP/1.1\r\nContent-Type: application/json\r\nContent-Length: {len(body)}"
        status, content = await self._send(head, body)
        return status, json.loads(content)

    async def _send(self, head: str, body: bytes = b"") -> tuple[int, bytes]:
        self.writer.write(f"{head}\r\nHost: 127.0.0.1\r\n\r\n".encode() + body)
        await self.writer.drain()
        response = (await self.reader.readuntil(b"\r\n\r\n")).decode().lower()
        length = int(response.partition("content-length: ")[2].partition("\r\n")[0])
        return int(response.split(" ", 2)[1]), await self.reader.readexactly(length)


async def server_cpu_seconds(port: int) -> float:
    """The CPU time that the server has used so far; 0 if it does not report it."""
    connection = await HttpConnection.open(port)
    _, content = await connection.get("/metrics")
    connection.close()
    lines = content.decode().splitlines()
    return next((float(line.split()[1]) for line in lines if line.startswith(CPU_METRIC)), 0.0)


async def simulate_person(port: int, end: float, times: ResponseTimes) -> None:
    """Take one interview after another until ``end``, answering immediately."""
    connection = await HttpConnection.open(port)
    random = np.random.default_rng()  # new answers, which no cache of the server contains
    while time.perf_counter() < end:
        _, state = await connection.post("/interviews", {})
        path = f"/interviews/{state['id']}/answers"
        while state["question"] is not None and time.perf_counter() < end:
            question = state["question"]
            values = {v["name"]: _random_value(v, random) for v in question["reveals"]}
            answer = {"question": question["name"], "values": values}
            sent = time.perf_counter()
            status, state = await connection.post(path, answer)
            received = time.perf_counter()
            times.seconds.append(received - sent)
            times.n_in_time += received <= end
            if status != 200:
                times.n_errors += 1
                break
    connection.close()


def _random_value(variable: dict[str, Any], random: np.random.Generator) -> Any:
    """A random valid value of a variable."""
    if "levels" in variable:
        return variable["levels"][random.integers(len(variable["levels"]))]
    low = variable.get("low", 0.0)
    value = random.uniform(low, variable.get("high", low + 100.0))
    return round(value) if variable["kind"] == "count" else value


async def simulate_people(port: int, n_people: int, seconds: float) -> ResponseTimes:
    """Let several people answer at the same time."""
    times = ResponseTimes(measured_seconds=seconds)
    before = await server_cpu_seconds(port)
    end = time.perf_counter() + seconds
    await asyncio.gather(*(simulate_person(port, end, times) for _ in range(n_people)))
    times.cpu_seconds = await server_cpu_seconds(port) - before
    return times


@contextmanager
def run_server(model: Path, *, batch: int, store: str) -> Iterator[int]:
    """Run a real server in a process of its own; yields its port."""
    environment = {"EDDI_BATCH": f"{batch}", "EDDI_RATE": "0", "EDDI_LOG": "warning"}
    arguments = ["-m", "eddi", "serve", str(model), "--port", "0", "--store", store]
    with subprocess.Popen(  # noqa: S603  # our own command
        [sys.executable, *arguments],
        env={**os.environ, **environment},
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        try:
            yield _wait_for_port(process)
        finally:
            process.terminate()
            process.communicate()


def _wait_for_port(process: "subprocess.Popen[str]") -> int:
    assert process.stderr is not None  # noqa: S101  # a pipe
    output = ""
    for line in process.stderr:
        output += line
        if match := re.search(r"http://localhost:(\d+)", line):
            return int(match[1])
    raise EddiError(f"the server did not start. Its output: {output.strip()}")


def measure(model: Path, *, seconds: float, store: str) -> dict[tuple[str, int], ResponseTimes]:
    """The response times of each mode and number of people."""
    results: dict[tuple[str, int], ResponseTimes] = {}
    with ExitStack() as stack:
        folder = stack.enter_context(tempfile.TemporaryDirectory())
        ports = {}
        for mode, batch in MODES.items():
            url = store.format(folder=folder, mode=mode)
            ports[mode] = stack.enter_context(run_server(model, batch=batch, store=url))
        for _ in range(N_ROUNDS):
            for n_people in N_PEOPLE:
                for mode, port in ports.items():
                    times = asyncio.run(simulate_people(port, n_people, seconds / N_ROUNDS))
                    earlier = results.get((mode, n_people), ResponseTimes())
                    results[mode, n_people] = earlier.combine(times)
    return results


def main() -> None:
    """Measure, and print a line for each mode and number of people."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("model", type=Path, help="a model written by `eddi fit`")
    parser.add_argument("--seconds", type=float, default=10.0, help="for each mode and number of people")
    parser.add_argument("--store", default="sqlite:///{folder}/{mode}.db")
    options = parser.parse_args()
    results = measure(options.model, seconds=options.seconds, store=options.store)
    lines = ["people  mode      answers/s   p50 ms   p99 ms   cpu ms  errors"]
    for (mode, n_people), times in sorted(results.items(), key=lambda item: item[0][1]):
        numbers = (
            f"{times.answers_per_second:10.1f} {times.percentile_ms(50):8.1f} "
            f"{times.percentile_ms(99):8.1f} {times.cpu_ms_per_answer:8.1f}"
        )
        lines.append(f"{n_people:6}  {mode:8} {numbers} {times.n_errors:7}")
    most_people = N_PEOPLE[-1]
    batched = results["batched", most_people].answers_per_second
    for mode in ("threads", "serial"):
        gain = batched / results[mode, most_people].answers_per_second
        lines.append(f"{most_people} people, batched: {gain:.1f} times the answers of {mode}")
    sys.stdout.write("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
