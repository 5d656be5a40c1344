"""The supervisor: a thread of the server that runs each job in its own process.

The process of a job holds the lock of the job's folder. The operating system releases the lock when the
process ends, for whatever reason. So a job that is marked as running but whose lock is free has lost its
process, and is started again. If two servers notice this at once, only one of them gets the lock and
appends to the job's stream.
"""

import logging
import os
import shutil
import subprocess
import sys
import threading
import time
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from eddi.durable_file import open_private_file
from eddi.errors import EddiError
from eddi.service import logs
from eddi.service.analyst.data.blob_store import BlobStore
from eddi.service.analyst.data.tables import Tables
from eddi.service.analyst.jobs.folder_lock import acquire_lock, inherited_descriptors
from eddi.service.analyst.jobs.job_queue import (
    Job,
    JobKind,
    JobQueue,
    JobState,
    read_json,
    write_json,
)
from eddi.service.web.api_keys import SERVER

_log = logging.getLogger(__name__)

PERIOD_S = 0.5  # between checks while a job runs
TRIGGER_PERIOD_S = 300.0  # between checks whether a questionnaire has to learn
IDLE_PERIOD_S = 2.0  # between checks otherwise; another server may have submitted a job
WORKER = "eddi.service.analyst.jobs.job_worker"
KEPT_FILES = ("lock", "progress.json")  # of a finished job
MAX_FUTILE_STARTS = 3  # starts without progress between them, after which a job fails
FUTILE_STARTS = (
    f"The process ended {MAX_FUTILE_STARTS} times in a row without any progress or error message. "
    "It may have run out of memory. Try fewer rows or columns."
)


class LearningJobs(Protocol):
    """What jobs that learn from interviews need of the server. `Learning` implements it."""

    def write_inputs(self, job: Job, folder: Path) -> None:
        """Write what the process of a job reads."""

    def complete(self, job: Job, result: Mapping[str, Any]) -> dict[str, Any]:
        """Act on the result of a job before it is recorded. It may be called again after a crash."""

    def check_triggers(self) -> None:
        """Submit the jobs that are due."""


@dataclass
class _RunningJob:
    job: Job
    process: "subprocess.Popen[bytes]"


