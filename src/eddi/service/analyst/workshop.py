"""The workshop: everything an analyst can do, from uploading a table to publishing a model."""

import json
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, ClassVar

from eddi.errors import EddiError
from eddi.service.analyst.data.blob_store import BlobNotFoundError, BlobStore
from eddi.service.analyst.data.tables import Tables
from eddi.service.analyst.jobs.job_queue import Job, JobConflictError, JobKind, JobQueue, JobState
from eddi.service.analyst.jobs.job_supervisor import JobSupervisor, evaluation_spec
from eddi.service.analyst.models.catalogue import PublishedCatalogue
from eddi.service.analyst.models.model_names import ModelNames
from eddi.service.analyst.models.publishing import PublishedQuestionnaire, Publisher
from eddi.service.analyst.models.trained_model import ModelNotFoundError, TrainedModel
from eddi.service.interviews.invitations import Invitations
from eddi.service.interviews.questionnaire_settings import QuestionnaireSettings
from eddi.service.settings import Settings
from eddi.store.base import Store

MAX_STEPS = 100_000
MAX_HELD_OUT = 0.5
MAX_MODEL_NAME = 80
RECIPES = ("default", "paper")


class JobSpecError(EddiError, ValueError):
    """A parameter of a job or of a questionnaire is missing or not valid."""

    status: ClassVar[int] = 422
    title: ClassVar[str] = "This job cannot be started"
    problem_type: ClassVar[str] = "order"  # clients rely on the name of an earlier version


class ModelInUseError(EddiError, RuntimeError):
    """A model cannot be deleted, because a questionnaire uses it."""

    status: ClassVar[int] = 409
    title: ClassVar[str] = "This model is in use"


