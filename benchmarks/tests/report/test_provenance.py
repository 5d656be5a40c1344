"""The combined provenance of many runs."""

import pytest

from eddi_benchmarks.report.provenance import Provenance, format_duration, short_commit


def at(minute):
    return f"2026-01-02T10:{minute:02d}:00+00:00"


def test_wall_time_counts_overlapping_runs_once_and_pauses_not_at_all(make_result):
    results = [
        make_result(0, finished=at(10), seconds=300),  # 10:05 to 10:10
        make_result(1, finished=at(9), seconds=60),  # during the first
        make_result(2, finished=at(12), seconds=240),  # 10:08 to 10:12
        make_result(3, finished=at(40), seconds=60),  # after an interruption of half an hour
    ]
    provenance = Provenance.from_results(results)
    assert provenance.wall_seconds == pytest.approx((7 + 1) * 60)
    assert provenance.run_seconds == pytest.approx(300 + 60 + 240 + 60)
    assert f"{provenance.started:%H:%M}" == "10:05"
    assert f"{provenance.finished:%H:%M}" == "10:40"


def test_all_commits_machines_and_checksums_are_listed(make_result):
    results = [
        make_result(0),
        make_result(1, commit="f" * 40, machine="a laptop", data={"boston": "cd" * 32}),
        make_result(2, commit=None, peak_memory_mb=None, processes=1),
    ]
    provenance = Provenance.from_results(results)
    assert provenance.commits == ["0123456789abcdef-dirty", "f" * 40]
    assert provenance.machines == ["Linux x86_64, 2 cores", "a laptop"]
    assert provenance.data == {"boston": ["ab" * 32, "cd" * 32]}
    assert provenance.peak_memory_mb == 701
    assert provenance.processes == [2, 1]
    assert provenance.describe()["commit"] == "0123456789ab with changes, ffffffffffff"


def test_unknown_facts_are_left_out_of_the_description(make_result):
    description = Provenance.from_results([make_result(0, commit=None, peak_memory_mb=None)]).describe()
    assert not {"commit", "memory"} & set(description)
    assert description["duration"].startswith("60 s with 2 single-threaded processes")


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(0.44, "0.4 s"), (12.3, "12 s"), (100, "2 min"), (3599, "1 h 0 min"), (4320, "1 h 12 min")],
)
def test_a_duration_has_the_unit_that_suits_its_length(seconds, text):
    assert format_duration(seconds) == text


def test_a_commit_is_abbreviated_and_marked_if_files_had_changed():
    assert short_commit("0123456789abcdef0123") == "0123456789ab"
    assert short_commit("0123456789abcdef0123-dirty") == "0123456789ab with changes"
