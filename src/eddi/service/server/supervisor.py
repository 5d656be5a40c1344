"""The supervisor: starts several workers on one socket, restarts those that end, and stops them in order.

SIGTERM and SIGINT stop all workers after their open requests. SIGHUP replaces one worker after another:
each new one is ready before the old one stops, so that no request is refused.
"""

import logging
import os
import secrets
import select
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from eddi.errors import EddiError
from eddi.service import logs
from eddi.service.server.web_server import BACKLOG, SHUTDOWN_S
from eddi.service.server.worker_metrics import keep_counters
from eddi.service.settings import Settings, to_environment

WORKER = "eddi.service.server.worker"
START_S = 120.0  # how long a worker may take to start
STOP_S = SHUTDOWN_S + 5.0  # how long a worker may take to stop
PERIOD_S = 0.1  # between checks of the workers
MIN_DELAY_S, MAX_DELAY_S = 0.5, 30.0  # before a worker that ended is restarted
STABLE_S = 60.0  # a worker that ran this long is restarted without further delay

_log = logging.getLogger(__name__)


class WorkerError(EddiError, RuntimeError):
    """The workers cannot be started."""


@dataclass
class Worker:
    """A worker process.

    Args:
        process: the process.
        ready: the pipe on which it says that it is ready.
        started_at: when it was started.
    """

    process: "subprocess.Popen[bytes]"
    ready: int
    started_at: float

    def wait_until_ready(self, should_stop: Callable[[], bool]) -> bool:
        """Wait until the worker serves requests; return False if it ended instead."""
        deadline = time.monotonic() + START_S
        while time.monotonic() < deadline and not should_stop():
            readable, _, _ = select.select([self.ready], [], [], PERIOD_S)
            if readable:
                return bool(os.read(self.ready, 1))
        return False

    def stop(self) -> None:
        """End the process after its open requests."""
        if self.process.poll() is None:
            self.process.terminate()
            with suppress(subprocess.TimeoutExpired):
                self.process.wait(STOP_S)
        self.kill()

    def kill(self) -> None:
        """End the process now."""
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()


@dataclass
class _Place:
    """The place of one worker, which may be empty for a while."""

    number: int
    worker: Worker | None = None
    n_failures: int = 0  # in a row
    start_at: float = 0.0  # when an empty place is filled


class Supervisor:
    """Runs several workers.

    Args:
        settings: of the server.
        listener: the bound socket.
    """

    def __init__(self, settings: Settings, listener: socket.socket) -> None:
        secret = settings.secret or secrets.token_urlsafe(32)  # all workers accept each other's forms
        self.settings = settings.model_copy(update={"secret": secret})
        self.listener = listener
        self.places = [_Place(number) for number in range(settings.workers)]
        self._folder = tempfile.TemporaryDirectory(prefix="eddi-workers-")
        self._lifeline, self._lifeline_end = os.pipe()
        self._should_stop = self._should_restart = False

    def run(self, on_ready: Callable[[], None]) -> None:
        """Serve until a signal arrives; ``on_ready`` is called once all workers are ready.

        Raises:
            WorkerError: a worker does not start.
        """
        self.listener.listen(BACKLOG)
        self._handle_signals()
        try:
            # The first worker prepares the store and publishes the model, and the others find both.
            for places in (self.places[:1], self.places[1:]):
                if not self._start_first(places):
                    return
            on_ready()
            self._watch()
        finally:
            self._stop_all()

    def _start_first(self, places: Sequence[_Place]) -> bool:
        """Start the first workers of some places; return False if the server is to stop meanwhile."""
        for place in places:
            place.worker = self._start(place)
        for place in places:
            if place.worker is not None and not place.worker.wait_until_ready(self._is_stopping):
                if self._should_stop:
                    return False
                raise WorkerError("the server did not start. The message above says why.")
        return True

    def _is_stopping(self) -> bool:
        return self._should_stop

    def _handle_signals(self) -> None:
        def stop(*_: object) -> None:
            self._should_stop = True

        def restart(*_: object) -> None:
            self._should_restart = True

        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, stop)
        signal.signal(signal.SIGHUP, restart)

    def _watch(self) -> None:
        """Keep all places filled until the server stops."""
        while not self._should_stop:
            for place in self.places:
                self._check(place)
            if self._should_restart:
                self._should_restart = False
                self._restart_all()
            time.sleep(PERIOD_S)

    def _check(self, place: _Place) -> None:
        """Fill an empty place, with a growing delay if its workers keep ending."""
        worker, now = place.worker, time.monotonic()
        if worker is not None and worker.process.poll() is not None:
            self._note_end(worker)
            is_stable = now - worker.started_at > STABLE_S
            place.n_failures = 0 if is_stable else place.n_failures + 1
            place.start_at = now + _delay_s(place.n_failures)
            place.worker = None
            fields = {"code": worker.process.returncode, "pid": worker.process.pid}
            _log.error("a worker ended", extra={logs.FIELDS: fields})
        if place.worker is None and now >= place.start_at:
            place.worker = self._start(place)

    def _restart_all(self) -> None:
        """Replace one worker after the other; a worker stays if its replacement does not start."""
        for place in self.places:
            if self._should_stop or place.worker is None:
                continue
            old, new = place.worker, self._start(place)
            if new.wait_until_ready(self._is_stopping):
                place.worker = new
                old.stop()
                self._note_end(old)
            else:
                new.kill()
                self._note_end(new)
                _log.error("a new worker did not start; the old one continues")

    def _start(self, place: _Place) -> Worker:
        ready, ready_end = os.pipe()
        descriptors = (self.listener.fileno(), ready_end, self._lifeline)
        arguments = ("--listener", "--ready", "--lifeline")
        options = [text for pair in zip(arguments, map(str, descriptors), strict=True) for text in pair]
        if place.number == 0:
            options.append("--runs-jobs")
        command = [sys.executable, "-m", WORKER, *options, "--folder", self._folder.name]
        process = subprocess.Popen(  # noqa: S603  # our own command
            command,
            env={**os.environ, **to_environment(self.settings)},
            pass_fds=descriptors,
            start_new_session=True,  # Ctrl-C reaches the supervisor alone
        )
        os.close(ready_end)
        return Worker(process, ready, time.monotonic())

    def _note_end(self, worker: Worker) -> None:
        os.close(worker.ready)
        keep_counters(Path(self._folder.name), worker.process.pid)

    def _stop_all(self) -> None:
        """Stop all workers at the same time."""
        workers = [place.worker for place in self.places if place.worker is not None]
        for worker in workers:
            if worker.process.poll() is None:
                worker.process.terminate()
        for worker in workers:
            worker.stop()
            os.close(worker.ready)
        os.close(self._lifeline)
        os.close(self._lifeline_end)
        self._folder.cleanup()


def _delay_s(n_failures: int) -> float:
    """Return how long to wait before a worker is restarted."""
    return float(min(MIN_DELAY_S * 2 ** max(n_failures - 1, 0), MAX_DELAY_S)) if n_failures else 0.0
