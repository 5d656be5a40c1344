"""A simulated person, who takes one interview after another and answers at random."""

import asyncio
import random
import time
import uuid
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from eddi_benchmarks.service.http_connection import HttpConnection, Response

BUSY = 503  # the server refuses a request; it says when to try again
RETRY_S = 0.2  # before a request is repeated that got no response


@dataclass
class Observations:
    """What simulated people saw.

    Args:
        seconds: from sending an answer until the next question arrives, of every answer that was accepted.
        finished_at: when these answers were accepted.
        n_shed: requests that the server refused because it was busy.
        n_lost: requests without a response, which were repeated.
        n_errors: other responses than expected.
        acknowledged: the questions whose answers were acknowledged, by interview.
    """

    seconds: list[float] = field(default_factory=list)
    finished_at: list[float] = field(default_factory=list)
    n_shed: int = 0
    n_lost: int = 0
    n_errors: int = 0
    acknowledged: dict[str, list[str]] = field(default_factory=dict)


class Person:
    """A person who repeats requests that were refused or lost.

    Args:
        port: of the server.
        end: when to stop.
        observations: what all people see.
        seed: of the answers.
        uses_keys: whether requests have idempotency keys, so that none is carried out twice.
    """

    def __init__(
        self, port: int, end: float, observations: Observations, *, seed: int, uses_keys: bool
    ) -> None:
        self.connection, self.end, self.observations = HttpConnection(port), end, observations
        self.uses_keys = uses_keys
        self.random = random.Random(seed)  # noqa: S311  # not for secrets

    async def take_interviews(self) -> None:
        """Take one interview after another until the end."""
        try:
            while time.perf_counter() < self.end:
                await self._take_interview()
        finally:
            self.connection.close()

    async def _take_interview(self) -> None:
        started = await self._send("/interviews", {})
        if started is None or started.status != 201:
            return
        state = started.document
        key = state["id"]
        questions = self.observations.acknowledged.setdefault(key, [])
        while state["question"] is not None and time.perf_counter() < self.end:
            question = state["question"]
            values = {v["name"]: self._choose_value(v) for v in question["reveals"]}
            answer = {"question": question["name"], "values": values}
            response = await self._send(f"/interviews/{key}/answers", answer, is_answer=True)
            if response is None or response.status != 200:
                return
            questions.append(question["name"])
            state = response.document

    async def _send(self, path: str, document: Any, *, is_answer: bool = False) -> Response | None:
        """Send a request until the server accepts it; None if the time is over."""
        key = uuid.UUID(int=self.random.getrandbits(128)).hex
        headers = {"Idempotency-Key": key} if self.uses_keys else {}
        while time.perf_counter() < self.end:
            sent = time.perf_counter()
            try:
                response = await self.connection.post(path, document, headers)
            except OSError:
                self.observations.n_lost += 1
                await asyncio.sleep(RETRY_S)
                continue
            if response.status == BUSY:
                self.observations.n_shed += 1
                await asyncio.sleep(_retry_after(response.headers) * self.random.uniform(0.5, 1.5))
                continue
            self._note(response, sent, is_answer=is_answer)
            return response
        return None

    def _note(self, response: Response, sent: float, *, is_answer: bool) -> None:
        now = time.perf_counter()
        if response.status >= 400:
            self.observations.n_errors += 1
        elif is_answer:
            self.observations.seconds.append(now - sent)
            self.observations.finished_at.append(now)

    def _choose_value(self, variable: dict[str, Any]) -> Any:
        """A random valid value of a variable."""
        if "levels" in variable:
            return self.random.choice(variable["levels"])
        low = variable.get("low", 0.0)
        value = self.random.uniform(low, variable.get("high", low + 100.0))
        return round(value) if variable["kind"] == "count" else value


def _retry_after(headers: Mapping[str, str]) -> float:
    return float(headers.get("retry-after", "1"))


async def simulate_people(
    port: int, n_people: int, seconds: float, *, seed: int | None = None, uses_keys: bool = False
) -> Observations:
    """Let several people take interviews at the same time."""
    observations = Observations()
    first = random.randrange(2**32) if seed is None else seed  # noqa: S311
    end = time.perf_counter() + seconds
    people = [
        Person(port, end, observations, seed=first + number, uses_keys=uses_keys)
        for number in range(n_people)
    ]
    await asyncio.gather(*(person.take_interviews() for person in people))
    return observations
