"""A snapshot has the events of one questionnaire, in a file that appears complete or not at all."""

from pathlib import Path
from typing import Any

from eddi.service.analyst.learning.snapshot import read_snapshot, write_snapshot
from eddi.service.analyst.learning.stored_interviews import read_interviews
from eddi.service.interviews.history import interview_stream


def test_a_snapshot_has_the_same_interviews_as_the_store(copied_workshop: Any, tmp_path: Path) -> None:
    workshop = copied_workshop
    write_snapshot(workshop.jobs.store, "people", tmp_path / "events.jsonl")
    snapshot = read_snapshot(tmp_path / "events.jsonl")
    expected, found = (
        read_interviews(store, workshop.catalogue, "people") for store in (workshop.jobs.store, snapshot)
    )
    assert [item.record for item in found] == [item.record for item in expected]
    assert [item.outcome for item in found] == [item.outcome for item in expected]


def test_other_questionnaires_and_deleted_interviews_are_left_out(
    copied_workshop: Any, tmp_path: Path
) -> None:
    store = copied_workshop.jobs.store
    store.append("interview/other", "opened", {"questionnaire": "other", "version": 1}, after=0)
    store.forget(interview_stream(f"{0:032x}"))
    write_snapshot(store, "people", tmp_path / "events.jsonl")
    names = list(read_snapshot(tmp_path / "events.jsonl").streams("interview/"))
    assert len(names) == 59
    assert "interview/other" not in names


def test_nobody_else_can_read_a_snapshot(copied_workshop: Any, tmp_path: Path) -> None:
    write_snapshot(copied_workshop.jobs.store, "people", tmp_path / "events.jsonl")
    assert (tmp_path / "events.jsonl").stat().st_mode & 0o077 == 0
    assert [path.name for path in tmp_path.iterdir() if "unfinished" in path.name] == []
