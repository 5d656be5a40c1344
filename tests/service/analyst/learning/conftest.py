"""A workshop with interviews, and candidates as if a job had trained them."""

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from eddi.service.analyst.workshop import Workshop
from eddi.store.factory import open_store


@pytest.fixture
def copied_workshop(interviewed_folder: Path, tmp_path: Path) -> Iterator[Workshop]:
    """A workshop with 60 interviews of the questionnaire "people"; no job starts by itself."""
    folder = shutil.copytree(interviewed_folder, tmp_path / "copy")
    store = open_store(f"sqlite:///{folder}/answers.db")
    workshop = Workshop(store, folder / "workshop")
    yield workshop
    for running in workshop.supervisor._running.values():
        running.process.kill()
        running.process.communicate()
    store.close()


def estimate(value: float, low: float | None, high: float | None) -> dict[str, Any]:
    """An estimate as plain JSON."""
    return {"value": value, "low": low, "high": high}


def make_comparison(low: float | None, high: float | None, *, n_effective: float = 40.0) -> Any:
    """A comparison as plain JSON, with this interval of the difference of errors."""
    value = {
        "error": estimate(0.5, 0.4, 0.6),
        "cost": estimate(2.0, 2.0, 2.0),
        "n_interviews": 50,
        "n_effective": n_effective,
    }
    is_better = high is not None and high < 0 and n_effective >= 10
    difference = estimate(-0.1, low, high)
    return {
        "candidate": value,
        "current": value,
        "error_difference": difference,
        "cost_difference": estimate(0.0, 0.0, 0.0),
        "is_better": is_better,
    }


@pytest.fixture
def make_result(copied_workshop: Workshop) -> Any:
    """Makes the result of a job: a copy of the current model, and a comparison."""

    def make(comparison: Any) -> dict[str, Any]:
        blobs = copied_workshop.blobs
        current = copied_workshop.publisher.get("people").current.model
        return {
            "model": blobs.put(blobs.path(current).read_bytes() + b"\n"),  # another digest
            "held_out": blobs.put(b"[]"),
            "rows": 45,
            "interviews": 45,
            "steps": 100,
            "seconds": 1.0,
            "score": None,
            "comparison": comparison,
        }

    return make


@pytest.fixture
def finish(copied_workshop: Workshop) -> Any:
    """Records the result of a job as the supervisor does."""

    def record(job: Any, result: dict[str, Any]) -> None:
        started = copied_workshop.jobs.start(job, {"step": 0})
        copied_workshop.supervisor._record_result(started, result)

    return record
