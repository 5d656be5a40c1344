"""How long people wait for their next question when many are interviewed at once.

``python -m eddi_benchmarks.speed.service_load`` starts three real servers on one model, and lets 1, 16
and 64 people at a time answer questions at each in turn:

- alone: every request works out its own next question, in its own thread, as a service does that has no
  batcher;
- in turn: one thread has the model, and takes one request after the other;
- gathered: one thread has the model, and takes all who wait at once.

The processor time that an answer costs the server says most where other programs run beside it.
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

PEOPLE = (1, 16, 64)
MODES = {"alone": 0, "in turn": 1, "gathered": Settings().batch}  # as EDDI_BATCH has it
CPU = "process_cpu_seconds_total "  # of /metrics; only Linux tells
ROUNDS = 2  # the modes take turns, so that what else this machine does touches both


@dataclass
class Waits:
    """How long answers took to bring the next question, and for how long this was measured."""

    seconds: list[float] = field(default_factory=list)
    in_time: int = 0  # answers that were taken before the time was up
    measured_s: float = 0.0
    cpu_s: float = 0.0  # that the server took for it
    errors: int = 0

    def plus(self, other: "Waits") -> "Waits":
        return Waits(
            self.seconds + other.seconds,
            self.in_time + other.in_time,
            self.measured_s + other.measured_s,
            self.cpu_s + other.cpu_s,
            self.errors + other.errors,
        )

    @property
    def a_second(self) -> float:
        """Answers the server took each second."""
        return self.in_time / self.measured_s

    @property
    def cpu_ms(self) -> float:
        """Processor time of an answer, openings of interviews included."""
        return self.cpu_s / len(self.seconds) * 1000

    def ms(self, percent: float) -> float:
        """The time that so many percent of answers stayed below."""
        return float(np.percentile(self.seconds, percent)) * 1000


class Caller:
    """One person's connection to the server: as little of an HTTP client as will do, to be fast."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.reader, self.writer = reader, writer

    @classmethod
    async def at(cls, port: int) -> "Caller":
        return cls(*await asyncio.open_connection("127.0.0.1", port))

    async def post(self, path: str, document: Any) -> tuple[int, Any]:
        """The status and the JSON that a POST is answered with."""
        body = json.dumps(document).encode()
        head = f"POST {path} HTTP/1.1\r\nContent-Type: application/json\r\nContent-Length: {len(body)}"
        status, content = await self.sent(head, body)
        return status, json.loads(content)

    async def sent(self, head: str, body: bytes = b"") -> tuple[int, bytes]:
        """The status and the body that a request is answered with."""
        self.writer.write(f"{head}\r\nHost: 127.0.0.1\r\n\r\n".encode() + body)
        await self.writer.drain()
        answer = (await self.reader.readuntil(b"\r\n\r\n")).decode().lower()
        length = int(answer.partition("content-length: ")[2].partition("\r\n")[0])
        return int(answer.split(" ", 2)[1]), await self.reader.readexactly(length)


async def cpu_s(port: int) -> float:
    """Processor time that the server has taken so far; 0 where it cannot tell."""
    caller = await Caller.at(port)
    _, content = await caller.sent("GET /metrics HTTP/1.1")
    caller.writer.close()
    lines = content.decode().splitlines()
    return next((float(line.split()[1]) for line in lines if line.startswith(CPU)), 0.0)


async def person(port: int, until: float, waits: Waits) -> None:
    """Hold one interview after the other, answering at once."""
    caller = await Caller.at(port)
    random = np.random.default_rng()  # somebody new, or the server would remember where they stood
    while time.perf_counter() < until:
        _, turn = await caller.post("/interviews", {})
        path = f"/interviews/{turn['id']}/answers"
        while turn["question"] is not None and time.perf_counter() < until:
            said = {one["name"]: _said(one, random) for one in turn["question"]["reveals"]}
            asked = {"question": turn["question"]["name"], "values": said}
            began = time.perf_counter()
            status, turn = await caller.post(path, asked)
            ended = time.perf_counter()
            waits.seconds.append(ended - began)
            waits.in_time += ended <= until
            if status != 200:
                waits.errors += 1
                break
    caller.writer.close()


