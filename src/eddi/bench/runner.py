"""Run a suite: what is finished stays, the rest is spread over local processes.

Every run is a pure function of its settings in a process with one thread, so its figures do not depend
on how many processes there are. A result is written by the process that found it, at once.
"""

import contextlib
import multiprocessing
import os
import shutil
import signal
import sys
import threading
import time
import traceback
import warnings
from collections import Counter, deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from eddi.bench import datasets, results
from eddi.bench.experiment import Experiment, Figures, Outcome, Settings
from eddi.bench.suite import Run, Suite, read_outcome, write_outcome
from eddi.errors import EddiWarning

MAX_TRIES = 3  # of a run whose process is killed: a kill may be an accident, three are not
ONE_THREAD = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")

OnProgress = Callable[[int, int, str, float], None]
"""Called with runs done, runs to do, and the last one's name and seconds."""


@dataclass(frozen=True)
class Ended:
    """How running a suite ended: how many runs were finished before and now, and what went wrong."""

    before: int
    now: int
    failures: dict[str, str]  # run -> its error in words


@dataclass(frozen=True)
class _Task:
    """All that a process needs for one run."""

    run: Run
    play: Callable[[Settings, Path], Figures]
    folder: Path  # of the suite
    circumstances: dict[str, Any]

    @property
    def traceback(self) -> Path:
        """Where the last error of this run is kept."""
        return self.folder / f"{self.run.name}.traceback.txt"


@dataclass(frozen=True)
class _Done:
    seconds: float
    notes: tuple[str, ...]  # what EDDI warned of on the way


def run(
    suite: Suite,
    experiment: Experiment,
    results_folder: Path,
    *,
    processes: int,
    on_progress: OnProgress | None = None,
) -> Ended:
    """Play the runs of ``suite`` that are not finished.

    Raises:
        DatasetError: a dataset is missing; nothing was run.
    """
    folder = suite.folder(results_folder)
    sums = _checksums(suite, experiment)
    facts = {**results.circumstances(), "processes": processes}
    tasks = []
    for one in suite.runs:
        data = {name: sums[name] for name in experiment.datasets(one.settings)}
        if not _finished(folder, one, data):
            tasks.append(_Task(one, experiment.play, folder, {"data": data, **facts}))
    folder.mkdir(parents=True, exist_ok=True)
    failures = _spread(tasks, processes, on_progress or (lambda *_: None))
    before = len(suite.runs) - len(tasks)
    return Ended(before, len(tasks) - len(failures), failures)


def _checksums(suite: Suite, experiment: Experiment) -> dict[str, str]:
    """The checksum of every dataset of the suite; all that are missing are told at once."""
    names = dict.fromkeys(name for one in suite.runs for name in experiment.datasets(one.settings))
    sums, missing = {}, []
    for name in names:
        try:
            sums[name] = datasets.checksum(name)
        except datasets.DatasetError as error:
            missing.append(str(error))
    if missing:
        raise datasets.DatasetError("\n".join(missing))
    return sums


def _finished(folder: Path, one: Run, data: dict[str, str]) -> bool:
    outcome = read_outcome(folder, one)
    return outcome is not None and outcome.circumstances.get("data") == data


def _spread(tasks: Sequence[_Task], processes: int, on_progress: OnProgress) -> dict[str, str]:
    """Play ``tasks``, each in the next process that is free; returns the errors by run."""
    waiting, tries, failures, notes = deque(tasks), Counter[str](), dict[str, str](), set[str]()
    under_way: dict[Future[_Done], tuple[_Task, ProcessPoolExecutor]] = {}
    with _one_thread_each(), contextlib.ExitStack() as pools, _children_ended():
        free = [_pool(pools) for _ in range(min(processes, len(tasks)))]
        while waiting or under_way:
            while waiting and free:
                future, task, pool = _submit(waiting.popleft(), free.pop(), pools)
                under_way[future] = task, pool
            for future in wait(under_way, return_when=FIRST_COMPLETED).done:
                task, pool = under_way.pop(future)
                tries[task.run.name] += 1
                killed = isinstance(future.exception(), BrokenProcessPool)
                free.append(_pool(pools) if killed else pool)
                if killed and tries[task.run.name] < MAX_TRIES:
                    waiting.appendleft(task)
                    continue
                seconds = _settle(future, task, failures, notes)
                n_done = len(tasks) - len(waiting) - len(under_way)
                on_progress(n_done, len(tasks), task.run.name, seconds)
    return failures


