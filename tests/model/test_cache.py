"""The cache: values are computed once, and the least recently used are dropped."""

import gc
import threading
import weakref

import pytest

from eddi.model.cache import Cache


class Value:
    """An object that can be weakly referenced."""


def test_a_value_is_computed_once():
    cache, calls = Cache(), []

    def compute():
        calls.append(1)
        return "value"

    assert cache.get("key", compute) == "value"
    assert cache.get("key", compute) == "value"
    assert len(calls) == 1
    assert len(cache) == 1


def test_different_keys_have_different_values():
    cache = Cache()
    assert [cache.get(("square", n), lambda n=n: n * n) for n in range(4)] == [0, 1, 4, 9]


def test_none_is_a_value():
    cache = Cache()
    cache.get("key", lambda: None)
    assert cache.get("key", lambda: "another") is None


def test_the_least_recently_used_entry_is_dropped():
    cache = Cache(max_entries=2)
    cache.get("a", lambda: 1)
    cache.get("b", lambda: 2)
    cache.get("a", lambda: 0)  # now "b" is the least recently used
    cache.get("c", lambda: 3)
    assert len(cache) == 2
    assert cache.get("a", lambda: "computed again") == 1
    assert cache.get("b", lambda: "computed again") == "computed again"


def test_a_computation_may_use_the_cache():
    cache = Cache()
    assert cache.get("outer", lambda: cache.get("inner", lambda: 1) + 1) == 2
    assert len(cache) == 2


def test_a_computation_that_fails_is_not_stored():
    cache = Cache()
    with pytest.raises(ZeroDivisionError):
        cache.get("key", lambda: 1 / 0)
    assert len(cache) == 0
    assert cache.get("key", lambda: 1) == 1


def test_values_are_freed_with_the_cache():
    cache = Cache()
    reference = weakref.ref(cache.get("key", Value))
    assert reference() is not None
    del cache
    gc.collect()
    assert reference() is None


def test_threads_that_share_a_cache_get_equal_values():
    cache, barrier, found = Cache(max_entries=8), threading.Barrier(4), []

    def work():
        barrier.wait()
        found.extend(cache.get(n % 10, lambda n=n: n % 10) == n % 10 for n in range(2_000))

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(found) == 8_000
    assert all(found)
    assert len(cache) <= 8
