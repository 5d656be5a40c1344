"""The circumstances of many runs, put together."""

import pytest

from eddi_benchmarks.report.provenance import Facts, duration, short_commit


def at(minute):
    return f"2026-01-02T10:{minute:02d}:00+00:00"


def test_time_in_which_runs_overlap_or_nothing_ran_is_not_counted(make_outcome):
    outcomes = [
        make_outcome(0, finished=at(10), seconds=300),  # 10:05 to 10:10
        make_outcome(1, finished=at(9), seconds=60),  # within the first
        make_outcome(2, finished=at(12), seconds=240),  # 10:08 to 10:12
        make_outcome(3, finished=at(40), seconds=60),  # after a kill and half an hour
    ]
    facts = Facts.of(outcomes)
    assert facts.wall_seconds == pytest.approx((7 + 1) * 60)
    assert facts.run_seconds == pytest.approx(300 + 60 + 240 + 60)
    assert (f"{facts.began:%H:%M}", f"{facts.ended:%H:%M}") == ("10:05", "10:40")


def test_runs_of_different_commits_and_machines_are_all_named(make_outcome):
    outcomes = [
        make_outcome(0),
        make_outcome(1, commit="f" * 40, machine="a laptop", data={"boston": "cd" * 32}),
        make_outcome(2, commit=None, peak_memory_mb=None, processes=1),
    ]
    facts = Facts.of(outcomes)
    assert facts.commits == ["0123456789abcdef-dirty", "f" * 40]
    assert facts.machines == ["Linux x86_64, 2 cores", "a laptop"]
    assert facts.data == {"boston": ["ab" * 32, "cd" * 32]}
    assert facts.peak_memory_mb == 701
    assert facts.processes == [2, 1]
    assert facts.words()["commit"] == "0123456789ab with changes, ffffffffffff"


def test_what_is_not_known_is_not_said(make_outcome):
    facts = Facts.of([make_outcome(0, commit=None, peak_memory_mb=None)])
    assert not {"commit", "memory"} & set(facts.words())
    assert facts.words()["took"].startswith("60 s with 2 processes of one thread each")


@pytest.mark.parametrize(
    ("seconds", "words"),
    [(0.44, "0.4 s"), (12.3, "12 s"), (100, "2 min"), (3599, "1 h 0 min"), (4320, "1 h 12 min")],
)
def test_a_duration_is_said_as_people_say_it(seconds, words):
    assert duration(seconds) == words


def test_a_commit_is_short_and_says_where_files_differed():
    assert short_commit("0123456789abcdef0123") == "0123456789ab"
    assert short_commit("0123456789abcdef0123-dirty") == "0123456789ab with changes"