def _pool(pools: contextlib.ExitStack) -> ProcessPoolExecutor:
    """A pool of one process, so that one that is killed takes no other run with it."""
    # Spawned, not forked: a fork of a process that has started threads or CUDA may hang.
    spawn = multiprocessing.get_context("spawn")
    return pools.enter_context(ProcessPoolExecutor(1, mp_context=spawn, initializer=_begin))


def _submit(
    task: _Task, pool: ProcessPoolExecutor, pools: contextlib.ExitStack
) -> tuple["Future[_Done]", _Task, ProcessPoolExecutor]:
    """Have ``task`` played by ``pool``, or by a fresh one where its process was killed while idle."""
    try:
        return pool.submit(_play, task), task, pool
    except BrokenProcessPool:
        fresh = _pool(pools)
        return fresh.submit(_play, task), task, fresh


def _settle(future: "Future[_Done]", task: _Task, failures: dict[str, str], notes: set[str]) -> float:
    """Take note of how a run ended; returns its seconds."""
    error = future.exception()
    if isinstance(error, BrokenProcessPool):
        failures[task.run.name] = (
            f"its process was killed, {MAX_TRIES} times. Most often that is for want of memory: "
            "try fewer processes."
        )
        return 0.0
    if error is not None:
        task.traceback.write_text("".join(traceback.format_exception(error)), encoding="utf-8")
        failures[task.run.name] = f"{type(error).__name__}: {error} (traceback in {task.traceback})"
        return 0.0
    done = future.result()
    for note in done.notes:
        if note not in notes:  # every run has the same to say of the same dataset
            notes.add(note)
            warnings.warn(note, EddiWarning, stacklevel=2)
    return done.seconds


@contextlib.contextmanager
def _one_thread_each() -> Iterator[None]:
    """New processes find this in their environment before they load any library that counts cores."""
    before = {name: os.environ.get(name) for name in ONE_THREAD}
    os.environ.update(dict.fromkeys(ONE_THREAD, "1"))
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value


@contextlib.contextmanager
def _children_ended() -> Iterator[None]:
    """Whatever ends the block early ends the processes it started."""
    others = set(multiprocessing.active_children())
    try:
        yield
    except BaseException:
        for child in set(multiprocessing.active_children()) - others:
            child.kill()
        raise


def _begin() -> None:
    """In a new process: leave Ctrl-C to the parent, and do not outlive it."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)


def _play(task: _Task) -> _Done:
    """In a process of its own: play one run and keep what it found."""
    import torch

    torch.set_num_threads(1)
    place = task.folder / task.run.name
    shutil.rmtree(place, ignore_errors=True)  # files of an earlier try belong to no result
    task.traceback.unlink(missing_ok=True)
    start = time.perf_counter()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("ignore")
        warnings.simplefilter("always", EddiWarning)
        figures = task.play(task.run.settings, place)
    seconds = time.perf_counter() - start
    circumstances = {
        **task.circumstances,
        "device": _device(task.run.settings),
        "seed": task.run.settings.get("seed"),
        "seconds": round(seconds, 3),
        "finished": datetime.now(UTC).isoformat(timespec="milliseconds"),
        "peak_memory_mb": _peak_memory(),
    }
    write_outcome(task.folder, Outcome(task.run.name, task.run.settings, figures, circumstances))
    return _Done(seconds, tuple(dict.fromkeys(str(warning.message) for warning in caught)))


def _device(settings: Settings) -> str:
    import torch

    from eddi.model.preparation import find_device

    device = find_device(str(settings.get("device", "auto")))
    return torch.cuda.get_device_name(device) if device.type == "cuda" else str(device)


def _peak_memory() -> int | None:
    """The most memory this process had so far, in megabytes; None where the system does not say."""
    if sys.platform == "win32":
        return None
    import resource

    unit = 1 if sys.platform == "darwin" else 1024  # bytes there, kilobytes elsewhere
    return round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit / 1e6)
