"""The job that learns from interviews: fit a candidate, and compare it with the current version."""

import json
import math
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from eddi.service.analyst.data.blob_store import BlobStore
from eddi.service.analyst.data.tables import read_rows

if TYPE_CHECKING:
    import pyarrow as pa

    from eddi.model.training.loop import OnProgress

SNAPSHOT = "interviews.jsonl"  # in the folder of the job


def learn(folder: Path, spec: Mapping[str, Any], on_progress: "OnProgress") -> dict[str, Any]:
    """Learn from the interviews in the snapshot of a folder. Returns the facts of the result."""
    from eddi.service.analyst.learning.candidate import fit_candidate, measure_candidate
    from eddi.service.analyst.learning.learning_data import compare_with_current, prepare_data
    from eddi.service.analyst.learning.snapshot import read_snapshot
    from eddi.service.analyst.learning.stored_interviews import read_interviews
    from eddi.service.analyst.models.catalogue import PublishedCatalogue
    from eddi.service.analyst.models.publishing import Publisher

    store, blobs = read_snapshot(folder / SNAPSHOT), BlobStore(Path(spec["shelf"]))
    catalogue = PublishedCatalogue(Publisher(store), blobs)
    item = next(item for item in catalogue.publisher.all() if item.key == spec["questionnaire"])
    current = catalogue.load(item)
    training, held_out, positions = _read_table(spec)
    interviews = read_interviews(store, catalogue, item.key)
    data = prepare_data(current.model.schema, interviews, training)
    model = fit_candidate(
        current,
        data,
        checkpoint=folder / "checkpoint",
        steps=spec["steps"],
        seed=spec["seed"],
        on_progress=on_progress,
    )
    if held_out is not None:
        measure_candidate(model, held_out)
    model.save(folder / "model.eddi")
    comparison = compare_with_current(model.fitted(), current, data.logged)
    last = model.history_[-1]
    return {
        "model": blobs.put(folder / "model.eddi"),
        "held_out": blobs.put(json.dumps(positions).encode()),
        "rows": data.rows.num_rows,
        "interviews": data.n_interviews,
        "steps": last.step,
        "seconds": round(last.seconds, 2),
        "score": last.best,
        "comparison": None if comparison is None else _to_plain(comparison.to_document()),
    }


def _to_plain(value: Any) -> Any:
    """Plain JSON: an interval without an end has None instead of infinity."""
    if isinstance(value, Mapping):
        return {name: _to_plain(item) for name, item in value.items()}
    return None if isinstance(value, float) and not math.isfinite(value) else value


def _read_table(spec: Mapping[str, Any]) -> tuple[list["pa.Table"], "pa.Table | None", list[int]]:
    """The rows of the table to learn from, those that stay held out, and the positions of the latter."""
    if not spec["rows"]:
        return [], None, []
    rows = read_rows(Path(spec["rows"]))
    positions: list[int] = json.loads(Path(spec["held_out_rows"]).read_text(encoding="utf-8"))
    others = sorted(set(range(rows.num_rows)) - set(positions))
    return [rows.take(others)], rows.take(positions) if positions else None, positions
