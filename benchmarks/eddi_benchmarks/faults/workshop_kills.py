"""Random kill -9 of the server while an analyst publishes, edits, deletes, and imports outcomes.

Every change that was acknowledged must be in the store. A change without a response may be there or not.
"""

import random
import threading
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field

import httpx

from eddi.service.analyst.models.publishing import Publisher, QuestionnaireNotFoundError
from eddi.service.interviews.history import interview_stream, name_person
from eddi.service.interviews.outcomes.outcome import read_outcome
from eddi.store.base import FORGOTTEN, Store

N_IMPORTED = 50  # people in each file of outcomes
QUESTIONNAIRE, PERSON = "questionnaire", "person"
DELETED = None
SECONDS_TO_RESTART = 60.0

Subject = tuple[str, str]  # a questionnaire and its name, or a person and the key of the interview
State = object  # the title of a questionnaire, or the outcome of a person; None if it is deleted


@dataclass
class WorkshopKillResult:
    """What was killed, and what became of the changes."""

    n_kills: int = 0
    acknowledged: Counter[str] = field(default_factory=Counter)
    n_unanswered: int = 0
    lost: list[str] = field(default_factory=list)
    n_faults: int = 0  # of the hash chain

    def __str__(self) -> str:
        counts = ", ".join(f"{n} {name}" for name, n in sorted(self.acknowledged.items()))
        return (
            f"{self.n_kills} kills; acknowledged: {counts}; {len(self.lost)} lost, {self.n_faults} faults in "
            f"the chain; {self.n_unanswered} requests without a response"
        )

    @property
    def is_handled(self) -> bool:
        """Whether nothing was lost or damaged."""
        return bool(self.acknowledged) and not self.lost and not self.n_faults


@dataclass(frozen=True)
class _Change:
    """A request, and the states that it leads to."""

    kind: str
    send: Callable[[httpx.Client], httpx.Response]
    states: Mapping[Subject, State]


class _Analyst:
    """Sends changes one after another, and remembers which ones were acknowledged."""

    def __init__(self, port: int, result: WorkshopKillResult) -> None:
        self.client = httpx.Client(base_url=f"http://127.0.0.1:{port}", timeout=20)
        self.result = result
        self.known: dict[Subject, State] = {}
        self.possible: dict[Subject, list[State]] = defaultdict(list)
        self.is_stopped = threading.Event()

    def run(self, target: float) -> None:
        """Change things until `is_stopped` is set."""
        self._wait_until_ready()
        digest = self.client.get("/models").json()[0]["sha256"]
        name = self.client.get("/questionnaires").json()[0]["name"]
        people = [self._start_interview() for _ in range(N_IMPORTED)]
        for change in self._make_changes(digest, name, [key for key in people if key], target):
            if self.is_stopped.is_set():
                return
            self._send(change)

    def _make_changes(
        self, digest: str, name: str, people: list[str], target: float
    ) -> Iterator[_Change]:
        number = 0
        while True:
            number += 1
            yield _publish(f"q{number}", digest)
            yield _edit(f"q{number}", f"Title {number}")
            if number % 2:
                yield _delete(f"q{number}")
            yield _import(name, people, target + number / 1000)
            if key := self._start_interview():
                yield _import(name, [key], target + number / 1000)
                yield _forget(key)

    def _start_interview(self) -> str:
        try:
            return str(self.client.post("/interviews", json={}).json()["id"])
        except (httpx.TransportError, KeyError, ValueError):
            self._wait_until_ready()
            return ""

    def _send(self, change: _Change) -> None:
        try:
            response = change.send(self.client)
        except httpx.TransportError:
            response = None
        if response is not None and response.is_success:
            self.result.acknowledged[change.kind] += 1
            for subject, state in change.states.items():
                self.known[subject], self.possible[subject] = state, []
            return
        for subject, state in change.states.items():
            self.possible[subject].append(state)
        self.result.n_unanswered += 1
        self._wait_until_ready()

    def _wait_until_ready(self) -> None:
        end = time.monotonic() + SECONDS_TO_RESTART
        while time.monotonic() < end and not self.is_stopped.is_set():
            try:
                if self.client.get("/readyz").is_success:
                    return
            except httpx.TransportError:
                pass
            time.sleep(0.1)


def run(
    port: int, kill: Callable[[], None], *, n_kills: int, period_s: float, target: float, seed: int
) -> tuple[WorkshopKillResult, Callable[[Store], None]]:
    """Kill the server every ``period_s``, at random, while an analyst works.

    Args:
        port: of the server.
        kill: kills the server and starts another one on the same port.
        n_kills: number of kills.
        period_s: average time between them.
        target: a valid value of the target, a quantity.
        seed: of the times.

    Returns:
        the result, and a function that compares it with the store.
    """
    result, choose = WorkshopKillResult(), random.Random(seed)  # noqa: S311  # not for secrets
    analyst = _Analyst(port, result)
    thread = threading.Thread(target=analyst.run, args=(target,))
    thread.start()
    for _ in range(n_kills):
        time.sleep(choose.uniform(0.5, 1.5) * period_s)
        kill()
        result.n_kills += 1
    time.sleep(period_s)
    analyst.is_stopped.set()
    thread.join()
    analyst.client.close()
    return result, lambda store: _check(store, analyst, result)


def _check(store: Store, analyst: _Analyst, result: WorkshopKillResult) -> None:
    for subject, state in analyst.known.items():
        found = _read(store, subject)
        if found not in [state, *analyst.possible[subject]]:
            result.lost.append(f"{subject}: {found!r} instead of {state!r}")
    result.n_faults = len(store.verify())


def _read(store: Store, subject: Subject) -> State:
    kind, name = subject
    if kind == QUESTIONNAIRE:
        try:
            return Publisher(store).get(name).settings.title
        except QuestionnaireNotFoundError:
            return DELETED
    events = store.read(interview_stream(name))
    outcome = None if events[-1].kind == FORGOTTEN else read_outcome(events)
    return DELETED if outcome is None else next(iter(outcome.values.values()))


def _publish(name: str, digest: str) -> _Change:
    path, body = f"/questionnaires/{name}/versions", {"model": digest}
    return _Change("published", lambda client: client.post(path, json=body), {(QUESTIONNAIRE, name): ""})


def _edit(name: str, title: str) -> _Change:
    path, body = f"/questionnaires/{name}/settings", {"title": title}
    states = {(QUESTIONNAIRE, name): title}
    return _Change("edited", lambda client: client.put(path, json=body), states)


def _delete(name: str) -> _Change:
    path = f"/questionnaires/{name}"
    return _Change("deleted", lambda client: client.delete(path), {(QUESTIONNAIRE, name): DELETED})


def _import(name: str, people: list[str], value: float) -> _Change:
    lines = ["interview,value", *(f"{name_person(key)},{value}" for key in people)]
    content = "\n".join(lines).encode()
    path = f"/questionnaires/{name}/outcomes"
    return _Change(
        "imported",
        lambda client: client.post(path, params={"confirm": True}, files={"file": ("a.csv", content)}),
        {(PERSON, key): value for key in people},
    )


def _forget(key: str) -> _Change:
    return _Change(
        "forgotten", lambda client: client.delete(f"/interviews/{key}"), {(PERSON, key): DELETED}
    )
