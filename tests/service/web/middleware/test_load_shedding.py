"""Requests that would wait too long are refused at once. The load is tested with a fake clock."""

import threading
from concurrent.futures import ThreadPoolExecutor

import httpx
import pytest

from eddi.service.web.middleware.load_shedding import MIN_WAITING, Load
from eddi.service.web.middleware.security_headers import HEADERS


class FakeClock:
    now = 0.0

    def __call__(self):
        return self.now


@pytest.fixture
def clock():
    return FakeClock()


def work(load, clock, *, n_waiting, rate, seconds):
    """Complete ``rate`` requests per second while ``n_waiting`` wait."""
    for _ in range(n_waiting):
        load.enter()
    for _ in range(round(rate * seconds)):
        clock.now += 1 / rate
        load.leave()
        load.enter()


def test_the_expected_wait_is_the_queue_divided_by_the_rate(clock):
    load = Load(clock)
    work(load, clock, n_waiting=100, rate=200, seconds=10)
    assert load.expected_wait_s() == pytest.approx(0.5, rel=0.02)


def test_the_estimate_follows_a_server_that_becomes_slower(clock):
    load = Load(clock)
    work(load, clock, n_waiting=100, rate=200, seconds=10)
    work(load, clock, n_waiting=0, rate=50, seconds=10)
    assert load.expected_wait_s() == pytest.approx(2.0, rel=0.1)


def test_a_short_queue_is_no_overload(clock):
    load = Load(clock)
    work(load, clock, n_waiting=MIN_WAITING - 1, rate=0.1, seconds=100)
    assert load.expected_wait_s() == 0


def test_idle_time_does_not_count(clock):
    load = Load(clock)
    work(load, clock, n_waiting=40, rate=100, seconds=10)
    for _ in range(40):
        load.leave()
    clock.now += 1000
    for _ in range(40):
        load.enter()
    assert load.expected_wait_s() < 0.5


@pytest.fixture
def overloaded(serving, monkeypatch):
    """A server all of whose threads wait."""
    with serving(max_wait=0.2, threads=4) as client:
        proceed = threading.Event()
        monkeypatch.setattr(client.app.state.service, "resume", lambda _: proceed.wait(20))
        address = f"{client.base_url}/interviews/x"
        with ThreadPoolExecutor(2 * MIN_WAITING) as threads:
            futures = [threads.submit(httpx.get, address, timeout=30) for _ in range(2 * MIN_WAITING)]
            while sum(future.done() for future in futures) < MIN_WAITING // 2:
                pass  # refused
            yield client
            proceed.set()


def test_an_overloaded_server_refuses_requests_and_stays_alive_and_ready(overloaded):
    refused = overloaded.post("/interviews")
    assert refused.status_code == 503
    assert int(refused.headers["retry-after"]) >= 1
    assert refused.json()["type"] == "urn:eddi:busy"
    assert "the server is busy. Try again later" in refused.json()["detail"]
    assert refused.json()["instance"] == f"urn:eddi:request:{refused.headers['x-request-id']}"
    assert all(name in refused.headers for name in HEADERS)
    page = overloaded.get("/", headers={"Accept": "text/html"})
    assert page.status_code == 503
    assert page.headers["retry-after"]
    assert "We are very busy just now" in page.text
    assert page.headers["x-request-id"] in page.text
    assert overloaded.get("/healthz").status_code == 200
    assert overloaded.get("/readyz").status_code == 200


def test_half_sent_requests_are_no_load(serving):
    """They do not wait for the server; the server waits for them."""
    with serving(max_wait=0.01) as client:
        parts = threading.Event()

        def body():
            yield b'{"answers":'
            parts.wait(20)
            yield b"{}}"

        with ThreadPoolExecutor(2 * MIN_WAITING) as threads:
            address, headers = f"{client.base_url}/ask", {"Content-Type": "application/json"}
            futures = [
                threads.submit(httpx.post, address, content=body(), headers=headers, timeout=30)
                for _ in range(2 * MIN_WAITING)
            ]
            statuses = {client.get("/questionnaires").status_code for _ in range(20)}
            parts.set()
            assert statuses == {200}
            assert all(future.result().status_code in (200, 503) for future in futures)
