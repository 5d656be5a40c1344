"""Random kill -9 of the server while outcomes are imported and while a questionnaire learns.

Every outcome that was acknowledged must be in the store. A run that was killed must end with the same weights
as one that was not.
"""

import hashlib
import random
import time
import zipfile
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx

from eddi.service.interviews.history import interview_stream, name_person
from eddi.service.interviews.outcomes.outcome import read_outcome
from eddi.store.base import Store

N_PEOPLE = 60
PEOPLE_PER_FILE = 6
IMPORT_PERIOD_S, LEARNING_PERIOD_S = 1.5, 6.0  # average times between kills
SECONDS_TO_RESTART = 60.0
SECONDS_TO_LEARN = 600.0

Kill = Callable[[], None]


@dataclass
class LearningKillResult:
    """What was killed, and what became of outcomes and models."""

    n_import_kills: int = 0
    n_learning_kills: int = 0
    n_starts: int = 0  # of the process that learned while the server was killed
    outcomes: dict[str, float] = field(default_factory=dict)  # that were acknowledged, by interview
    jobs: list[str] = field(default_factory=list)  # keys of the runs
    models: list[str] = field(default_factory=list)  # SHA-256 of the model file of each run
    weights: list[str] = field(default_factory=list)  # SHA-256 of the weights of each run
    lost: list[str] = field(default_factory=list)
    n_faults: int = 0  # of the hash chain

    def __str__(self) -> str:
        weights = "the same weights" if len(set(self.weights)) == 1 else "other weights"
        return (
            f"{self.n_import_kills} kills while {len(self.outcomes)} outcomes were imported, "
            f"{len(self.lost)} lost; {self.n_learning_kills} kills during a run with {self.n_starts} starts: "
            f"{weights} as a run without kills; {self.n_faults} faults in the chain"
        )

    @property
    def is_handled(self) -> bool:
        """Whether nothing was lost or damaged, and the weights are the same."""
        is_complete = bool(self.outcomes) and len(self.weights) == 2
        return is_complete and len(set(self.weights)) == 1 and not self.lost and not self.n_faults


class _Client:
    """Repeats requests until the server responds."""

    def __init__(self, port: int) -> None:
        self.http = httpx.Client(base_url=f"http://127.0.0.1:{port}", timeout=30)

    def request(self, method: str, path: str, **options: Any) -> Any:
        """Send a request until there is a response, and return its JSON.

        Raises:
            httpx.HTTPStatusError: the response is an error.
        """
        end = time.monotonic() + SECONDS_TO_RESTART
        while True:
            try:
                response = self.http.request(method, path, **options)
                if response.status_code < 500 or time.monotonic() > end:
                    return response.raise_for_status().json()
            except httpx.TransportError:
                if time.monotonic() > end:
                    raise
            time.sleep(0.2)


def run(
    port: int, kill: Kill, *, n_kills: int, target: float, seed: int
) -> tuple[LearningKillResult, Callable[[Store, Path], None]]:
    """Kill the server at random while outcomes are imported, and then while a questionnaire learns.

    Args:
        port: of the server.
        kill: kills the server and starts another one on the same port.
        n_kills: number of kills in each part.
        target: a valid value of the target, a quantity.
        seed: of the answers and the kills.

    Returns:
        the result, and a function that compares it with the store and the folder of models.
    """
    result, choose = LearningKillResult(), random.Random(seed)  # noqa: S311  # not for secrets
    client = _Client(port)
    name = client.request("GET", "/questionnaires")[0]["name"]
    people = [_hold_interview(client, choose) for _ in range(N_PEOPLE)]
    _import_outcomes(
        client, name, people, _Killer(kill, n_kills, IMPORT_PERIOD_S, choose), result, target
    )
    killer = _Killer(kill, n_kills, LEARNING_PERIOD_S, choose)
    for learner in (killer, None):  # the second run is not disturbed
        result.models.append(_learn(client, name, learner, result))
    client.http.close()
    return result, lambda store, folder: _check(store, folder, result)


