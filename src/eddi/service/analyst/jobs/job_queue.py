"""The queue of background jobs, as events in the store.

A job is the event stream ``job/<key>``: "asked", then "started" whenever a process begins to work on it,
and finally "finished", "failed" or "cancelled"; "resumed" puts it back into the queue. If two servers
want to change a job at once, the first to append an event succeeds. The progress of a running job changes
too often for the store: it is a file in the job's folder.
"""

import json
import re
import secrets
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any, ClassVar

from eddi.durable_file import (
    create_private_folder,
    finish_file,
    name_unfinished,
    open_private_file,
)
from eddi.errors import EddiError
from eddi.service.errors import N_
from eddi.service.web.api_keys import NO_KEY, SERVER
from eddi.store.base import FORGOTTEN, Event, Store, StoreConflict

KEY_SHAPE = re.compile(r"[0-9a-f]{12}")
MAX_ATTEMPTS = 8  # to change a job that others change at the same time


class JobNotFoundError(EddiError, LookupError):
    """There is no job with this key."""

    status: ClassVar[int] = 404
    title: ClassVar[str] = N_("There is no such job")


class JobConflictError(EddiError, RuntimeError):
    """The operation is not possible in the present state of the job."""

    status: ClassVar[int] = 409
    title: ClassVar[str] = N_("That cannot be done now")


class JobKind(StrEnum):
    """What a job does."""

    FIT = "fit"
    EVALUATE = "evaluate"
    LEARN = "learn"

    @property
    def is_training(self) -> bool:
        """Whether the job produces a model."""
        return self is not JobKind.EVALUATE


class JobState(StrEnum):
    """The state of a job."""

    WAITING = "waiting"
    RUNNING = "running"
    FINISHED = "finished"
    FAILED = "failed"
    CANCELLED = "cancelled"

    @property
    def is_over(self) -> bool:
        """Whether the job stays in this state until somebody resumes it."""
        return self not in (JobState.WAITING, JobState.RUNNING)


STATES = {
    "asked": JobState.WAITING,
    "resumed": JobState.WAITING,
    "started": JobState.RUNNING,
    "finished": JobState.FINISHED,
    "failed": JobState.FAILED,
    "cancelled": JobState.CANCELLED,
}


@dataclass(frozen=True)
class Job:
    """A job, replayed from its events.

    Args:
        key: its identifier.
        kind: what it does.
        spec: its parameters, as plain JSON.
        folder_id: identifies the folder in which it works; see `JobQueue.folder_id`.
        state: its present state.
        result: what it produced; empty until it is finished.
        failure: why it failed; empty otherwise.
        submitted_at, ended_at: ISO 8601; ``ended_at`` is empty until it is over.
        start_steps: its progress at each start since it was submitted or last resumed.
        version: number of its events.
    """

    key: str
    kind: JobKind
    spec: Mapping[str, Any]
    folder_id: str
    state: JobState
    result: Mapping[str, Any]
    failure: str
    submitted_at: str
    ended_at: str
    start_steps: tuple[float, ...]
    version: int

    def fraction_done(self, progress: Mapping[str, Any]) -> float:
        """How much of the job is done, from 0 to 1, given its `JobQueue.progress`."""
        if self.state is JobState.FINISHED:
            return 1.0
        if self.kind is JobKind.EVALUATE:
            return float(progress.get("share", 0.0))
        history = progress.get("history") or [{"step": 0}]
        return min(1.0, float(history[-1]["step"] / self.spec["steps"]))


