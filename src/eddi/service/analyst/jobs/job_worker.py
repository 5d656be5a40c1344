"""The process of one job: ``python -m eddi.service.analyst.jobs.job_worker FOLDER``.

The worker does not use the store. It reads its spec from ``order.json`` in the folder, and writes its
progress to ``progress.json`` and its result to ``result.json``. It can be killed at any moment: when it is
started again, it continues from its checkpoint and ends with a bit-identical model.
"""

import json
import os
import sys
import threading
import traceback
from collections.abc import Callable, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np

from eddi.errors import EddiError, TableError
from eddi.service.analyst.data.blob_store import BlobStore
from eddi.service.analyst.data.tables import read_rows
from eddi.service.analyst.jobs.folder_lock import hold_lock
from eddi.service.analyst.jobs.job_queue import JobKind, read_json, write_json
from eddi.service.analyst.learning import learning_job
from eddi.service.analyst.models.certification import certify_held_out

NICENESS = 5  # respondents who wait for their next question have priority
MIN_ROWS = 10  # for training
INTERNAL_ERROR = "Something went wrong on our side. The server's log has the details."


def main(folder: Path) -> None:
    """Do the job in a folder, and write its result."""
    threading.Thread(target=_exit_with_server, daemon=True).start()
    hold_lock(folder)
    os.umask(0o077)  # other users of the machine must not read checkpoints and models
    if hasattr(os, "nice"):  # not on Windows
        os.nice(NICENESS)
    spec = read_json(folder / "order.json")
    try:
        result = WORK[spec["kind"]](folder, spec)
    except EddiError as error:
        result = {"failed": str(error)}
    except Exception:  # nobody above would report it
        traceback.print_exc()  # to the job's own log
        result = {"failed": INTERNAL_ERROR}
    write_json(folder / "result.json", result)


def fit(folder: Path, spec: Mapping[str, Any]) -> dict[str, Any]:
    """Train a model on the rows that are not held out. Returns the digests of the results."""
    from eddi.partial_vae import PartialVAE
    from eddi.table.schema import Schema

    rows, blobs = read_rows(Path(spec["rows"])), BlobStore(Path(spec["shelf"]))
    held_out = choose_held_out(rows.num_rows, spec["held_out"], seed=spec["seed"])
    training_rows = np.setdiff1d(np.arange(rows.num_rows), held_out)
    if len(training_rows) < MIN_ROWS:
        raise TableError(
            f"{len(training_rows)} rows are left for training; at least {MIN_ROWS} are needed. "
            "Hold out fewer rows, or upload a larger table."
        )
    log = ProgressLog(folder / "progress.json", spec["steps"])
    target = spec["target"]
    model = PartialVAE(
        Schema.from_toml(spec["schema"]),
        target[0] if len(target) == 1 else tuple(target),
        recipe=spec["recipe"],
        max_steps=spec["steps"],
        random_state=spec["seed"],
        checkpoint=folder / "checkpoint",
        on_progress=lambda progress: log.append(asdict(progress)),
    ).fit(rows.take(training_rows))
    if len(held_out):
        model.measure_quality(rows.take(held_out))  # `save` would measure it on fewer rows
        certify_held_out(model.fitted(), rows.take(held_out))
    model.save(folder / "model.eddi")
    last = model.history_[-1]
    return {
        "model": blobs.put(folder / "model.eddi"),
        "held_out": blobs.put(json.dumps(held_out.tolist()).encode()),
        "rows": len(training_rows),
        "steps": last.step,
        "seconds": round(last.seconds, 2),
        "score": last.best,
    }


def evaluate(folder: Path, spec: Mapping[str, Any]) -> dict[str, Any]:
    """Evaluate a model on its held-out rows. Returns the digest of the evaluation document."""
    from eddi.model.files.archive import load_network
    from eddi.service.analyst.models import evaluation

    rows = read_rows(Path(spec["rows"]))
    held_out = json.loads(Path(spec["held_out"]).read_text(encoding="utf-8"))

    def write_progress(fraction: float) -> None:
        write_json(folder / "progress.json", {"share": fraction})

    document = evaluation.evaluate(
        load_network(spec["model"]), rows.take(held_out), spec["target"], on_progress=write_progress
    )
    content = json.dumps(document, allow_nan=False).encode()
    return {"evaluation": BlobStore(Path(spec["shelf"])).put(content), "model": spec["seal"]}


def learn(folder: Path, spec: Mapping[str, Any]) -> dict[str, Any]:
    """Learn from the interviews of a questionnaire. Returns the facts of the result."""
    log = ProgressLog(folder / "progress.json", spec["steps"])
    return learning_job.learn(folder, spec, lambda progress: log.append(asdict(progress)))


WORK: Mapping[str, Callable[[Path, Mapping[str, Any]], dict[str, Any]]] = {
    JobKind.FIT: fit,
    JobKind.EVALUATE: evaluate,
    JobKind.LEARN: learn,
}


def choose_held_out(
    n_rows: int, share: float, *, seed: int
) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    """The sorted positions of the rows to hold out; a seed always gives the same rows."""
    order = np.random.default_rng(seed).permutation(n_rows)
    return np.sort(order[: round(share * n_rows)])


class ProgressLog:
    """The training history in a file. After a restart, steps that are repeated are overwritten."""

    def __init__(self, path: Path, max_steps: int) -> None:
        self.path, self.max_steps = path, max_steps
        self.history: list[dict[str, Any]] = read_json(path).get("history", [])

    def append(self, progress: dict[str, Any]) -> None:
        """Add the progress after another round of steps."""
        earlier = [entry for entry in self.history if entry["step"] < progress["step"]]
        self.history = [*earlier, progress]
        write_json(self.path, {"history": self.history, "max_steps": self.max_steps})


def _exit_with_server() -> None:
    """Exit when the server ends: standard input is a pipe from the server, and closes with it."""
    while os.read(sys.stdin.fileno(), 1 << 10):
        pass
    os._exit(1)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
