"""Where models are made: tables come in, jobs learn from them, and what they made is published."""

import json
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from eddi.errors import EddiError
from eddi.service.analyst.blob_store import NotOnShelfError, Shelf
from eddi.service.analyst.catalogue import ShelfCatalogue
from eddi.service.analyst.job_supervisor import Supervisor, evaluation_order
from eddi.service.analyst.jobs import Job, JobConflictError, JobKind, Jobs, State
from eddi.service.analyst.publishing import Published, Publishing
from eddi.service.analyst.tables import Tables
from eddi.service.analyst.trained_model import Made
from eddi.service.settings import Settings
from eddi.store.base import Store

MAX_STEPS = 100_000
MAX_HELD_OUT = 0.5
RECIPES = ("default", "paper")


class OrderError(EddiError, ValueError):
    """A job cannot be done as it was asked for."""

    status = 422
    title = "This job cannot be started"


class ModelNotFoundError(EddiError, LookupError):
    """There is no such model."""

    status = 404
    title = "There is no such model"


class Workshop:
    """Everything of the analyst's, over one store and one folder."""

    def __init__(self, store: Store, folder: Path, *, jobs_at_once: int = 1) -> None:
        self.shelf = Shelf(folder / "shelf")
        self.tables = Tables(store, self.shelf)
        self.jobs = Jobs(store, folder / "jobs")
        self.publishing = Publishing(store)
        self.catalogue = ShelfCatalogue(self.publishing, self.shelf)
        self.supervisor = Supervisor(self.jobs, self.shelf, at_once=jobs_at_once)
        self._scratch: tempfile.TemporaryDirectory[str] | None = None

    @classmethod
    def of(cls, store: Store, settings: Settings) -> "Workshop":
        """The workshop of a store; in a scratch folder where the store itself keeps nothing."""
        folder = settings.workshop_folder
        scratch = None if folder else tempfile.TemporaryDirectory(prefix="eddi-workshop-")
        workshop = cls(store, folder or Path(scratch.name), jobs_at_once=settings.jobs)  # type: ignore[union-attr]
        workshop._scratch = scratch
        return workshop

    def open(self) -> None:
        """Begin to work."""
        self.supervisor.start()

    def close(self) -> None:
        """End all work; what is not finished goes on when the workshop opens again."""
        self.supervisor.stop()
        if self._scratch is not None:
            self._scratch.cleanup()

    def fit(
        self,
        table: str,
        *,
        target: Sequence[str] = (),
        recipe: str = "default",
        steps: int | None = None,
        seed: int = 0,
        held_out: float = 0.2,
    ) -> Job:
        """Ask for a model of a table; it is judged by the rows held out when it is made.

        Raises:
            TableNotFoundError: there is no such table.
            TargetError: the table has no such variable.
            OrderError: it cannot be done so.
        """
        kept = self.tables.get(table)
        names = kept.schema.target_names(list(target) or None)
        if not names:
            raise OrderError("there is no target. Say what interviews shall find out.")
        order = {
            "table": kept.key,
            "table_seal": kept.seal,
            "name": kept.title,
            "schema": kept.schema.to_toml(),
            "target": list(names),
            "recipe": _recipe(recipe),
            "steps": _steps(recipe, steps),
            "seed": seed,
            "held_out": _share(held_out),
            "evaluate": held_out > 0,
        }
        return self._asked(JobKind.FIT, order)

    def evaluate(self, seal: str) -> str:
        """Ask for an evaluation of a model on the rows held out from it; gives the key of the job.

        Raises:
            ModelNotFoundError: no job of this workshop made it.
            JobConflictError: no rows were held out.
        """
        job = self._maker(seal)
        if job is None:
            raise ModelNotFoundError(f"no job made a model {seal[:64]!r}. `GET /models` lists them.")
        if not job.order["held_out"]:
            raise JobConflictError("no rows were held out to judge it by. Fit it again with some.")
        return self._asked(JobKind.EVALUATE, evaluation_order(job, job.result)).key

    def cancel(self, key: str) -> Job:
        """End a job; it can be resumed."""
        job = self.jobs.cancel(key)
        self.supervisor.wake()
        return job

    def resume(self, key: str) -> Job:
        """Go on with a job that was cancelled or failed."""
        job = self.jobs.resume(key)
        self.supervisor.reconsider(key)
        return job

    def publish(
        self,
        name: str,
        seal: str,
        *,
        target: Sequence[str] = (),
        rules: Mapping[str, float] | None = None,
    ) -> Published:
        """Make a model what new interviews of this name are held by.

        Raises:
            ModelNotFoundError: there is no such model.
            TargetError: the model has no such variable.
        """
        made = self.made(seal)
        if made is None:
            raise ModelNotFoundError(f"there is no model {seal[:64]!r}. `GET /models` lists them.")
        published = self.publishing.publish(
            name, model=seal, target=list(target) or [made.target], rules=rules
        )
        self.catalogue.refresh()
        return published

    def roll_back(self, name: str, number: int) -> Published:
        """Make another version current."""
        published = self.publishing.roll_back(name, number)
        self.catalogue.refresh()
        return published

    def made(self, seal: str) -> Made | None:
        """The model of this seal; None where there is none."""
        return next((one for one in self.models() if one.seal == seal), None)

    def models(self) -> list[Made]:
        """Every model that a job made or the server was started with, the newest first."""
        jobs = self.jobs.all()
        found = {
            str(job.result["model"]): self._made(job, jobs)
            for job in jobs
            if job.kind is JobKind.FIT and job.state is State.FINISHED
        }
        for published in self.publishing.all():
            for one in published.versions:
                brought = Made(one.model, published.name, one.target[0], when=one.at)
                found.setdefault(one.model, brought)
        here = (one for one in found.values() if self.shelf.holds(one.seal))
        return sorted(here, key=lambda one: one.when, reverse=True)

    def _made(self, job: Job, jobs: Sequence[Job]) -> Made:
        seal, order = job.result["model"], job.order
        judged = (
            str(one.result["evaluation"])
            for one in jobs
            if one.kind is JobKind.EVALUATE
            and one.state is State.FINISHED
            and one.order["model"] == seal
        )
        return Made(
            seal,
            order["name"],
            order["target"][0],
            table=self._rows(order["table_seal"]),
            table_name=order["name"],
            held_out=tuple(self._held_out(job.result["held_out"])),
            when=job.ended,
            evaluation=next(judged, None),
        )

    def _maker(self, seal: str) -> Job | None:
        jobs = self.jobs.all()
        fits = (one for one in jobs if one.kind is JobKind.FIT and one.state is State.FINISHED)
        return next((one for one in fits if one.result["model"] == seal), None)

    def _rows(self, seal: str) -> Path | None:
        return self.shelf.path(seal) if self.shelf.holds(seal) else None

    def _held_out(self, seal: str) -> list[int]:
        try:
            found: list[int] = json.loads(self.shelf.path(seal).read_text(encoding="utf-8"))
        except NotOnShelfError:
            return []
        return found

    def _asked(self, kind: JobKind, order: Mapping[str, Any]) -> Job:
        job = self.jobs.ask(kind, order)
        self.supervisor.wake()
        return job


def _recipe(name: str) -> str:
    if name not in RECIPES:
        raise OrderError(f"recipe must be one of {', '.join(RECIPES)}, got {name[:40]!r}.")
    return name


def _steps(recipe: str, steps: int | None) -> int:
    from eddi.model.recipe import resolve

    wanted = resolve(_recipe(recipe)).max_steps if steps is None else steps
    if not 1 <= wanted <= MAX_STEPS:
        raise OrderError(f"steps must be between 1 and {MAX_STEPS:,}, got {wanted:,}.")
    return wanted


def _share(held_out: float) -> float:
    if not 0 <= held_out <= MAX_HELD_OUT:
        raise OrderError(f"the share held out must be between 0 and {MAX_HELD_OUT}, got {held_out:g}.")
    return held_out
