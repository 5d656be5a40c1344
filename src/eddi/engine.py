"""Run one pure function over shards: in this process, in local processes, or on a Ray cluster.

Results come back in the order of the shards. A shard carries all that its result depends on, a seed
among it, and every worker has one thread, so the numbers are the same wherever a shard is worked on.
"""

import contextlib
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

MAX_TRIES = 3  # of a shard whose worker is lost: one loss may be an accident, three are not
AHEAD = 2  # shards of a stream taken for each worker before the first of them is given back
ONE_THREAD = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")

S = TypeVar("S")
R = TypeVar("R")


class EngineName(StrEnum):
    """Where shards are worked on."""

    THIS = "this"
    PROCESSES = "processes"
    RAY = "ray"


@dataclass(frozen=True)
class Engine:
    """Where shards are worked on, and by how many workers at a time; one a core where None."""

    name: EngineName = EngineName.THIS
    workers: int | None = None

    def __post_init__(self) -> None:
        if self.name not in tuple(EngineName):
            known = ", ".join(EngineName)
            raise EngineError(f"there is no engine {self.name!r}. Engines are: {known}.")
        object.__setattr__(self, "name", EngineName(self.name))
        if self.workers is not None and self.workers < 1:
            raise EngineError(f"workers must be at least 1, got {self.workers}.")


def map_shards(
    function: Callable[[S], R],
    shards: Iterable[S],
    *,
    engine: Engine | None = None,
    on_done: Callable[[int, R], None] | None = None,
    lost: Callable[[S], R] | None = None,
) -> Iterator[R]:
    """What ``function`` makes of every shard, in the shards' order, as it is finished.

    A list of shards may be worked on in any order. Of any other iterable no more than `AHEAD` shards a
    worker are taken before the first of them is given back, so that a stream larger than memory can
    pass. Whatever ends the iteration early ends the workers. An error of ``function`` is raised here.

    Args:
        function: pure, and importable by name, for workers import it.
        shards: plain facts: paths, numbers, arrays.
        engine: this process where None.
        on_done: called with a shard's place and its result as soon as it is finished, in any order.
        lost: what stands for a shard whose worker was lost `MAX_TRIES` times.

    Raises:
        EngineError: a shard's worker was lost that often, and nothing stands for its result.
    """
    chosen = engine or Engine()
    under_way: dict[int, S] = {}
    held: dict[int, R] = {}
    tries: Counter[int] = Counter()
    given, coming = 0, enumerate(shards)
    with _workers(function, chosen) as workers:
        most = None if isinstance(shards, Sequence) else AHEAD * workers.size
        while True:
            while len(under_way) < workers.size and (most is None or len(under_way) + len(held) < most):
                place, shard = next(coming, (-1, None))
                if place < 0:
                    break
                under_way[place] = shard  # type: ignore[assignment]
                workers.begin(place, shard)
            if not under_way:
                return
            place, result = workers.next_done()
            if isinstance(result, _Lost):
                tries[place] += 1
                if tries[place] < MAX_TRIES:
                    workers.begin(place, under_way[place])
                    continue
                result = _instead(lost, under_way[place], place)
            held[place] = result
            del under_way[place]
            if on_done:
                on_done(place, result)
            while given in held:
                yield held.pop(given)
                given += 1


def _instead(lost: Callable[[S], R] | None, shard: S, place: int) -> R:
    if lost is None:
        raise EngineError(
            f"the worker of shard {place + 1} was killed, {MAX_TRIES} times. Most often that is for "
            "want of memory: try fewer workers, or a larger machine."
        )
    return lost(shard)


class _Lost:
    """In place of a result: the worker is gone."""


class _Workers(Protocol):
    """Some workers: begin a shard while fewer than ``size`` are under way, take what is done."""

    size: int

    def begin(self, place: int, shard: Any) -> None: ...

    def next_done(self) -> tuple[int, Any]:
        """The place of a shard that is done and its result, `_Lost` where its worker is gone."""
        ...


