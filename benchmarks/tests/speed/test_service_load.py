"""The measurement of waits, on a server of two people for a moment."""

import asyncio

import pytest

from eddi_benchmarks.speed.service_load import Waits, crowd


def test_a_crowd_is_served_without_errors(client):
    port = client.base_url.port
    waits = asyncio.run(crowd(port, 4, 1.0))
    assert waits.errors == 0
    assert len(waits.seconds) > 10
    assert 0 < waits.ms(50) <= waits.ms(99)
    assert waits.cpu_ms > 0


def test_waits_add_up():
    both = Waits([0.1, 0.3], 2, 1.0, 0.2).plus(Waits([0.2], 1, 2.0, 0.1, errors=1))
    assert (both.ms(50), both.a_second, both.errors) == (pytest.approx(200), 1.0, 1)
    assert both.cpu_ms == pytest.approx(100)
