"""Run a suite: what is finished stays, the rest is spread over workers.

Every run is a pure function of its settings in a worker with one thread, so its figures do not depend
on which engine plays it, nor on how many workers there are. A result is written by the worker that found
it, at once.
"""

import contextlib
import shutil
import sys
import time
import traceback
import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from eddi.engine import MAX_TRIES, Engine, EngineName, map_shards
from eddi.errors import EddiWarning
from eddi_benchmarks.data import datasets
from eddi_benchmarks.harness import results
from eddi_benchmarks.harness.experiment import Experiment, Figures, Outcome, Settings
from eddi_benchmarks.harness.suite import Run, Suite, read_outcome, write_outcome

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
    """All that a worker needs for one run."""

    run: Run
    play: Callable[[Settings, Path], Figures]
    folder: Path  # of the suite
    circumstances: dict[str, Any]

    @property
    def traceback(self) -> Path:
        """Where the last error of this run is kept."""
        return self.folder / f"{self.run.name}.traceback.txt"


@dataclass(frozen=True)
class _Played:
    """How one run ended: well where there is no error."""

    seconds: float = 0.0
    notes: tuple[str, ...] = ()  # what EDDI warned of on the way
    error: str = ""  # in words


def run(
    suite: Suite,
    experiment: Experiment,
    results_folder: Path,
    *,
    processes: int,
    engine: EngineName = EngineName.PROCESSES,
    on_progress: OnProgress | None = None,
) -> Ended:
    """Play the runs of ``suite`` that are not finished, ``processes`` at a time.

    On a Ray cluster of several machines, ``results_folder`` must be one they share.

    Raises:
        DatasetError: a dataset is missing; nothing was run.
    """
    folder = suite.folder(results_folder)
    sums = _checksums(suite, experiment)
    facts = {**results.circumstances(), "processes": processes, "engine": str(engine)}
    tasks = []
    for one in suite.runs:
        data = {name: sums[name] for name in experiment.datasets(one.settings)}
        if not _finished(folder, one, data):
            tasks.append(_Task(one, experiment.play, folder, {"data": data, **facts}))
    folder.mkdir(parents=True, exist_ok=True)
    failures = _spread(tasks, Engine(engine, processes), on_progress or (lambda *_: None))
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


def _spread(tasks: Sequence[_Task], engine: Engine, on_progress: OnProgress) -> dict[str, str]:
    """Play ``tasks``, each by the next worker that is free; returns the errors by run."""
    failures, notes, n_done = dict[str, str](), set[str](), iter(range(1, len(tasks) + 1))

    def settle(place: int, played: _Played) -> None:
        name = tasks[place].run.name
        if played.error:
            failures[name] = played.error
        for note in played.notes:
            if note not in notes:  # every run has the same to say of the same dataset
                notes.add(note)
                warnings.warn(note, EddiWarning, stacklevel=2)
        on_progress(next(n_done), len(tasks), name, played.seconds)

    for _ in map_shards(_play, tasks, engine=engine, on_done=settle, lost=_killed):
        pass
    return failures


def _killed(_: _Task) -> _Played:
    return _Played(
        error=f"its process was killed, {MAX_TRIES} times. Most often that is for want of memory: "
        "try fewer processes."
    )


def _play(task: _Task) -> _Played:
    """In a worker: play one run and keep what it found, or how it failed."""
    place = task.folder / task.run.name
    shutil.rmtree(place, ignore_errors=True)  # files of an earlier try belong to no result
    task.traceback.unlink(missing_ok=True)
    start = time.perf_counter()
    with warnings.catch_warnings(record=True) as caught, _one_thread():
        warnings.simplefilter("ignore")
        warnings.simplefilter("always", EddiWarning)
        try:
            figures = task.play(task.run.settings, place)
        except Exception as error:
            task.traceback.write_text(traceback.format_exc(), encoding="utf-8")
            words = f"{type(error).__name__}: {error} (traceback in {task.traceback})"
            return _Played(error=words)
    seconds = time.perf_counter() - start
    circumstances = {
        **task.circumstances,
        "device": _device(task.run.settings),
        "seed": task.run.settings.get("seed"),
        "seconds": round(seconds, 3),
        "finished": datetime.now(UTC).isoformat(timespec="milliseconds"),
        "peak_memory_mb": peak_memory(),
    }
    write_outcome(task.folder, Outcome(task.run.name, task.run.settings, figures, circumstances))
    return _Played(seconds, tuple(dict.fromkeys(str(warning.message) for warning in caught)))


@contextlib.contextmanager
def _one_thread() -> Iterator[None]:
    import torch

    given = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(given)


def _device(settings: Settings) -> str:
    import torch

    from eddi.model.training.preparation import find_device

    device = find_device(str(settings.get("device", "auto")))
    return torch.cuda.get_device_name(device) if device.type == "cuda" else str(device)


def peak_memory() -> int | None:
    """The most memory this process had so far, in megabytes; None where the system does not say."""
    if sys.platform == "win32":
        return None
    import resource

    unit = 1 if sys.platform == "darwin" else 1024  # bytes there, kilobytes elsewhere
    return round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit / 1e6)
