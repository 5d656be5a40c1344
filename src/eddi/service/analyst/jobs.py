"""Jobs: what was asked to be fitted or evaluated, and what became of it.

A job is the stream ``job/<key>``: "asked", then "started" whenever a process took it up, and at the end
"finished", "failed" or "cancelled"; "resumed" puts it back in the queue. Who appends first has the job.
How far a running job is, changes too often for the store: it is in a file of the job's folder.
"""

import json
import os
import re
import secrets
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any

from eddi.errors import EddiError
from eddi.store.base import FORGOTTEN, Event, Store, StoreConflict

KEY_SHAPE = re.compile(r"[0-9a-f]{12}")
ATTEMPTS = 8  # at changing a job that others keep changing first


class JobNotFoundError(EddiError, LookupError):
    """There is no such job."""

    status = 404
    title = "There is no such job"


class JobConflictError(EddiError, RuntimeError):
    """What was asked cannot be done to the job as it stands."""

    status = 409
    title = "That cannot be done now"


class JobKind(StrEnum):
    """What a job does."""

    FIT = "fit"
    EVALUATE = "evaluate"


class State(StrEnum):
    """Where a job stands."""

    WAITING = "waiting"
    RUNNING = "running"
    FINISHED = "finished"
    FAILED = "failed"
    CANCELLED = "cancelled"

    @property
    def is_over(self) -> bool:
        """Whether nothing more happens to the job by itself."""
        return self not in (State.WAITING, State.RUNNING)


STATES = {
    "asked": State.WAITING,
    "resumed": State.WAITING,
    "started": State.RUNNING,
    "finished": State.FINISHED,
    "failed": State.FAILED,
    "cancelled": State.CANCELLED,
}


@dataclass(frozen=True)
class Job:
    """A job as its events tell it.

    Args:
        key: what it is found by.
        order: what was asked for, in plain facts.
        folder: the identity of the folder in which it works.
        result: what came of it; empty until it is finished.
        words: why it failed.
        started_at: how far it was at each start since somebody last asked for it.
        version: how many events it has.
    """

    key: str
    kind: JobKind
    order: Mapping[str, Any]
    folder: str
    state: State
    result: Mapping[str, Any]
    words: str
    at: str
    ended: str
    started_at: tuple[float, ...]
    version: int


class Jobs:
    """All jobs of a store, and the folders in which they work."""

    def __init__(self, store: Store, folder: Path) -> None:
        self.store, self.folder = store, folder

    def ask(self, kind: JobKind, order: Mapping[str, Any]) -> Job:
        """Put a job in the queue."""
        key = secrets.token_hex(6)
        facts = {"kind": kind, "order": dict(order), "folder": self.identity()}
        event = self.store.append(_stream(key), "asked", facts, after=0)
        return _replayed(key, [event])

    def get(self, key: str) -> Job:
        """A job as it stands.

        Raises:
            JobNotFoundError: there is none of this key.
        """
        if (job := self.find(key)) is None:
            raise JobNotFoundError(f"there is no job {key[:40]!r}. `GET /jobs` lists them.")
        return job

    def find(self, key: str) -> Job | None:
        """A job as it stands; None where there is none, or it was forgotten."""
        events = self.store.read(_stream(key)) if KEY_SHAPE.fullmatch(key) else []
        return _replayed(key, events) if events and events[-1].kind != FORGOTTEN else None

    def all(self) -> list[Job]:
        """Every job, the newest first."""
        found = (self.find(key) for key in self.names())
        return sorted(filter(None, found), key=lambda job: job.at, reverse=True)

    def names(self) -> list[str]:
        """The keys of all jobs."""
        return [stream.removeprefix("job/") for stream in self.store.streams("job/")]

    def start(self, job: Job, facts: Mapping[str, Any]) -> Job | None:
        """Take a job as it stood; None where somebody else was first."""
        return self._append(job, "started", facts)

    def finish(self, job: Job, result: Mapping[str, Any]) -> Job | None:
        """Note what came of a job; None where it was cancelled meanwhile."""
        return self._append(job, "finished", result)

    def fail(self, job: Job, words: str) -> Job | None:
        """Note why nothing came of a job; None where it was cancelled meanwhile."""
        return self._append(job, "failed", {"words": words})

    def cancel(self, key: str) -> Job:
        """End a job; what it learned so far is kept, and it can be resumed.

        Raises:
            JobConflictError: it is over already.
        """
        return self._change(key, "cancelled", over=False)

    def resume(self, key: str) -> Job:
        """Put a job that was cancelled or failed back in the queue; it goes on where it was.

        Raises:
            JobConflictError: it goes on already, or is finished.
        """
        return self._change(key, "resumed", over=True)

    def identity(self) -> str:
        """What this folder is known by: a server with another one must leave its jobs alone."""
        file = self.folder / "identity"
        if not file.exists():
            self.folder.mkdir(parents=True, exist_ok=True)
            mine = self.folder / f"{secrets.token_hex(8)}.unfinished"
            mine.write_text(secrets.token_hex(16), encoding="utf-8")
            with suppress(FileExistsError):  # another server was first
                file.hardlink_to(mine)
            mine.unlink()
        return file.read_text(encoding="utf-8")

    def place(self, key: str) -> Path:
        """The folder in which a job works; what is in it can be lost without harm once it is over."""
        return self.folder / key

    def progress(self, key: str) -> dict[str, Any]:
        """How far a job is, as its process last told; empty before that."""
        return read_json(self.place(key) / "progress.json")

    def _change(self, key: str, kind: str, *, over: bool) -> Job:
        for _ in range(ATTEMPTS):
            job = self.get(key)
            if job.state.is_over is not over or job.state is State.FINISHED:
                raise JobConflictError(f"the job is {job.state}: it cannot be {kind}.")
            if (changed := self._append(job, kind, {})) is not None:
                return changed
        raise JobConflictError("others change this job at the same moment. Try again.")

    def _append(self, job: Job, kind: str, facts: Mapping[str, Any]) -> Job | None:
        try:
            self.store.append(_stream(job.key), kind, facts, after=job.version)
        except StoreConflict:
            return None
        return self.get(job.key)


def _replayed(key: str, events: Sequence[Event]) -> Job:
    asked, last = events[0], events[-1]
    state = STATES[last.kind]
    since = max(place for place, event in enumerate(events) if event.kind in ("asked", "resumed"))
    return Job(
        key,
        JobKind(asked.facts["kind"]),
        asked.facts["order"],
        asked.facts["folder"],
        state,
        last.facts if state is State.FINISHED else {},
        str(last.facts["words"]) if state is State.FAILED else "",
        asked.at,
        last.at if state.is_over else "",
        tuple(event.facts["step"] for event in events[since:] if event.kind == "started"),
        len(events),
    )


def read_json(path: Path) -> dict[str, Any]:
    """The object in a file; empty where there is none, or none yet."""
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}


def write_json(path: Path, document: Mapping[str, Any]) -> None:
    """Write an object in one piece: who reads it meanwhile finds the old one or the new one."""
    unfinished = path.with_name(path.name + ".unfinished")
    with unfinished.open("w", encoding="utf-8") as file:
        json.dump(document, file, allow_nan=False)
        file.flush()
        os.fsync(file.fileno())
    unfinished.replace(path)


def _stream(key: str) -> str:
    return f"job/{key}"
