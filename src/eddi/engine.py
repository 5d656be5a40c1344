"""Map a pure function over shards: in this process, in local processes, or on a Ray cluster.

Results come back in the order of the shards. A shard contains everything its result depends on,
including the seed, and every worker process uses one thread. The results are therefore the same on
every engine.
"""

import contextlib
import math
import multiprocessing
import os
import signal
import threading
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Protocol, TypeVar

from eddi.errors import EngineError, MissingExtraError

MAX_TRIES = 3  # attempts per shard whose worker is killed: one loss may be an accident, three are not
SHARDS_PER_WORKER = 2  # shards taken from a stream per worker before their first result is returned
THREAD_COUNT_VARIABLES = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")

S = TypeVar("S")
R = TypeVar("R")


class EngineName(StrEnum):
    """The available engines: this process, local processes, or a Ray cluster."""

    THIS = "this"
    PROCESSES = "processes"
    RAY = "ray"


@dataclass(frozen=True)
class Engine:
    """An engine and its number of workers. None means one worker per CPU core."""

    name: EngineName = EngineName.THIS
    workers: int | None = None

    def __post_init__(self) -> None:
        if self.name not in tuple(EngineName):
            raise EngineError(f"unknown engine {self.name!r}. Choose one of: {', '.join(EngineName)}.")
        object.__setattr__(self, "name", EngineName(self.name))
        if self.workers is not None and self.workers < 1:
            raise EngineError(f"workers must be at least 1, got {self.workers}.")


def map_shards(
    function: Callable[[S], R],
    shards: Iterable[S],
    *,
    engine: Engine | None = None,
    on_done: Callable[[int, R], None] | None = None,
    fallback: Callable[[S], R] | None = None,
) -> Iterator[R]:
    """Yield ``function(shard)`` for every shard, in the order of the shards.

    The shards of a sequence may be computed in any order. From any other iterable, at most
    `SHARDS_PER_WORKER` shards per worker are taken before their first result is yielded, so a stream
    can be larger than memory. If the iteration ends early, the workers are stopped. Exceptions raised by
    ``function`` are re-raised here.

    Args:
        function: a pure function that workers can import by name.
        shards: plain data such as paths, numbers or arrays.
        engine: where to compute; None means in this process.
        on_done: called with a shard's index and result as soon as it is finished, in any order.
        fallback: computes the result of a shard whose worker was killed `MAX_TRIES` times.

    Raises:
        EngineError: a shard's worker was killed that often and there is no ``fallback``.
    """
    running: dict[int, S] = {}
    finished: dict[int, R] = {}  # results that wait for an earlier shard
    tries: Counter[int] = Counter()
    next_index, remaining = 0, enumerate(shards)
    with _start_workers(function, engine or Engine()) as workers:
        max_taken = math.inf if isinstance(shards, Sequence) else SHARDS_PER_WORKER * workers.size
        while True:
            while len(running) < workers.size and len(running) + len(finished) < max_taken:
                item = next(remaining, None)
                if item is None:
                    break
                index, shard = item
                running[index] = shard
                workers.submit(index, shard)
            if not running:
                return
            index, result = workers.next_result()
            if isinstance(result, _WorkerKilled):
                tries[index] += 1
                if tries[index] < MAX_TRIES:
                    workers.submit(index, running[index])
                    continue
                result = _fall_back(fallback, running[index], index)
            finished[index] = result
            del running[index]
            if on_done:
                on_done(index, result)
            while next_index in finished:
                yield finished.pop(next_index)
                next_index += 1


def _fall_back(fallback: Callable[[S], R] | None, shard: S, index: int) -> R:
    if fallback is None:
        raise EngineError(
            f"the worker of shard {index + 1} was killed {MAX_TRIES} times. It probably ran out of "
            "memory: use fewer workers or a machine with more memory."
        )
    return fallback(shard)


class _WorkerKilled:
    """Marker in place of a result: the worker was killed."""


class _Workers(Protocol):
    """A pool of workers that computes at most ``size`` shards at a time."""

    size: int

    def submit(self, index: int, shard: Any) -> None:
        """Start computing a shard."""
        ...

    def next_result(self) -> tuple[int, Any]:
        """Wait for a shard. Return its index and its result, or `_WorkerKilled`."""
        ...


@contextlib.contextmanager
def _start_workers(function: Callable[[Any], Any], engine: Engine) -> Iterator[_Workers]:
    if engine.name is EngineName.RAY:
        with _connect_ray(engine.workers) as (ray, size):
            workers = _RayWorkers(ray, function, size)
            try:
                yield workers
            finally:
                workers.cancel()
    elif engine.name is EngineName.PROCESSES:
        with _limit_threads(), contextlib.ExitStack() as pools, _kill_children_on_error():
            yield _ProcessWorkers(function, engine.workers or os.cpu_count() or 1, pools)
    else:
        yield _InProcessWorker(function)