def _said(variable: dict[str, Any], random: np.random.Generator) -> Any:
    """Something that may be answered."""
    if "levels" in variable:
        return variable["levels"][random.integers(len(variable["levels"]))]
    low = variable.get("low", 0.0)
    value = random.uniform(low, variable.get("high", low + 100.0))
    return round(value) if variable["kind"] == "count" else value


async def crowd(port: int, n_people: int, seconds: float) -> Waits:
    """Let so many people answer for so long."""
    waits = Waits(measured_s=seconds)
    before = await cpu_s(port)
    until = time.perf_counter() + seconds
    await asyncio.gather(*(person(port, until, waits) for _ in range(n_people)))
    waits.cpu_s = await cpu_s(port) - before
    return waits


@contextmanager
def server(model: Path, *, batch: int, store: str) -> Iterator[int]:
    """A real server in a process of its own; gives its port."""
    settings = {"EDDI_BATCH": f"{batch}", "EDDI_RATE": "0", "EDDI_LOG": "warning"}
    words = ["-m", "eddi", "serve", str(model), "--port", "0", "--store", store]
    with subprocess.Popen(  # noqa: S603  # our own command
        [sys.executable, *words], env={**os.environ, **settings}, stderr=subprocess.PIPE, text=True
    ) as process:
        try:
            yield _port(process)
        finally:
            process.terminate()
            process.communicate()


def _port(process: "subprocess.Popen[str]") -> int:
    assert process.stderr is not None  # noqa: S101  # a pipe
    said = ""
    for line in process.stderr:
        said += line
        if found := re.search(r"http://localhost:(\d+)", line):
            return int(found[1])
    raise EddiError(f"the server did not start. It said: {said.strip()}")


def measure(model: Path, *, seconds: float, store: str) -> dict[tuple[str, int], Waits]:
    """The waits of each mode and number of people."""
    found: dict[tuple[str, int], Waits] = {}
    with ExitStack() as leaving:
        folder = leaving.enter_context(tempfile.TemporaryDirectory())
        ports = {}
        for mode, batch in MODES.items():
            url = store.format(folder=folder, mode=mode.replace(" ", "-"))
            ports[mode] = leaving.enter_context(server(model, batch=batch, store=url))
        for _ in range(ROUNDS):
            for n_people in PEOPLE:
                for mode, port in ports.items():
                    waits = asyncio.run(crowd(port, n_people, seconds / ROUNDS))
                    found[mode, n_people] = found.get((mode, n_people), Waits()).plus(waits)
    return found


def main() -> None:
    """Measure, and print a line for each mode and number of people."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("model", type=Path, help="a model written by `eddi fit`")
    parser.add_argument("--seconds", type=float, default=10.0, help="for each mode and number of people")
    parser.add_argument("--store", default="sqlite:///{folder}/{mode}.db")
    options = parser.parse_args()
    found = measure(options.model, seconds=options.seconds, store=options.store)
    lines = ["people  mode      answers/s   p50 ms   p99 ms   cpu ms  errors"]
    for (mode, n_people), waits in sorted(found.items(), key=lambda one: one[0][1]):
        figures = f"{waits.a_second:10.1f} {waits.ms(50):8.1f} {waits.ms(99):8.1f} {waits.cpu_ms:8.1f}"
        lines.append(f"{n_people:6}  {mode:8} {figures} {waits.errors:7}")
    for mode in ("alone", "in turn"):
        gain = found["gathered", PEOPLE[-1]].a_second / found[mode, PEOPLE[-1]].a_second
        lines.append(f"{PEOPLE[-1]} people gathered: {gain:.1f} times the answers of {mode}")
    sys.stdout.write("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
