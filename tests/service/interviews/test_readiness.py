"""Readiness is checked on a thread of its own, and not more often than necessary."""

import asyncio
import threading

import pytest

from eddi.service.interviews import readiness
from eddi.service.interviews.batcher import BusyError
from eddi.service.interviews.readiness import Readiness
from eddi.store.base import StoreFullError


def test_concurrent_checks_run_once():
    calls = []

    async def check_often():
        ready = Readiness(lambda: calls.append(threading.current_thread().name))
        await asyncio.gather(*(ready.check() for _ in range(50)))
        await ready.check()

    asyncio.run(check_often())
    assert len(calls) == 1
    assert calls[0].startswith("eddi-readiness")


def test_an_old_result_is_replaced(monkeypatch):
    monkeypatch.setattr(readiness, "MAX_AGE_S", 0.0)
    calls = []

    async def check_twice():
        ready = Readiness(lambda: calls.append(1))
        await ready.check()
        await ready.check()

    asyncio.run(check_twice())
    assert len(calls) == 2


def test_the_error_of_the_store_is_reported():
    def fail():
        raise StoreFullError("no space left")

    async def check():
        await Readiness(fail).check()

    with pytest.raises(StoreFullError, match="no space left"):
        asyncio.run(check())


def test_a_store_that_does_not_respond_is_not_ready():
    proceed = threading.Event()

    async def check():
        ready = Readiness(lambda: proceed.wait(10) and None, timeout_s=0.05)
        for _ in range(3):
            with pytest.raises(BusyError, match=r"did not respond within 0\.05 s"):
                await ready.check()
        proceed.set()
        await ready.check()

    asyncio.run(check())