class _InProcessWorker:
    """Computes one shard at a time in this process."""

    size = 1

    def __init__(self, function: Callable[[Any], Any]) -> None:
        self.function = function

    def submit(self, index: int, shard: Any) -> None:
        self.submitted = index, shard

    def next_result(self) -> tuple[int, Any]:
        index, shard = self.submitted
        return index, self.function(shard)


class _ProcessWorkers:
    """Local processes. Each has a pool of its own, so a killed process does not affect the others."""

    def __init__(self, function: Callable[[Any], Any], size: int, pools: contextlib.ExitStack) -> None:
        self.function, self.size, self.pools = function, size, pools
        self.idle: list[ProcessPoolExecutor] = []
        self.busy: dict[Future[Any], tuple[int, ProcessPoolExecutor]] = {}

    def submit(self, index: int, shard: Any) -> None:
        pool = self.idle.pop() if self.idle else self._start_pool()
        try:
            future = pool.submit(self.function, shard)
        except BrokenProcessPool:  # its process was killed while idle
            pool = self._start_pool()
            future = pool.submit(self.function, shard)
        self.busy[future] = index, pool

    def next_result(self) -> tuple[int, Any]:
        future = next(iter(wait(self.busy, return_when=FIRST_COMPLETED).done))
        index, pool = self.busy.pop(future)
        if isinstance(future.exception(), BrokenProcessPool):
            return index, _WorkerKilled()
        self.idle.append(pool)
        return index, future.result()

    def _start_pool(self) -> ProcessPoolExecutor:
        # Spawn, because a fork of a process that has started threads or CUDA may hang.
        spawn = multiprocessing.get_context("spawn")
        pool = ProcessPoolExecutor(1, mp_context=spawn, initializer=_initialize_worker)
        return self.pools.enter_context(pool)


class _RayWorkers:
    """Workers of a Ray cluster. Ray chooses the machine; `map_shards` does the retries."""

    def __init__(self, ray: Any, function: Callable[[Any], Any], size: int) -> None:
        self.ray, self.size = ray, size
        self.task = ray.remote(num_cpus=1, max_retries=0)(function)
        self.busy: dict[Any, int] = {}

    def submit(self, index: int, shard: Any) -> None:
        self.busy[self.task.remote(shard)] = index

    def next_result(self) -> tuple[int, Any]:
        errors = self.ray.exceptions
        done, _ = self.ray.wait(list(self.busy), num_returns=1)
        index = self.busy.pop(done[0])
        try:
            return index, self.ray.get(done[0])
        except errors.RayTaskError as error:
            raise error.cause from None  # the exception of the function, as on every other engine
        except (errors.WorkerCrashedError, errors.OutOfMemoryError, errors.ObjectLostError):
            return index, _WorkerKilled()

    def cancel(self) -> None:
        """Cancel the tasks whose results nobody waits for any more."""
        for reference in self.busy:
            self.ray.cancel(reference, force=True)


@contextlib.contextmanager
def _connect_ray(workers: int | None) -> Iterator[tuple[Any, int]]:
    """Connect to a running Ray cluster, or else start one on this machine. Yield it and its size."""
    # Set the value that Ray will use by default in future; it prints a warning otherwise.
    os.environ.setdefault("RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO", "0")
    try:
        import ray
    except ImportError:
        raise MissingExtraError(
            "the ray engine needs Ray. Install it with: pip install 'eddi-ml[ray]'"
        ) from None
    is_ours = not ray.is_initialized()
    if is_ours:
        quiet = {"include_dashboard": False, "log_to_driver": False, "logging_level": "error"}
        try:
            ray.init(address="auto", log_to_driver=False, logging_level="error")
        except ConnectionError:
            ray.init(address="local", num_cpus=workers or os.cpu_count(), **quiet)
    try:
        yield ray, workers or max(1, int(ray.cluster_resources().get("CPU", 1)))
    finally:
        if is_ours:
            ray.shutdown()


@contextlib.contextmanager
def _limit_threads() -> Iterator[None]:
    """Make new processes use one thread each.

    The limit is set in the environment, because numeric libraries read it when they are loaded.
    """
    before = {name: os.environ.get(name) for name in THREAD_COUNT_VARIABLES}
    os.environ.update(dict.fromkeys(THREAD_COUNT_VARIABLES, "1"))
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value


@contextlib.contextmanager
def _kill_children_on_error() -> Iterator[None]:
    """Kill the processes started within the block if it ends with an exception."""
    children_before = set(multiprocessing.active_children())
    try:
        yield
    except BaseException:
        for child in set(multiprocessing.active_children()) - children_before:
            child.kill()
        raise


def _initialize_worker() -> None:
    """Make a new process ignore Ctrl-C, which the parent handles, and exit with its parent."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_exit_with_parent, daemon=True).start()


def _exit_with_parent() -> None:
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)
