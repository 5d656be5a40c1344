"""Runs jobs, each in a process of its own, and takes up those whose process died.

Whoever works on a job holds the lock of its folder, which the system lets go when the process ends,
however it ends. So a job that is said to run but whose lock is free has lost its process, and is taken
up again. Of two servers that see this at once, one gets the lock and appends to the job's stream.
"""

import fcntl
import logging
import os
import subprocess
import sys
import threading
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from eddi.errors import EddiError
from eddi.service import logs
from eddi.service.analyst.blob_store import Shelf
from eddi.service.analyst.jobs import Job, JobKind, Jobs, State, read_json, write_json

_log = logging.getLogger(__name__)

PERIOD_S = 0.5  # between looks while a job runs
IDLE_S = 2.0  # between looks otherwise; another server may have put something in the queue
VAIN_STARTS = 3  # starts without a step between them, after which a job is given up
GIVEN_UP = (
    f"Its process ended {VAIN_STARTS} times in a row before it got anywhere, without a word. "
    "It may have run out of memory: try fewer rows or columns."
)


@dataclass
class _Running:
    job: Job
    process: "subprocess.Popen[bytes]"


class Supervisor:
    """One thread of the server, which looks after the jobs of its store.

    Args:
        jobs: those that are asked for.
        shelf: where their tables are, and where what they make goes.
        at_once: processes at a time.
    """

    def __init__(self, jobs: Jobs, shelf: Shelf, *, at_once: int = 1) -> None:
        self.jobs, self.shelf, self.at_once = jobs, shelf, at_once
        self._running: dict[str, _Running] = {}
        self._over: set[str] = set()  # jobs that need no further look
        self._awake, self._ending = threading.Event(), threading.Event()
        self._thread = threading.Thread(target=self._watch, name="jobs", daemon=True)

    def start(self) -> None:
        """Begin to look after jobs."""
        self._thread.start()

    def stop(self) -> None:
        """End all processes; their jobs go on when a server starts again."""
        self._ending.set()
        self.wake()
        self._thread.join()
        for running in self._running.values():
            _end(running.process)
        self._running.clear()

    def wake(self) -> None:
        """Look now: something was asked for, cancelled or resumed."""
        self._awake.set()

    def _watch(self) -> None:
        while not self._ending.is_set():
            self._awake.clear()
            try:
                self.look()
            except Exception as error:  # the store or the disk may be back the next time
                _log.error("jobs", extra={logs.FIELDS: {"error": logs.describe_error(error)}})
            self._awake.wait(PERIOD_S if self._running else IDLE_S)

    def look(self) -> None:
        """Take note of what ended, end what was cancelled, and begin what waits."""
        for key, running in list(self._running.items()):
            self._look_after(key, running)
        for key in self.jobs.names():
            if key not in self._over and key not in self._running:
                self._consider(key, self.jobs.find(key))

    def reconsider(self, key: str) -> None:
        """Look at a job again that was over."""
        self._over.discard(key)
        self.wake()

    def _look_after(self, key: str, running: _Running) -> None:
        job = self.jobs.find(key)
        if job is not None and job.version == running.job.version and running.process.poll() is None:
            return
        _end(running.process)  # it ended, or was cancelled
        del self._running[key]

    def _consider(self, key: str, job: Job | None) -> None:
        if job is None or job.state.is_over or job.folder != self.jobs.identity():
            self._over.add(key)
            return
        if job.state is State.WAITING and len(self._running) >= self.at_once:
            return
        lock = _locked(self.jobs.place(job.key))
        if lock is None:
            return  # its process lives, here or elsewhere
        try:
            self._take_up(self.jobs.get(job.key), lock)
        finally:
            os.close(lock)

    def _take_up(self, job: Job, lock: int) -> None:
        """What to do with a job that nobody works on."""
        place = self.jobs.place(job.key)
        result = read_json(place / "result.json")
        if job.state is State.RUNNING and result:
            self._settle(job, result)
        elif job.state is State.RUNNING and self._n_vain(job) >= VAIN_STARTS:
            self.jobs.fail(job, GIVEN_UP)
        elif not job.state.is_over and len(self._running) < self.at_once:
            self._begin(job, place, lock)

    def _begin(self, job: Job, place: Path, lock: int) -> None:
        (place / "result.json").unlink(missing_ok=True)
        try:
            write_json(place / "order.json", self._order(job))
        except EddiError as error:
            self.jobs.fail(job, str(error))
            return
        started = self.jobs.start(job, {"step": _step(self.jobs.progress(job.key))})
        if started is None:
            return
        command = [sys.executable, "-P", "-m", "eddi.service.analyst.job_worker", str(place)]
        with (place / "log.txt").open("ab") as talk:
            process = subprocess.Popen(  # noqa: S603  # our own interpreter and module
                command, stdin=subprocess.PIPE, stdout=talk, stderr=talk, pass_fds=(lock,)
            )
        self._running[job.key] = _Running(started, process)
        _log.info("job started", extra={logs.FIELDS: {"job": job.key, "kind": str(job.kind)}})

    def _settle(self, job: Job, result: dict[str, Any]) -> None:
        """Note what a process wrote before it ended, and clear up after it."""
        if "failed" in result:
            self.jobs.fail(job, str(result["failed"]))
            return
        if self.jobs.finish(job, result) is None:
            return
        for name in ("checkpoint", "model.eddi"):
            (self.jobs.place(job.key) / name).unlink(missing_ok=True)
        _log.info("job finished", extra={logs.FIELDS: {"job": job.key, "kind": str(job.kind)}})
        if job.order.get("evaluate"):
            self.jobs.ask(JobKind.EVALUATE, evaluation_order(job, result))

    def _n_vain(self, job: Job) -> int:
        """How many starts in a row got nowhere."""
        now = _step(self.jobs.progress(job.key))
        steps = job.started_at
        return next((n for n, step in enumerate(reversed(steps)) if step != now), len(steps))

    def _order(self, job: Job) -> dict[str, Any]:
        """What the process is told: the job's order, and where on the shelf things are."""
        order = {"kind": job.kind, "shelf": str(self.shelf.folder.resolve()), **job.order}
        order["rows"] = str(self.shelf.path(job.order["table_seal"]).resolve())
        if job.kind is JobKind.EVALUATE:
            order["seal"] = job.order["model"]
            order["model"] = str(self.shelf.path(job.order["model"]).resolve())
            order["held_out"] = str(self.shelf.path(job.order["held_out"]).resolve())
        return order


def evaluation_order(fitted: Job, result: Any) -> dict[str, Any]:
    """The order to judge what a job made by the rows it held out."""
    return {
        "model": result["model"],
        "held_out": result["held_out"],
        "table": fitted.order["table"],
        "table_seal": fitted.order["table_seal"],
        "name": fitted.order["name"],
        "target": fitted.order["target"][0],
    }


def _locked(place: Path) -> int | None:
    """The lock of a job's folder, held until it and all copies of it are closed; None if it is held."""
    place.mkdir(parents=True, exist_ok=True)
    lock = os.open(place / "lock", os.O_RDWR | os.O_CREAT, 0o600)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(lock)
        return None
    return lock


def _end(process: "subprocess.Popen[bytes]") -> None:
    with suppress(ProcessLookupError):
        process.kill()  # its checkpoint is whole at every moment
    process.communicate()


def _step(progress: dict[str, Any]) -> float:
    """How far a job was, as a number that grows."""
    history = progress.get("history")
    return float(history[-1]["step"] if history else progress.get("share", 0))