class JobSupervisor:
    """Starts waiting jobs, restarts those whose process died, and records results.

    Args:
        queue: the jobs.
        blobs: contains the tables and models that jobs read, and receives what they produce.
        learning: prepares and completes jobs that learn from interviews.
        max_running: number of processes at a time.
    """

    def __init__(
        self, queue: JobQueue, blobs: BlobStore, learning: LearningJobs, *, max_running: int = 1
    ) -> None:
        self.queue, self.blobs, self.learning = queue, blobs, learning
        self.max_running = max_running
        self._running: dict[str, _RunningJob] = {}
        self._next_check = 0.0  # of triggers
        self._over: set[str] = set()  # keys of jobs that need no further checks
        self._wake, self._stop = threading.Event(), threading.Event()
        self._thread = threading.Thread(target=self._run, name="jobs", daemon=True)

    def start(self) -> None:
        """Start the thread."""
        self._thread.start()

    def stop(self) -> None:
        """Stop the thread and all processes. Their jobs continue when a server starts again."""
        self._stop.set()
        self.wake()
        if self._thread.is_alive():  # another worker may run the jobs
            self._thread.join()
        for running in self._running.values():
            _kill(running.process)
        self._running.clear()

    def wake(self) -> None:
        """Check now, because a job was submitted, cancelled or resumed."""
        self._wake.set()

    def check_again(self, key: str) -> None:
        """Check a job that was over and has been resumed."""
        self._over.discard(key)
        self.wake()

    def check_jobs(self) -> None:
        """Record what ended, stop what was cancelled, and start what is waiting."""
        for key, running in list(self._running.items()):
            self._check_running(key, running)
        for key in self.queue.job_keys():
            if key not in self._over and key not in self._running:
                self._check_job(key, self.queue.find(key))

    def _run(self) -> None:
        while not self._stop.is_set():
            self._wake.clear()
            try:
                self.check_jobs()
                self._check_triggers()
            except Exception as error:  # the database or the disk may be available again next time
                _log.error("jobs", extra={logs.FIELDS: {"error": logs.describe_error(error)}})
            self._wake.wait(PERIOD_S if self._running else IDLE_PERIOD_S)

    def _check_triggers(self) -> None:
        if time.monotonic() >= self._next_check:
            self._next_check = time.monotonic() + TRIGGER_PERIOD_S
            self.learning.check_triggers()

    def _check_running(self, key: str, running: _RunningJob) -> None:
        job = self.queue.find(key)
        is_unchanged = job is not None and job.version == running.job.version
        if is_unchanged and running.process.poll() is None:
            return
        _kill(running.process)  # it has ended, or was cancelled
        del self._running[key]

    def _check_job(self, key: str, job: Job | None) -> None:
        if job is None or job.state.is_over or job.folder_id != self.queue.folder_id():
            if self._clean_folder(key, job):
                self._over.add(key)
            return
        if job.state is JobState.WAITING and len(self._running) >= self.max_running:
            return
        lock = acquire_lock(self.queue.job_folder(job.key))
        if lock is None:
            return  # its process is alive, on this server or another
        try:
            self._handle_idle(self.queue.get(job.key), lock)
        finally:
            os.close(lock)

    def _clean_folder(self, key: str, job: Job | None) -> bool:
        """Delete what a job's folder no longer needs; False if a process still works in it.

        An erased job leaves nothing. A finished job leaves its training history. A job that can be resumed
        keeps its files, except for one that learns: its files have answers, which people may delete.
        """
        folder = self.queue.job_folder(key)
        if not folder.is_dir() or (job is not None and _needs_files(job)):
            return True
        lock = acquire_lock(folder)
        if lock is None:
            return False
        try:
            if job is None:
                self._delete_results(read_json(folder / "result.json"))
            _delete_working_files(folder)
        finally:
            os.close(lock)
        if job is None:
            shutil.rmtree(folder)
        return True

    def _delete_results(self, result: Mapping[str, Any]) -> None:
        """Delete what an erased job produced before its result was recorded."""
        used = {str(value) for job in self.queue.all() for value in job.result.values()}
        names = ("evaluation",) if "evaluation" in result else ("model", "held_out")
        for digest in {str(result[name]) for name in names if name in result} - used:
            self.blobs.delete(digest)

    def _handle_idle(self, job: Job, lock: int) -> None:
        """Record the result of a job that has no process, or start a process for it."""
        folder = self.queue.job_folder(job.key)
        result = read_json(folder / "result.json")
        if job.state is JobState.RUNNING and result:
            self._record_result(job, result)
        elif job.state is JobState.RUNNING and self._n_futile_starts(job) >= MAX_FUTILE_STARTS:
            self.queue.fail(job, FUTILE_STARTS)
        elif not job.state.is_over and len(self._running) < self.max_running:
            self._start_process(job, folder, lock)

    def _start_process(self, job: Job, folder: Path, lock: int) -> None:
        (folder / "result.json").unlink(missing_ok=True)
        try:
            if job.kind is JobKind.LEARN:
                self.learning.write_inputs(job, folder)
            write_json(folder / "order.json", self._worker_spec(job))
        except EddiError as error:
            self.queue.fail(job, str(error))
            return
        started = self.queue.start(job, {"step": _last_step(self.queue.progress(job.key))})
        if started is None:
            return
        command = [sys.executable, "-P", "-m", WORKER, str(folder)]
        with open_private_file(folder / "log.txt", append=True) as log:
            process = subprocess.Popen(  # noqa: S603  # our own interpreter and module
                command,
                stdin=subprocess.PIPE,
                stdout=log,
                stderr=log,
                pass_fds=inherited_descriptors(lock),
            )
        self._running[job.key] = _RunningJob(started, process)
        _log.info("job started", extra={logs.FIELDS: {"job": job.key, "kind": str(job.kind)}})

    def _record_result(self, job: Job, result: dict[str, Any]) -> None:
        """Record what a process wrote before it ended, and delete its working files."""
        if "failed" in result:
            self.queue.fail(job, str(result["failed"]))
            return
        if job.kind is JobKind.LEARN:
            result = self.learning.complete(job, result)
        if self.queue.finish(job, result) is None:
            return
        _delete_working_files(self.queue.job_folder(job.key))
        _log.info("job finished", extra={logs.FIELDS: {"job": job.key, "kind": str(job.kind)}})
        if job.spec.get("evaluate"):
            self.queue.submit(JobKind.EVALUATE, evaluation_spec(job, result), by=SERVER)

    def _n_futile_starts(self, job: Job) -> int:
        """The number of most recent starts after which there was no progress."""
        current = _last_step(self.queue.progress(job.key))
        steps = job.start_steps
        return next((n for n, step in enumerate(reversed(steps)) if step != current), len(steps))

    def _worker_spec(self, job: Job) -> dict[str, Any]:
        """The content of ``order.json``: the job's spec, and the paths of its input files."""
        spec = {"kind": job.kind, "shelf": str(self.blobs.folder.resolve()), **job.spec}
        if job.kind is JobKind.FIT and "schema" not in spec:  # earlier versions stored it with the job
            tables = Tables(self.queue.store, self.blobs)
            spec["schema"] = tables.schema_at(job.spec["table"], job.spec["table_version"])
        table = job.spec["table_seal"]
        spec["rows"] = str(self.blobs.path(table).resolve()) if table else ""
        if job.kind is JobKind.LEARN and table:
            spec["held_out_rows"] = str(self.blobs.path(job.spec["held_out_rows"]).resolve())
        if job.kind is JobKind.EVALUATE:
            spec["seal"] = job.spec["model"]
            spec["model"] = str(self.blobs.path(job.spec["model"]).resolve())
            spec["held_out"] = str(self.blobs.path(job.spec["held_out"]).resolve())
        return spec


def evaluation_spec(training: Job, result: Mapping[str, Any]) -> dict[str, Any]:
    """The spec of the job that evaluates a trained model on its held-out rows."""
    return {
        "model": result["model"],
        "held_out": result["held_out"],
        "table": training.spec["table"],
        "table_seal": training.spec["table_seal"],
        "name": training.spec["name"],
        "target": training.spec["target"][0],
    }


def _needs_files(job: Job) -> bool:
    """Whether a job may be resumed from its files."""
    if job.kind is JobKind.LEARN:
        return not job.state.is_over
    return job.state is not JobState.FINISHED


def _delete_working_files(folder: Path) -> None:
    """Delete the files that quote the table: the spec has its levels, and the log may have values."""
    for path in folder.glob("*"):
        if path.name not in KEPT_FILES:
            path.unlink(missing_ok=True)


def _kill(process: "subprocess.Popen[bytes]") -> None:
    with suppress(ProcessLookupError):
        process.kill()  # safe: checkpoints are written atomically
    process.communicate()


def _last_step(progress: Mapping[str, Any]) -> float:
    """The last reported progress of a job, as a number that grows."""
    history = progress.get("history")
    return float(history[-1]["step"] if history else progress.get("share", 0))
