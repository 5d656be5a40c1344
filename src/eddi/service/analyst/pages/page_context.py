"""What the analyst's pages say: moments, sizes, states of jobs, the first rows of a table."""

import math
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

import pyarrow as pa

from eddi.service.analyst.jobs import Job, JobKind, State
from eddi.service.analyst.trained_model import Made

N_ROWS = 8  # of a table's preview
MAX_CELL = 60  # characters
STATE_WORDS = {
    State.WAITING: "waiting",
    State.RUNNING: "running",
    State.FINISHED: "finished",
    State.FAILED: "failed",
    State.CANCELLED: "cancelled",
}
NOTHING = "—"


def moment(at: str) -> str:
    """A moment as people write it, to the minute."""
    when = datetime.fromisoformat(at).astimezone(UTC)
    return f"{when.day} {when:%b %Y, %H:%M} UTC"


def duration(seconds: float) -> str:
    """A length of time in its two largest units."""
    whole = max(0, round(seconds))
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60} s"
    return f"{whole // 3600} h {whole % 3600 // 60} min"


def count(n: int, what: str) -> str:
    """How many of something: one row, 2 rows."""
    return f"one {what}" if n == 1 else f"{n:,} {what}s"


def preview(table: pa.Table) -> list[list[str]]:
    """The first rows of a table as text; an empty text is a hole."""
    rows = table.slice(0, N_ROWS).to_pylist()
    return [[_cell(row[name]) for name in table.column_names] for row in rows]


def _cell(value: object) -> str:
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return ""
    text = f"{value:.6g}" if isinstance(value, float) else str(value)
    return text if len(text) <= MAX_CELL else text[: MAX_CELL - 1] + "…"


def job_line(job: Job, progress: Mapping[str, Any]) -> dict[str, Any]:
    """A job in a list."""
    what = "Training on" if job.kind is JobKind.FIT else "Judging the model of"
    share = share_done(job, progress)
    return {
        "key": job.key,
        "title": f"{what} {job.order['name']}",
        "state": str(job.state),
        "words": STATE_WORDS[job.state] + (f", {share:.0%}" if job.state is State.RUNNING else ""),
        "when": moment(job.at),
        "share": round(100 * share, 1),
    }


def share_done(job: Job, progress: Mapping[str, Any]) -> float:
    """How much of a job is done, 0 to 1."""
    if job.state is State.FINISHED:
        return 1.0
    if job.kind is JobKind.EVALUATE:
        return float(progress.get("share", 0.0))
    history = progress.get("history") or [{"step": 0}]
    return min(1.0, float(history[-1]["step"] / job.order["steps"]))


def model_line(made: Made, served: Mapping[str, list[str]]) -> dict[str, Any]:
    """A model in a list; ``served`` says by seal under which names it is published."""
    return {
        "seal": made.seal,
        "short": made.seal[:8],
        "name": made.name,
        "target": made.target,
        "when": moment(made.when) if made.when else "",
        "held_out": len(made.held_out),
        "judged": made.evaluation is not None,
        "served": served.get(made.seal, []),
    }
