"""Observations are released together with those of other interviews."""

from eddi.service.interviews import batch_release
from eddi.service.interviews.batch_release import MIN_INTERVIEWS, BatchRelease


def test_observations_wait_for_other_interviews():
    release, seen = BatchRelease(), []
    for answer in range(50):
        release.add("one talkative person", lambda answer=answer: seen.append(answer))
    for other in range(MIN_INTERVIEWS - 2):
        release.add(f"{other}", lambda other=other: seen.append(other))
    assert seen == []
    release.add("last", lambda: seen.append("last"))
    assert len(seen) == 50 + MIN_INTERVIEWS - 1
    assert seen[:2] == [0, 1]


def test_the_next_batch_needs_as_many_interviews_again():
    release, seen = BatchRelease(), []
    for number in range(MIN_INTERVIEWS + 1):
        release.add(f"{number}", lambda: seen.append(1))
    assert len(seen) == MIN_INTERVIEWS


def test_pending_observations_are_bounded(monkeypatch):
    monkeypatch.setattr(batch_release, "MAX_PENDING", 5)
    release, seen = BatchRelease(), []
    for number in range(100):
        release.add("a", lambda number=number: seen.append(number))
    for number in range(MIN_INTERVIEWS):
        release.add(f"{number}", lambda: seen.append("x"))
    assert len(seen) <= 6
