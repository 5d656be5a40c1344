"""Shards: the same results in the same order on every engine, whatever happens to a worker."""

import importlib
import itertools
import multiprocessing
import os
import sys
import time

import pytest

from eddi.engine import AHEAD, MAX_TRIES, Engine, map_shards
from eddi.errors import EngineError, MissingExtraError

# In a module of its own, for a worker must be able to import it.
MODULE = """
import os, random, signal, time
from pathlib import Path

def draw(seed):
    return random.Random(seed).random()

def slow_first(place):
    time.sleep(0.5 if place == 0 else 0)
    return place

def threads(_):
    return os.environ.get("OMP_NUM_THREADS"), os.getpid()

def fail_at_two(place):
    if place == 2:
        raise ValueError("two is too much")
    return place

def killed(shard):
    log, place, n_kills = shard
    with Path(log).open("a") as file:
        file.write("x" if place == 1 else "")
    if place == 1 and len(Path(log).read_text()) <= n_kills:
        os.kill(os.getpid(), signal.SIGKILL)
    return place

def sleep(_):
    time.sleep(60)
"""


@pytest.fixture(scope="module")
def work(tmp_path_factory):
    """A module of functions that every worker can import."""
    folder = tmp_path_factory.mktemp("work")
    (folder / "work_of_shards.py").write_text(MODULE)
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(folder)
        patch.setenv("PYTHONPATH", str(folder))  # where the workers of Ray look
        yield importlib.import_module("work_of_shards")
    del sys.modules["work_of_shards"]


@pytest.fixture(scope="module")
def cluster(work):  # noqa: ARG001  # its workers must be able to import it
    """A Ray cluster of two workers on this machine."""
    ray = pytest.importorskip("ray")
    ray.init(
        address="local", num_cpus=2, include_dashboard=False, log_to_driver=False, logging_level="error"
    )
    yield ray
    ray.shutdown()


@pytest.fixture(params=["this", "processes", "ray"])
def engine(request):
    if request.param == "ray":
        request.getfixturevalue("cluster")
    return Engine(request.param, 2)


@pytest.fixture(params=["processes", "ray"])
def apart(request):
    """An engine whose workers are other processes."""
    if request.param == "ray":
        request.getfixturevalue("cluster")
    return Engine(request.param, 2)


def test_every_engine_finds_the_same_numbers_in_the_shards_order(work, engine):
    assert list(map_shards(work.draw, list(range(5)), engine=engine)) == [
        work.draw(seed) for seed in range(5)
    ]


def test_a_slow_shard_does_not_change_the_order(work, engine):
    done = []
    results = map_shards(
        work.slow_first, [0, 1, 2], engine=engine, on_done=lambda *one: done.append(one)
    )
    assert list(results) == [0, 1, 2]
    assert sorted(done) == [(0, 0), (1, 1), (2, 2)]


def test_an_error_of_the_function_is_raised_as_it_was(work, engine):
    with pytest.raises(ValueError, match="two is too much"):
        list(map_shards(work.fail_at_two, [1, 2, 3], engine=engine))


def test_workers_have_one_thread_and_there_are_as_many_as_asked_for(work, apart):
    found = list(map_shards(work.threads, [0] * 6, engine=apart))
    assert {threads for threads, _ in found} == {"1"}
    assert os.getpid() not in {process for _, process in found}
    assert len({process for _, process in found}) <= 2


def test_a_worker_that_is_killed_is_survived(work, apart, tmp_path):
    shards = [(str(tmp_path / "log"), place, 1) for place in range(4)]
    assert list(map_shards(work.killed, shards, engine=apart)) == [0, 1, 2, 3]
    assert (tmp_path / "log").read_text() == "xx"


def test_a_shard_that_kills_every_worker_is_told(work, apart, tmp_path):
    shards = [(str(tmp_path / "log"), place, 99) for place in range(3)]
    with pytest.raises(EngineError, match=f"shard 2 was killed, {MAX_TRIES} times"):
        list(map_shards(work.killed, shards, engine=apart))
    assert (tmp_path / "log").read_text() == "x" * MAX_TRIES


def test_a_result_may_stand_for_a_shard_that_kills_every_worker(work, apart, tmp_path):
    shards = [(str(tmp_path / "log"), place, 99) for place in range(3)]
    found = list(map_shards(work.killed, shards, engine=apart, lost=lambda shard: ("lost", shard[1])))
    assert found == [0, ("lost", 1), 2]


def test_of_a_stream_only_a_few_shards_are_taken_ahead(work):
    taken = itertools.count()
    stream = (next(taken) for _ in range(100))
    results = map_shards(work.slow_first, stream, engine=Engine("processes", 2))
    next(results)
    assert next(taken) <= 2 * AHEAD + 1
    results.close()


def test_leaving_early_ends_the_workers(work):
    others = set(multiprocessing.active_children())
    began = time.monotonic()

    def interrupt(*_):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        list(map_shards(work.draw, [1, 2], engine=Engine("processes", 2), on_done=interrupt))
    assert set(multiprocessing.active_children()) == others
    assert time.monotonic() - began < 30


def test_an_unknown_engine_is_told_with_those_there_are():
    with pytest.raises(EngineError, match=r"'dask'.*this, processes, ray"):
        Engine("dask")


def test_workers_must_be_some():
    with pytest.raises(EngineError, match="at least 1, got 0"):
        Engine("processes", 0)


def test_without_ray_the_engine_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(MissingExtraError, match=r"eddi-ml\[ray\]"):
        list(map_shards(abs, [1], engine=Engine("ray")))
