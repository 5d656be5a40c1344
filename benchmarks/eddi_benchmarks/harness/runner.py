"""Run a suite: skip finished runs and distribute the others over workers.

A run is a pure function of its settings in a single-threaded worker, so its measurements depend neither
on the engine nor on the number of workers. The worker stores the result as soon as the run is finished.
"""

import shutil
import time
import traceback
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from eddi.engine import MAX_TRIES, Engine, EngineName, map_shards
from eddi.errors import EddiWarning
from eddi_benchmarks.data import datasets
from eddi_benchmarks.harness.environment import describe_environment, peak_memory_mb, torch_threads
from eddi_benchmarks.harness.experiment import Experiment
from eddi_benchmarks.harness.run_result import (
    Measurements,
    RunResult,
    Settings,
    read_result,
    write_result,
)
from eddi_benchmarks.harness.suite import Run, Suite

OnProgress = Callable[[int, int, str, float], None]
"""Called after each run with the number of finished runs, of all runs to do, its name and seconds."""


@dataclass(frozen=True)
class Summary:
    """What running a suite did."""

    n_skipped: int  # runs that had been finished before
    n_finished: int  # runs finished now
    failures: dict[str, str]  # error message by run


@dataclass(frozen=True)
class _Task:
    """Everything a worker needs for one run."""

    run: Run
    function: Callable[[Settings, Path], Measurements]
    folder: Path  # of the suite
    provenance: dict[str, Any]

    @property
    def traceback_file(self) -> Path:
        """Where the traceback of a failed run is stored."""
        return self.folder / f"{self.run.name}.traceback.txt"


@dataclass(frozen=True)
class _Completion:
    """How one run ended; the error is empty if it succeeded."""

    seconds: float = 0.0
    warnings: tuple[str, ...] = ()  # EDDI's own
    error: str = ""


def run_suite(
    suite: Suite,
    experiment: Experiment,
    results_folder: Path,
    *,
    processes: int,
    engine: EngineName = EngineName.PROCESSES,
    on_progress: OnProgress | None = None,
) -> Summary:
    """Execute the runs of ``suite`` that are not finished, ``processes`` at a time.

    On a Ray cluster of several machines, all of them must share ``results_folder``.

    Raises:
        DatasetError: a dataset is missing; nothing was run.
    """
    folder = suite.folder(results_folder)
    checksums = _dataset_checksums(suite, experiment)
    environment = {**describe_environment(), "processes": processes, "engine": str(engine)}
    tasks = []
    for run in suite.runs:
        data = {name: checksums[name] for name in experiment.required_datasets(run.settings)}
        if not _is_finished(folder, run, data):
            tasks.append(_Task(run, experiment.run, folder, {"data": data, **environment}))
    folder.mkdir(parents=True, exist_ok=True)
    failures = _execute_all(tasks, Engine(engine, processes), on_progress or (lambda *_: None))
    return Summary(len(suite.runs) - len(tasks), len(tasks) - len(failures), failures)


def _dataset_checksums(suite: Suite, experiment: Experiment) -> dict[str, str]:
    """The checksum of every dataset of the suite; one error names all that are missing."""
    names = dict.fromkeys(
        name for run in suite.runs for name in experiment.required_datasets(run.settings)
    )
    checksums, errors = {}, []
    for name in names:
        try:
            checksums[name] = datasets.checksum(name)
        except datasets.DatasetError as error:
            errors.append(str(error))
    if errors:
        raise datasets.DatasetError("\n".join(errors))
    return checksums


def _is_finished(folder: Path, run: Run, data: dict[str, str]) -> bool:
    result = read_result(folder, run.name, run.settings)
    return result is not None and result.provenance.get("data") == data


def _execute_all(tasks: Sequence[_Task], engine: Engine, on_progress: OnProgress) -> dict[str, str]:
    """Execute ``tasks``, each on the next free worker; returns error messages by run."""
    failures, reported = dict[str, str](), set[str]()
    numbers = iter(range(1, len(tasks) + 1))

    def on_completion(index: int, completion: _Completion) -> None:
        name = tasks[index].run.name
        if completion.error:
            failures[name] = completion.error
        for message in completion.warnings:
            if message not in reported:  # runs on one dataset give the same warnings
                reported.add(message)
                warnings.warn(message, EddiWarning, stacklevel=2)
        on_progress(next(numbers), len(tasks), name, completion.seconds)

    for _ in map_shards(_execute, tasks, engine=engine, on_done=on_completion, fallback=_killed):
        pass
    return failures


def _killed(_: _Task) -> _Completion:
    return _Completion(
        error=f"its process was killed {MAX_TRIES} times, most likely because memory ran out. "
        "Use fewer processes."
    )


def _execute(task: _Task) -> _Completion:
    """Execute one run in a worker and store its result, or the traceback if it fails."""
    run_folder = task.folder / task.run.name
    shutil.rmtree(run_folder, ignore_errors=True)  # files of an interrupted attempt
    task.traceback_file.unlink(missing_ok=True)
    start = time.perf_counter()
    with warnings.catch_warnings(record=True) as caught, torch_threads(1):
        warnings.simplefilter("ignore")
        warnings.simplefilter("always", EddiWarning)
        try:
            measurements = task.function(task.run.settings, run_folder)
        except Exception as error:
            task.traceback_file.write_text(traceback.format_exc(), encoding="utf-8")
            message = f"{type(error).__name__}: {error} (traceback in {task.traceback_file})"
            return _Completion(error=message)
    seconds = time.perf_counter() - start
    provenance = {
        **task.provenance,
        "device": _device_name(task.run.settings),
        "seed": task.run.settings.get("seed"),
        "seconds": round(seconds, 3),
        "finished": datetime.now(UTC).isoformat(timespec="milliseconds"),
        "peak_memory_mb": peak_memory_mb(),
    }
    write_result(task.folder, RunResult(task.run.name, task.run.settings, measurements, provenance))
    return _Completion(seconds, tuple(dict.fromkeys(str(warning.message) for warning in caught)))


def _device_name(settings: Settings) -> str:
    import torch

    from eddi.model.training.preparation import find_device

    device = find_device(str(settings.get("device", "auto")))
    return torch.cuda.get_device_name(device) if device.type == "cuda" else str(device)
