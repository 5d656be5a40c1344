"""Clients that send too many requests have to wait. The token buckets are tested with a fake clock."""

import pytest

from eddi.service.web.middleware.rate_limit import TokenBuckets


class FakeClock:
    now = 0.0

    def __call__(self):
        return self.now


@pytest.fixture
def clock():
    return FakeClock()


def test_a_burst_is_allowed_and_then_the_rate(clock):
    buckets = TokenBuckets(2.0, 3, clock=clock)
    assert [buckets.take("a") for _ in range(4)] == [0, 0, 0, 0.5]
    clock.now += 0.5
    assert buckets.take("a") == 0
    assert buckets.take("a") == 0.5
    clock.now += 100
    assert [buckets.take("a") for _ in range(4)] == [0, 0, 0, 0.5]


def test_each_client_has_its_own_bucket(clock):
    buckets = TokenBuckets(1.0, 1, clock=clock)
    assert buckets.take("a") == 0
    assert buckets.take("b") == 0
    assert buckets.take("a") == 1


def test_the_client_that_was_idle_for_longest_loses_its_bucket(clock):
    buckets = TokenBuckets(1.0, 1, clock=clock, max_clients=100)
    for number in range(1000):
        buckets.take(f"client {number}")
    assert len(buckets) == 100
    assert buckets.take("client 999") > 0
    assert buckets.take("client 0") == 0


def test_a_rate_of_zero_is_no_limit(clock):
    buckets = TokenBuckets(0.0, 1, clock=clock)
    assert {buckets.take("a") for _ in range(100)} == {0}
    assert len(buckets) == 0


def test_a_client_with_too_many_requests_is_told_to_wait(serving):
    with serving(rate=0.5, burst=3) as client:
        statuses = [client.get("/questionnaires").status_code for _ in range(5)]
        assert statuses == [200, 200, 200, 429, 429]
        refused = client.get("/questionnaires")
        assert int(refused.headers["retry-after"]) in (1, 2)
        assert "too many requests from this address. Try again in" in refused.json()["detail"]
        assert client.get("/healthz").status_code == 200  # health checks are not limited
