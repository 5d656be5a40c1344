"""The process of a job learns from a snapshot: the same snapshot gives the same model."""

import json
import math
from pathlib import Path
from typing import Any

import pytest

from eddi.service.analyst.jobs import job_worker
from eddi.service.analyst.learning import learning_job

N_STEPS = 100


def prepare(workshop: Any, folder: Path) -> dict[str, Any]:
    """Write what the process of a new job reads, and return its spec."""
    job = workshop.learn("people")
    workshop.learning.write_inputs(job, folder)
    return {**workshop.supervisor._worker_spec(job), "steps": N_STEPS}


@pytest.mark.slow
def test_a_job_learns_and_compares(copied_workshop: Any, tmp_path: Path) -> None:
    folder = tmp_path / "job"
    folder.mkdir()
    spec = prepare(copied_workshop, folder)
    result = job_worker.learn(folder, spec)
    assert result["rows"] == result["interviews"] > 30
    assert set(result["comparison"]) >= {"candidate", "current", "error_difference", "is_better"}
    json.dumps(result, allow_nan=False)
    again = tmp_path / "again"
    again.mkdir()
    (again / learning_job.SNAPSHOT).write_bytes((folder / learning_job.SNAPSHOT).read_bytes())
    assert job_worker.learn(again, spec)["model"] == result["model"]


def test_the_held_out_rows_of_a_table_stay_held_out(workshop: Any, table: Any, tmp_path: Path) -> None:
    positions = tmp_path / "positions.json"
    positions.write_text("[3, 5]", encoding="utf-8")
    spec = {"rows": str(workshop.blobs.path(table.digest)), "held_out_rows": str(positions)}
    [training], held_out, found = learning_job._read_table(spec)
    assert (training.num_rows, held_out.num_rows, found) == (118, 2, [3, 5])
    assert learning_job._read_table({"rows": ""}) == ([], None, [])


def test_a_number_without_a_value_is_none() -> None:
    document = {"a": {"b": math.inf, "c": 1.0}, "d": math.nan}
    assert learning_job._to_plain(document) == {"a": {"b": None, "c": 1.0}, "d": None}
