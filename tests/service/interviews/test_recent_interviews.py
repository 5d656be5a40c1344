"""Recent interviews are kept for a while, and dropped when they are old."""

from types import SimpleNamespace

from eddi.service.interviews.recent_interviews import MAX_AGE_S, RecentInterviews


def make_entry(key):
    return SimpleNamespace(history=SimpleNamespace(key=key))


class FakeClock:
    now = 1000.0

    def __call__(self):
        return self.now


def test_the_interviews_that_were_changed_last_are_kept():
    recent = RecentInterviews(max_entries=2)
    entries = {key: make_entry(key) for key in "abc"}
    for key in "abac":
        recent.put(entries[key])
    assert recent.get("a") is entries["a"]
    assert recent.get("c") is entries["c"]
    assert recent.get("b") is None
    recent.drop("a")
    recent.drop("a")
    assert recent.get("a") is None


def test_old_interviews_are_dropped():
    clock = FakeClock()
    recent = RecentInterviews(clock=clock)
    recent.put(make_entry("a"))
    clock.now += MAX_AGE_S + 1
    assert recent.get("a") is None
    recent.put(make_entry("b"))
    assert len(recent) == 1
