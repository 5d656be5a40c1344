"""A function runs in a process with limits, and the parent learns how it ended."""

import os
import signal
import time

from eddi_benchmarks.faults.limited_process import MEGABYTE, Limits, run_limited


def test_the_result_is_returned():
    ending = run_limited(lambda: {"a": [1, 2]}, Limits())
    assert (ending.result, ending.status) == ({"a": [1, 2]}, 0)


def test_a_process_that_needs_too_much_memory_fails():
    def allocate():
        try:
            return len(bytes(10**9))
        except MemoryError:
            return "no memory"

    assert run_limited(allocate, Limits(memory=100 * MEGABYTE)).result == "no memory"


def test_a_process_that_takes_too_long_is_ended():
    ending = run_limited(lambda: time.sleep(60), Limits(seconds=1))
    assert ending.result is None
    assert os.WTERMSIG(ending.status) == signal.SIGALRM


def test_a_process_that_is_killed_has_no_result():
    ending = run_limited(lambda: os.kill(os.getpid(), signal.SIGKILL), Limits())
    assert ending.result is None
    assert os.WTERMSIG(ending.status) == signal.SIGKILL


def test_memory_is_measured():
    ending = run_limited(lambda: len(bytearray(b"x") * 200_000_000), Limits(memory=400 * MEGABYTE))
    assert ending.extra_megabytes > 150
