"""Every engine returns the same results in the same order, even if a worker is killed."""

import importlib
import itertools
import multiprocessing
import os
import sys
import time

import pytest

from eddi.engine import MAX_TRIES, SHARDS_PER_WORKER, Engine, map_shards
from eddi.errors import EngineError, MissingExtraError

# Written to a module of its own, because workers must be able to import it.
MODULE = """
import os, random, signal, time
from pathlib import Path

def draw(seed):
    return random.Random(seed).random()

def slow_first(index):
    time.sleep(0.5 if index == 0 else 0)
    return index

def thread_limit_and_pid(_):
    return os.environ.get("OMP_NUM_THREADS"), os.getpid()

def fail_at_two(index):
    if index == 2:
        raise ValueError("two is too much")
    return index

def kill_at_one(shard):
    log, index, n_kills = shard
    with Path(log).open("a") as file:
        file.write("x" if index == 1 else "")
    if index == 1 and len(Path(log).read_text()) <= n_kills:
        os.kill(os.getpid(), signal.SIGKILL)
    return index
"""


@pytest.fixture(scope="module")
def functions(tmp_path_factory):
    """A module of functions that every worker can import."""
    folder = tmp_path_factory.mktemp("functions")
    (folder / "shard_functions.py").write_text(MODULE)
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(folder)
        patch.setenv("PYTHONPATH", str(folder))  # Ray's workers import from here
        yield importlib.import_module("shard_functions")
    del sys.modules["shard_functions"]


RAY = pytest.param("ray", marks=pytest.mark.slow)  # a cluster takes seconds to start


@pytest.fixture(scope="module")
def cluster(functions):  # noqa: ARG001  # the workers must be able to import the module
    """A Ray cluster of two workers on this machine."""
    ray = pytest.importorskip("ray")
    ray.init(
        address="local", num_cpus=2, include_dashboard=False, log_to_driver=False, logging_level="error"
    )
    yield ray
    ray.shutdown()


@pytest.fixture(params=["this", "processes", RAY])
def engine(request):
    """Each engine, with two workers."""
    if request.param == "ray":
        request.getfixturevalue("cluster")
    return Engine(request.param, 2)


@pytest.fixture(params=["processes", RAY])
def remote_engine(request):
    """An engine whose workers are other processes."""
    if request.param == "ray":
        request.getfixturevalue("cluster")
    return Engine(request.param, 2)


def test_every_engine_returns_the_same_results_in_the_order_of_the_shards(functions, engine):
    assert list(map_shards(functions.draw, list(range(5)), engine=engine)) == [
        functions.draw(seed) for seed in range(5)
    ]


def test_a_slow_shard_does_not_change_the_order(functions, engine):
    done = []
    results = map_shards(
        functions.slow_first, [0, 1, 2], engine=engine, on_done=lambda *call: done.append(call)
    )
    assert list(results) == [0, 1, 2]
    assert sorted(done) == [(0, 0), (1, 1), (2, 2)]


def test_an_exception_of_the_function_is_raised_unchanged(functions, engine):
    with pytest.raises(ValueError, match="two is too much"):
        list(map_shards(functions.fail_at_two, [1, 2, 3], engine=engine))


def test_workers_use_one_thread_each_and_are_as_many_as_requested(functions, remote_engine):
    results = list(map_shards(functions.thread_limit_and_pid, [0] * 6, engine=remote_engine))
    assert {limit for limit, _ in results} == {"1"}
    assert os.getpid() not in {pid for _, pid in results}
    assert len({pid for _, pid in results}) <= 2


def test_a_shard_is_retried_if_its_worker_is_killed(functions, remote_engine, tmp_path):
    shards = [(str(tmp_path / "log"), index, 1) for index in range(4)]
    assert list(map_shards(functions.kill_at_one, shards, engine=remote_engine)) == [0, 1, 2, 3]
    assert (tmp_path / "log").read_text() == "xx"


def test_a_shard_that_kills_every_worker_raises_an_error(functions, remote_engine, tmp_path):
    shards = [(str(tmp_path / "log"), index, 99) for index in range(3)]
    with pytest.raises(EngineError, match=f"shard 2 was killed {MAX_TRIES} times"):
        list(map_shards(functions.kill_at_one, shards, engine=remote_engine))
    assert (tmp_path / "log").read_text() == "x" * MAX_TRIES


def test_a_fallback_replaces_the_result_of_a_shard_that_kills_every_worker(
    functions, remote_engine, tmp_path
):
    shards = [(str(tmp_path / "log"), index, 99) for index in range(3)]
    results = map_shards(
        functions.kill_at_one,
        shards,
        engine=remote_engine,
        fallback=lambda shard: ("fallback", shard[1]),
    )
    assert list(results) == [0, ("fallback", 1), 2]


def test_only_a_few_shards_of_a_stream_are_taken_in_advance(functions):
    taken = itertools.count()
    stream = (next(taken) for _ in range(100))
    results = map_shards(functions.slow_first, stream, engine=Engine("processes", 2))
    next(results)
    assert next(taken) <= 2 * SHARDS_PER_WORKER + 1
    results.close()


def test_the_workers_stop_if_the_iteration_ends_early(functions):
    children_before = set(multiprocessing.active_children())
    start = time.monotonic()

    def interrupt(*_):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        list(map_shards(functions.draw, [1, 2], engine=Engine("processes", 2), on_done=interrupt))
    assert set(multiprocessing.active_children()) == children_before
    assert time.monotonic() - start < 30


def test_an_unknown_engine_is_rejected_with_a_list_of_the_engines():
    with pytest.raises(EngineError, match=r"'dask'.*this, processes, ray"):
        Engine("dask")


def test_an_engine_needs_at_least_one_worker():
    with pytest.raises(EngineError, match="at least 1, got 0"):
        Engine("processes", 0)


def test_the_ray_engine_says_what_to_install_if_ray_is_missing(monkeypatch):
    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(MissingExtraError, match=r"eddi-ml\[ray\]"):
        list(map_shards(abs, [1], engine=Engine("ray")))