class _Killer:
    """Kills the server whenever some time has passed, a number of times."""

    def __init__(self, kill: Kill, n_kills: int, period_s: float, choose: random.Random) -> None:
        self.kill, self.n_left, self.period_s, self.choose = kill, n_kills, period_s, choose
        self._plan()

    def kill_if_due(self) -> bool:
        """Kill the server if it is time; return whether it was killed."""
        if not self.n_left or time.monotonic() < self.next_at:
            return False
        self.kill()
        self.n_left -= 1
        self._plan()
        return True

    def _plan(self) -> None:
        self.next_at = time.monotonic() + self.choose.uniform(0.5, 1.5) * self.period_s


def _hold_interview(client: _Client, choose: random.Random) -> str:
    """Answer all questions of an interview at random; return its key."""
    interview = client.request("POST", "/interviews", json={})
    key = str(interview["id"])
    while (question := interview["question"]) is not None:
        values = {item["name"]: _choose_value(item, choose) for item in question["reveals"]}
        body = {"question": question["name"], "values": values, "confirm": True}
        interview = client.request("POST", f"/interviews/{key}/answers", json=body)
    return key


def _choose_value(variable: dict[str, Any], choose: random.Random) -> Any:
    if "levels" in variable:
        return choose.choice(variable["levels"])
    value = choose.uniform(variable.get("low", 0.0), variable.get("high", 1.0))
    return round(value) if variable["kind"] == "count" else value


def _import_outcomes(
    client: _Client,
    name: str,
    people: list[str],
    killer: _Killer,
    result: LearningKillResult,
    target: float,
) -> None:
    """Import and correct outcomes until all kills have happened and everybody has one."""
    number = 0
    while killer.n_left or len(result.outcomes) < len(people):
        start = number * PEOPLE_PER_FILE % len(people)
        number += 1
        values = dict.fromkeys(people[start : start + PEOPLE_PER_FILE], target + number / 1000)
        lines = ["interview,value", *(f"{name_person(key)},{value}" for key, value in values.items())]
        files = {"file": ("outcomes.csv", "\n".join(lines).encode())}
        options: dict[str, Any] = {"params": {"confirm": True}, "files": files}
        client.request("POST", f"/questionnaires/{name}/outcomes", **options)
        result.outcomes |= values
        result.n_import_kills += killer.kill_if_due()


def _learn(client: _Client, name: str, killer: _Killer | None, result: LearningKillResult) -> str:
    """Let the questionnaire learn; return the SHA-256 of its model."""
    spec = {"kind": "learn", "questionnaire": name}
    key = client.request("POST", "/jobs", json=spec)["id"]
    result.jobs.append(key)
    end = time.monotonic() + SECONDS_TO_LEARN
    while time.monotonic() < end:
        job = client.request("GET", f"/jobs/{key}")
        if job["state"] == "finished":
            return str(job["model"])
        if job["state"] == "failed":  # it was killed too often before its first checkpoint
            client.request("POST", f"/jobs/{key}/resume", json={})
        if killer is not None:
            result.n_learning_kills += killer.kill_if_due()
        time.sleep(0.2)
    return f"not finished: {job}"


def _check(store: Store, folder: Path, result: LearningKillResult) -> None:
    result.weights = [hash_weights(folder / digest) for digest in result.models]
    for key, value in result.outcomes.items():
        outcome = read_outcome(store.read(interview_stream(key)))
        found = None if outcome is None else next(iter(outcome.values.values()))
        if found != value:
            result.lost.append(f"{key}: {found!r} instead of {value!r}")
    events = store.read(f"job/{result.jobs[0]}")
    result.n_starts = sum(event.kind == "started" for event in events)
    result.n_faults = len(store.verify())


def hash_weights(path: Path) -> str:
    """The SHA-256 of the weights in a model file, which also records how long training took."""
    with zipfile.ZipFile(path) as file:
        names = sorted(name for name in file.namelist() if name.endswith(".safetensors"))
        return hashlib.sha256(b"".join(file.read(name) for name in names)).hexdigest()