class JobQueue:
    """All jobs of a store, and the folder with their working files."""

    def __init__(self, store: Store, folder: Path) -> None:
        self.store, self.folder = store, folder

    def submit(self, kind: JobKind, spec: Mapping[str, Any], *, key: str = "", by: str = NO_KEY) -> Job:
        """Put a new job into the queue.

        Args:
            kind: what it does.
            spec: its parameters.
            key: its identifier; random by default.
            by: who submits it, the name of an API key.

        Raises:
            StoreConflict: there is already a job with this key.
        """
        key = key or secrets.token_hex(6)
        facts = {"kind": kind, "order": dict(spec), "folder": self.folder_id(), "by": by}
        event = self.store.append(_stream(key), "asked", facts, after=0)
        return _replay(key, [event])

    def get(self, key: str) -> Job:
        """The job with this key.

        Raises:
            JobNotFoundError: there is no such job.
        """
        if (job := self.find(key)) is None:
            raise JobNotFoundError(f"there is no job {key[:40]!r}. The workshop lists all jobs.")
        return job

    def find(self, key: str) -> Job | None:
        """The job with this key; None if there is none or it was deleted."""
        events = self.store.read(_stream(key)) if KEY_SHAPE.fullmatch(key) else []
        return _replay(key, events) if events and events[-1].kind != FORGOTTEN else None

    def all(self) -> list[Job]:
        """All jobs, newest first."""
        jobs = (self.find(key) for key in self.job_keys())
        return sorted(filter(None, jobs), key=lambda job: job.submitted_at, reverse=True)

    def job_keys(self) -> list[str]:
        """The keys of all jobs."""
        return [stream.removeprefix("job/") for stream in self.store.streams("job/")]

    def start(self, job: Job, facts: Mapping[str, Any]) -> Job | None:
        """Mark a job as started; None if another server changed it first."""
        return self._append(job, "started", facts)

    def finish(self, job: Job, result: Mapping[str, Any]) -> Job | None:
        """Record the result of a job; None if it was cancelled in the meantime."""
        return self._append(job, "finished", result)

    def fail(self, job: Job, reason: str) -> Job | None:
        """Record why a job failed; None if it was cancelled in the meantime."""
        return self._append(job, "failed", {"words": reason})

    def cancel(self, key: str, *, by: str = NO_KEY) -> Job:
        """End a job. Its checkpoint is kept, so that it can be resumed.

        Raises:
            JobConflictError: it is over already.
        """
        return self._change(key, "cancelled", from_over=False, by=by)

    def resume(self, key: str, *, by: str = NO_KEY) -> Job:
        """Put a cancelled or failed job back into the queue; it continues from its checkpoint.

        Raises:
            JobConflictError: it is waiting, running or finished.
        """
        return self._change(key, "resumed", from_over=True, by=by)

    def forget(self, job: Job, *, by: str = NO_KEY) -> None:
        """Erase a job. The supervisor ends its process and deletes its folder."""
        self.store.forget(_stream(job.key), by=by)

    def copy_without_schema(self, job: Job) -> Job:
        """Store a finished job of an earlier version again, without the schema of its table, and erase it."""
        spec = {name: value for name, value in job.spec.items() if name != "schema"}
        copy = self.submit(job.kind, spec, by=SERVER)
        self.store.append(_stream(copy.key), "started", {"step": 0}, after=1)
        self.store.append(_stream(copy.key), "finished", job.result, after=2)
        self.forget(job, by=SERVER)
        return self.get(copy.key)

    def folder_id(self) -> str:
        """The identifier of the folder. A server with another folder must not run the jobs."""
        file = self.folder / "identity"
        if not file.exists():
            create_private_folder(self.folder)
            unfinished = self.folder / f"{secrets.token_hex(8)}.unfinished"
            with open_private_file(unfinished) as identity:
                identity.write(secrets.token_hex(16).encode())
            with suppress(FileExistsError):  # another server was faster
                file.hardlink_to(unfinished)
            unfinished.unlink()
        return file.read_text(encoding="utf-8")

    def job_folder(self, key: str) -> Path:
        """The working folder of a job. Its files are not needed once the job is over."""
        return self.folder / key

    def progress(self, key: str) -> dict[str, Any]:
        """The progress that a job's process last reported; empty before its first report."""
        return read_json(self.job_folder(key) / "progress.json")

    def _change(self, key: str, kind: str, *, from_over: bool, by: str) -> Job:
        for _ in range(MAX_ATTEMPTS):
            job = self.get(key)
            if job.state.is_over is not from_over or job.state is JobState.FINISHED:
                raise JobConflictError(f"the job is {job.state}: it cannot be {kind}.")
            if (changed := self._append(job, kind, {"by": by})) is not None:
                return changed
        raise JobConflictError("the job is being changed by others at the same time. Try again.")

    def _append(self, job: Job, kind: str, facts: Mapping[str, Any]) -> Job | None:
        try:
            self.store.append(_stream(job.key), kind, facts, after=job.version)
        except StoreConflict:
            return None
        return self.get(job.key)


def _replay(key: str, events: Sequence[Event]) -> Job:
    submitted, last = events[0], events[-1]
    state = STATES[last.kind]
    queued = max(n for n, event in enumerate(events) if event.kind in ("asked", "resumed"))
    return Job(
        key=key,
        kind=JobKind(submitted.facts["kind"]),
        spec=submitted.facts["order"],
        folder_id=submitted.facts["folder"],
        state=state,
        result=last.facts if state is JobState.FINISHED else {},
        failure=str(last.facts["words"]) if state is JobState.FAILED else "",
        submitted_at=submitted.at,
        ended_at=last.at if state.is_over else "",
        start_steps=tuple(event.facts["step"] for event in events[queued:] if event.kind == "started"),
        version=len(events),
    )


def read_json(path: Path) -> dict[str, Any]:
    """The JSON object in a file; empty if the file is missing or not a JSON object."""
    try:
        document = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return document if isinstance(document, dict) else {}


def write_json(path: Path, document: Mapping[str, Any]) -> None:
    """Write a JSON object atomically: a concurrent reader sees the old file or the new one."""
    unfinished = name_unfinished(path)
    with open_private_file(unfinished) as file:
        file.write(json.dumps(document, allow_nan=False).encode())
    finish_file(unfinished, path)


def _stream(key: str) -> str:
    return f"job/{key}"