@contextlib.contextmanager
def _workers(function: Callable[[Any], Any], engine: Engine) -> Iterator[_Workers]:
    if engine.name is EngineName.RAY:
        with _ray(engine.workers) as (ray, size):
            far = _Ray(ray, function, size)
            try:
                yield far
            finally:
                far.cancel()
    elif engine.name is EngineName.PROCESSES:
        with _one_thread_each(), contextlib.ExitStack() as pools, _children_ended():
            yield _Processes(function, engine.workers or os.cpu_count() or 1, pools)
    else:
        yield _This(function)


class _This:
    """This process: a shard at a time."""

    size = 1

    def __init__(self, function: Callable[[Any], Any]) -> None:
        self.function = function

    def begin(self, place: int, shard: Any) -> None:
        self.shard = place, shard

    def next_done(self) -> tuple[int, Any]:
        place, shard = self.shard
        return place, self.function(shard)


class _Processes:
    """Local processes, each a pool of its own, so that one that is killed takes no other with it."""

    def __init__(self, function: Callable[[Any], Any], size: int, pools: contextlib.ExitStack) -> None:
        self.function, self.size, self.pools = function, size, pools
        self.free: list[ProcessPoolExecutor] = []
        self.busy: dict[Future[Any], tuple[int, ProcessPoolExecutor]] = {}

    def begin(self, place: int, shard: Any) -> None:
        pool = self.free.pop() if self.free else self._pool()
        try:
            future = pool.submit(self.function, shard)
        except BrokenProcessPool:  # killed while idle
            pool = self._pool()
            future = pool.submit(self.function, shard)
        self.busy[future] = place, pool

    def next_done(self) -> tuple[int, Any]:
        future = next(iter(wait(self.busy, return_when=FIRST_COMPLETED).done))
        place, pool = self.busy.pop(future)
        if isinstance(future.exception(), BrokenProcessPool):
            return place, _Lost()
        self.free.append(pool)
        return place, future.result()

    def _pool(self) -> ProcessPoolExecutor:
        # Spawned, not forked: a fork of a process that has started threads or CUDA may hang.
        spawn = multiprocessing.get_context("spawn")
        return self.pools.enter_context(ProcessPoolExecutor(1, mp_context=spawn, initializer=_begin))


class _Ray:
    """The workers of a Ray cluster. Ray chooses the machine; what is lost is begun anew by us."""

    def __init__(self, ray: Any, function: Callable[[Any], Any], size: int) -> None:
        self.ray, self.size = ray, size
        self.task = ray.remote(num_cpus=1, max_retries=0)(function)
        self.busy: dict[Any, int] = {}

    def begin(self, place: int, shard: Any) -> None:
        self.busy[self.task.remote(shard)] = place

    def next_done(self) -> tuple[int, Any]:
        errors = self.ray.exceptions
        done, _ = self.ray.wait(list(self.busy), num_returns=1)
        place = self.busy.pop(done[0])
        try:
            return place, self.ray.get(done[0])
        except errors.RayTaskError as error:
            raise error.cause from None  # the function's own, as in any other process
        except (errors.WorkerCrashedError, errors.OutOfMemoryError, errors.ObjectLostError):
            return place, _Lost()

    def cancel(self) -> None:
        """Leave nothing to the cluster that nobody waits for."""
        for reference in self.busy:
            self.ray.cancel(reference, force=True)


@contextlib.contextmanager
def _ray(workers: int | None) -> Iterator[tuple[Any, int]]:
    """Ray, connected to the cluster at hand or, where there is none, to one of this machine's cores."""
    os.environ.setdefault("RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO", "0")  # as Ray will; it warns otherwise
    try:
        import ray
    except ImportError:
        raise MissingExtraError(
            "the engine ray needs Ray. Install it with: pip install 'eddi-ml[ray]'"
        ) from None
    ours = not ray.is_initialized()
    if ours:
        quiet = {"include_dashboard": False, "log_to_driver": False, "logging_level": "error"}
        try:
            ray.init(address="auto", log_to_driver=False, logging_level="error")
        except ConnectionError:
            ray.init(address="local", num_cpus=workers or os.cpu_count(), **quiet)
    try:
        yield ray, workers or max(1, int(ray.cluster_resources().get("CPU", 1)))
    finally:
        if ours:
            ray.shutdown()


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