class Workshop:
    """Tables, jobs, models and published questionnaires, over one store and one folder."""

    def __init__(self, store: Store, folder: Path, *, max_running_jobs: int = 1) -> None:
        self.blobs = BlobStore(folder / "shelf")
        self.tables = Tables(store, self.blobs)
        self.jobs = JobQueue(store, folder / "jobs")
        self.publisher = Publisher(store)
        self.model_names = ModelNames(store)
        self.invitations = Invitations(store)
        self.catalogue = PublishedCatalogue(self.publisher, self.blobs)
        self.supervisor = JobSupervisor(self.jobs, self.blobs, max_running=max_running_jobs)
        self._temporary: tempfile.TemporaryDirectory[str] | None = None

    @classmethod
    def from_settings(cls, store: Store, settings: Settings) -> "Workshop":
        """The workshop of a store; in a temporary folder if the store itself is temporary."""
        folder = settings.workshop_folder
        if folder is not None:
            return cls(store, folder, max_running_jobs=settings.jobs)
        temporary = tempfile.TemporaryDirectory(prefix="eddi-workshop-")
        workshop = cls(store, Path(temporary.name), max_running_jobs=settings.jobs)
        workshop._temporary = temporary
        return workshop

    def open(self) -> None:
        """Start to run jobs."""
        self.supervisor.start()

    def close(self) -> None:
        """Stop all jobs. Those that are not finished continue when the workshop opens again."""
        self.supervisor.stop()
        if self._temporary is not None:
            self._temporary.cleanup()

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
        """Submit a job that trains a model. It is then evaluated on the held-out rows.

        Raises:
            TableNotFoundError: there is no such table.
            TargetError: the table has no such variable.
            JobSpecError: a parameter is not valid.
        """
        uploaded = self.tables.get(table)
        names = uploaded.schema.target_names(list(target) or None)
        if not names:
            raise JobSpecError("there is no target. Choose the variable that interviews predict.")
        spec = {
            "table": uploaded.key,
            "table_seal": uploaded.digest,
            "name": uploaded.title,
            "schema": uploaded.schema.to_toml(),
            "target": list(names),
            "recipe": _check_recipe(recipe),
            "steps": _resolve_steps(recipe, steps),
            "seed": seed,
            "held_out": _check_held_out(held_out),
            "evaluate": held_out > 0,
        }
        return self._submit(JobKind.FIT, spec)

    def evaluate(self, digest: str) -> str:
        """Submit a job that evaluates a model on its held-out rows, and return the job's key.

        Raises:
            ModelNotFoundError: no job of this workshop trained it.
            JobConflictError: no rows were held out.
        """
        job = self._find_training(digest)
        if job is None:
            raise ModelNotFoundError(
                f"no job trained a model {digest[:64]!r}. The workshop (`GET /models`) lists all models."
            )
        if not job.spec["held_out"]:
            raise JobConflictError(
                "no rows were held out for an evaluation. Train the model again with held-out rows."
            )
        return self._submit(JobKind.EVALUATE, evaluation_spec(job, job.result)).key

    def cancel(self, key: str) -> Job:
        """End a job; it can be resumed."""
        job = self.jobs.cancel(key)
        self.supervisor.wake()
        return job

    def resume(self, key: str) -> Job:
        """Continue a job that was cancelled or failed."""
        job = self.jobs.resume(key)
        self.supervisor.check_again(key)
        return job

    def publish(
        self,
        name: str,
        digest: str,
        *,
        target: Sequence[str] = (),
        rules: Mapping[str, float] | None = None,
        strategy: str = "",
        replace_target: bool = True,
    ) -> PublishedQuestionnaire:
        """Publish a model as the new current version of a questionnaire.

        Raises:
            ModelNotFoundError: there is no such model.
            PublishingError: the name is not valid.
            TargetChangeError: the questionnaire has another target, and ``replace_target`` is false.
            StopError: a condition of the rules is not valid.
        """
        model = self.get_model(digest)
        return self.catalogue.publish(
            name,
            digest,
            list(target) or [model.target],
            strategy=strategy,
            rules=rules,
            replace_target=replace_target,
        )

    def roll_back(self, name: str, number: int) -> PublishedQuestionnaire:
        """Make another version of a questionnaire current."""
        questionnaire = self.publisher.roll_back(name, number)
        self.catalogue.refresh()
        return questionnaire

    def change_settings(
        self, name: str, settings: QuestionnaireSettings, *, after: int | None = None
    ) -> PublishedQuestionnaire:
        """Replace the settings of a questionnaire; see `Publisher.change_settings`."""
        questionnaire = self.publisher.change_settings(name, settings, after=after)
        self.catalogue.refresh()
        return questionnaire

    def rename(self, name: str, new_name: str) -> PublishedQuestionnaire:
        """Give a questionnaire another name."""
        questionnaire = self.publisher.rename(name, new_name)
        self.catalogue.refresh()
        return questionnaire

    def set_open(self, name: str, *, is_open: bool) -> PublishedQuestionnaire:
        """Unpublish a questionnaire, or let interviews begin again."""
        change = self.publisher.reopen if is_open else self.publisher.close
        questionnaire = change(name)
        self.catalogue.refresh()
        return questionnaire

    def delete_questionnaire(self, name: str) -> None:
        """Delete a questionnaire with its texts. Answers stay in the store."""
        self.publisher.delete(name)
        self.catalogue.refresh()

    def choose_first_page(self, name: str) -> None:
        """Show a questionnaire at the address of the server; an empty name lists all."""
        self.publisher.choose_first_page(name)
        self.catalogue.refresh()

    def rename_model(self, digest: str, name: str) -> None:
        """Give a model another name.

        Raises:
            ModelNotFoundError: there is no such model.
            JobSpecError: the name is empty or too long.
        """
        self.get_model(digest)
        cleaned = " ".join(name.split())
        if not 1 <= len(cleaned) <= MAX_MODEL_NAME:
            raise JobSpecError(f"the name of a model has 1 to {MAX_MODEL_NAME} characters.")
        self.model_names.rename(digest, cleaned)

    def delete_model(self, digest: str) -> None:
        """Delete the file of a model.

        Raises:
            ModelNotFoundError: there is no such model.
            ModelInUseError: a questionnaire uses it.
        """
        self.get_model(digest)
        users = [
            item.name
            for item in self.publisher.all()
            if any(version.model == digest for version in item.versions)
        ]
        if users:
            raise ModelInUseError(
                f"the model belongs to {', '.join(users)}, whose interviews need it. Delete that "
                "questionnaire first."
            )
        job = self._find_training(digest)
        if job is not None:
            (self.jobs.job_folder(job.key) / "model.eddi").unlink(missing_ok=True)
        self.blobs.delete(digest)

    def get_model(self, digest: str) -> TrainedModel:
        """The model with this digest.

        Raises:
            ModelNotFoundError: there is no such model.
        """
        for model in self.models():
            if model.digest == digest:
                return model
        raise ModelNotFoundError(
            f"there is no model {digest[:64]!r}. The workshop (`GET /models`) lists all models."
        )

    def models(self) -> list[TrainedModel]:
        """All models that a job trained or the server was started with, newest first."""
        jobs = self.jobs.all()
        models = {
            str(job.result["model"]): self._from_training(job, jobs)
            for job in jobs
            if job.kind is JobKind.FIT and job.state is JobState.FINISHED
        }
        published = sorted(self.publisher.all(), key=lambda item: item.versions[0].published_at)
        for questionnaire in published:  # a model is called as it was first published
            for version in questionnaire.versions:
                name, target = questionnaire.name, version.target[0]
                imported = TrainedModel(version.model, name, target, trained_at=version.published_at)
                models.setdefault(version.model, imported)
        names = self.model_names.all()
        named = (replace(m, name=names.get(m.digest) or m.name) for m in models.values())
        available = (model for model in named if self.blobs.has(model.digest))
        return sorted(available, key=lambda model: model.trained_at, reverse=True)

    def _from_training(self, job: Job, jobs: Sequence[Job]) -> TrainedModel:
        digest, spec = job.result["model"], job.spec
        evaluations = (
            str(other.result["evaluation"])
            for other in jobs
            if other.kind is JobKind.EVALUATE
            and other.state is JobState.FINISHED
            and other.spec["model"] == digest
        )
        table = spec["table_seal"]
        return TrainedModel(
            digest,
            spec["name"],
            spec["target"][0],
            table=self.blobs.path(table) if self.blobs.has(table) else None,
            table_name=spec["name"],
            held_out=tuple(self._read_held_out(job.result["held_out"])),
            trained_at=job.ended_at,
            evaluation=next(evaluations, None),
        )

    def _find_training(self, digest: str) -> Job | None:
        for job in self.jobs.all():
            is_trained = job.kind is JobKind.FIT and job.state is JobState.FINISHED
            if is_trained and job.result["model"] == digest:
                return job
        return None

    def _read_held_out(self, digest: str) -> list[int]:
        try:
            positions: list[int] = json.loads(self.blobs.path(digest).read_text(encoding="utf-8"))
        except BlobNotFoundError:
            return []
        return positions

    def _submit(self, kind: JobKind, spec: Mapping[str, Any]) -> Job:
        job = self.jobs.submit(kind, spec)
        self.supervisor.wake()
        return job


def _check_recipe(name: str) -> str:
    if name not in RECIPES:
        raise JobSpecError(f"recipe must be one of {', '.join(RECIPES)}, got {name[:40]!r}.")
    return name


def _resolve_steps(recipe: str, steps: int | None) -> int:
    from eddi.model.recipe import resolve

    resolved = resolve(_check_recipe(recipe)).max_steps if steps is None else steps
    if not 1 <= resolved <= MAX_STEPS:
        raise JobSpecError(f"steps must be between 1 and {MAX_STEPS:,}, got {resolved:,}.")
    return resolved


def _check_held_out(share: float) -> float:
    if not 0 <= share <= MAX_HELD_OUT:
        raise JobSpecError(
            f"the share of held-out rows must be between 0 and {MAX_HELD_OUT}, got {share:g}."
        )
    return share
