"""Buckets of tokens, by a clock of our own."""

import pytest

from eddi.service.web.middleware.rate_limit import Buckets


class Clock:
    now = 0.0

    def __call__(self):
        return self.now


@pytest.fixture
def clock():
    return Clock()


def test_a_burst_is_let_through_then_the_rate(clock):
    buckets = Buckets(2.0, 3, clock=clock)
    assert [buckets.seconds_to_wait("a") for _ in range(4)] == [0, 0, 0, 0.5]
    clock.now += 0.5
    assert buckets.seconds_to_wait("a") == 0
    assert buckets.seconds_to_wait("a") == 0.5
    clock.now += 100
    assert [buckets.seconds_to_wait("a") for _ in range(4)] == [0, 0, 0, 0.5]


def test_each_client_has_a_bucket(clock):
    buckets = Buckets(1.0, 1, clock=clock)
    assert buckets.seconds_to_wait("a") == 0
    assert buckets.seconds_to_wait("b") == 0
    assert buckets.seconds_to_wait("a") == 1


def test_who_was_not_seen_for_longest_is_let_go(clock):
    buckets = Buckets(1.0, 1, clock=clock, most=100)
    for number in range(1000):
        buckets.seconds_to_wait(f"client {number}")
    assert len(buckets) == 100
    assert buckets.seconds_to_wait("client 999") > 0
    assert buckets.seconds_to_wait("client 0") == 0


def test_no_rate_is_no_limit(clock):
    buckets = Buckets(0.0, 1, clock=clock)
    assert {buckets.seconds_to_wait("a") for _ in range(100)} == {0}
    assert len(buckets) == 0
