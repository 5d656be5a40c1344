"""The process of one job: ``python -m eddi.service.analyst.job_worker FOLDER``.

It knows nothing of the store. What to do is in ``order.json`` of its folder; how far it is goes to
``progress.json``, what came of it to ``result.json``. Killed at any moment and started again, it goes on
from its checkpoint and ends with the same bits.
"""

import json
import os
import sys
import threading
import traceback
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np

from eddi.errors import EddiError, TableError
from eddi.service.analyst.blob_store import Shelf
from eddi.service.analyst.jobs import JobKind, read_json, write_json
from eddi.service.analyst.tables import read_rows

MODEST = 5  # added to the niceness: people who wait for their next question go first
LEAST_ROWS = 10  # to learn from
OUR_FAULT = "Something went wrong on our side. The server's log has the place."


def main(folder: Path) -> None:
    """Do the job of a folder, and write down what came of it."""
    threading.Thread(target=_end_with_server, daemon=True).start()
    os.nice(MODEST)
    order = read_json(folder / "order.json")
    try:
        work = fit if order["kind"] == JobKind.FIT else evaluate
        result = work(folder, order)
    except EddiError as error:
        result = {"failed": str(error)}
    except Exception:  # the last place where anything can be said about it
        traceback.print_exc()  # goes to the job's own log
        result = {"failed": OUR_FAULT}
    write_json(folder / "result.json", result)


def fit(folder: Path, order: Mapping[str, Any]) -> dict[str, Any]:
    """Learn from the rows that are not held out; gives the seals of the model and of the rest."""
    from eddi.model.training.checkpoint import Progress
    from eddi.partial_vae import PartialVAE
    from eddi.table.schema import Schema

    table, shelf = read_rows(Path(order["rows"])), Shelf(Path(order["shelf"]))
    held_out = set_aside(table.num_rows, order["held_out"], seed=order["seed"])
    kept = np.setdiff1d(np.arange(table.num_rows), held_out)
    if len(kept) < LEAST_ROWS:
        raise TableError(
            f"{len(kept)} rows are left to learn from; at least {LEAST_ROWS} are needed, better more."
        )
    course = Course(folder / "progress.json", order["steps"])
    target = order["target"]
    model = PartialVAE(
        Schema.from_toml(order["schema"]),
        target[0] if len(target) == 1 else tuple(target),
        recipe=order["recipe"],
        max_steps=order["steps"],
        random_state=order["seed"],
        checkpoint=folder / "checkpoint",
        on_progress=lambda progress: course.note(asdict(progress)),
    ).fit(table.take(kept))
    model.save(folder / "model.eddi")
    last: Progress = model.history_[-1]
    return {
        "model": shelf.put(folder / "model.eddi"),
        "held_out": shelf.put(json.dumps(held_out.tolist()).encode()),
        "rows": len(kept),
        "steps": last.step,
        "seconds": round(last.seconds, 2),
        "score": last.best,
    }


def evaluate(folder: Path, order: Mapping[str, Any]) -> dict[str, Any]:
    """Judge a model by the rows it never saw; gives the seal of the findings."""
    from eddi.model.files.archive import load
    from eddi.service.analyst import evaluation

    table = read_rows(Path(order["rows"]))
    held_out = json.loads(Path(order["held_out"]).read_text(encoding="utf-8"))

    def note(share: float) -> None:
        write_json(folder / "progress.json", {"share": share})

    found = evaluation.evaluate(
        load(order["model"]), table.take(held_out), order["target"], on_progress=note
    )
    content = json.dumps(found, allow_nan=False).encode()
    return {"evaluation": Shelf(Path(order["shelf"])).put(content), "model": order["seal"]}


def set_aside(n_rows: int, share: float, *, seed: int) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    """The numbers of the rows that training never sees, in order; the same for the same seed."""
    order = np.random.default_rng(seed).permutation(n_rows)
    return np.sort(order[: round(share * n_rows)])


class Course:
    """How training went so far, on disk for whoever looks; what a kill cut off is written anew."""

    def __init__(self, path: Path, max_steps: int) -> None:
        self.path, self.max_steps = path, max_steps
        self.history: list[dict[str, Any]] = read_json(path).get("history", [])

    def note(self, progress: dict[str, Any]) -> None:
        """Add how it stands after another round of steps."""
        earlier = [one for one in self.history if one["step"] < progress["step"]]
        self.history = [*earlier, progress]
        write_json(self.path, {"history": self.history, "max_steps": self.max_steps})


def _end_with_server() -> None:
    """Standard input is a pipe from the server: when it closes, the server is gone, and so are we."""
    while os.read(sys.stdin.fileno(), 1 << 10):
        pass
    os._exit(1)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
