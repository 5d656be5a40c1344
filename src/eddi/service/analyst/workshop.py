"""The workshop: everything an analyst can do, from uploading a table to publishing a model."""

import json
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, ClassVar

from eddi.durable_file import make_private
from eddi.errors import EddiError
from eddi.service.analyst.accounts.activity import ActivityLog
from eddi.service.analyst.data.blob_store import BlobNotFoundError, BlobStore
from eddi.service.analyst.data.tables import Tables
from eddi.service.analyst.jobs.job_queue import Job, JobConflictError, JobKind, JobQueue, JobState
from eddi.service.analyst.jobs.job_supervisor import JobSupervisor, evaluation_spec
from eddi.service.analyst.learning.learning import Learning
from eddi.service.analyst.models.catalogue import PublishedCatalogue
from eddi.service.analyst.models.model_names import ModelNames
from eddi.service.analyst.models.published_questionnaire import PublishedQuestionnaire
from eddi.service.analyst.models.publishing import Publisher
from eddi.service.analyst.models.trained_model import ModelNotFoundError, TrainedModel
from eddi.service.errors import N_
from eddi.service.interviews.limits.invitations import Invitations
from eddi.service.settings import Settings
from eddi.service.web.api_keys import NO_KEY
from eddi.store.base import Store

MAX_STEPS = 100_000
MAX_HELD_OUT = 0.5
MAX_MODEL_NAME = 80
RECIPES = ("default", "paper")


class JobSpecError(EddiError, ValueError):
    """A parameter of a job or of a questionnaire is missing or not valid."""

    status: ClassVar[int] = 422
    title: ClassVar[str] = N_("This job cannot be started")
    problem_type: ClassVar[str] = "order"  # clients rely on the name of an earlier version


class ModelInUseError(EddiError, RuntimeError):
    """A model cannot be deleted, because a questionnaire uses it."""

    status: ClassVar[int] = 409
    title: ClassVar[str] = N_("This model is in use")


class Workshop:
    """Tables, jobs, models and published questionnaires, over one store and one folder."""

    def __init__(self, store: Store, folder: Path, *, max_running_jobs: int = 1) -> None:
        self.folder = folder
        self.blobs = BlobStore(folder / "shelf")
        self.tables = Tables(store, self.blobs)
        self.jobs = JobQueue(store, folder / "jobs")
        self.publisher = Publisher(store)
        self.model_names = ModelNames(store)
        self.invitations = Invitations(store)
        self.activity = ActivityLog(store)
        self.catalogue = PublishedCatalogue(self.publisher, self.blobs)
        self.learning = Learning(self.jobs, self.catalogue)
        self.supervisor = JobSupervisor(
            self.jobs, self.blobs, self.learning, max_running=max_running_jobs
        )
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
        """Start to run jobs. Files of earlier versions become private."""
        if self.folder.is_dir():
            make_private(self.folder)
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
        by: str = NO_KEY,
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
            "table_version": uploaded.version,
            "target": list(names),
            "recipe": _check_recipe(recipe),
            "steps": _resolve_steps(recipe, steps),
            "seed": seed,
            "held_out": _check_held_out(held_out),
            "evaluate": held_out > 0,
        }
        return self._submit(JobKind.FIT, spec, by=by)

    def forget_table(self, key: str, *, with_models: bool = False, by: str = NO_KEY) -> None:
        """Erase a table, and what its jobs keep of it.

        Its models and their evaluations stay. They contain the names of variables and levels, but no rows.

        Args:
            key: the table.
            with_models: erase also the models that were never published.
            by: who erases it, the name of an API key.

        Raises:
            TableNotFoundError: there is no such table.
        """
        self.tables.get(key)
        self._forget_jobs(key, with_models=with_models, by=by)
        self.tables.forget(key, by=by)
        self._forget_jobs(
            key, with_models=with_models, by=by
        )  # those that were submitted in the meantime

    def _forget_jobs(self, table: str, *, with_models: bool, by: str) -> None:
        published = self._published_models()
        for job in [job for job in self.jobs.all() if job.spec["table"] == table]:
            model = (job.spec if job.kind is JobKind.EVALUATE else job.result).get("model")
            is_model_kept = model in published or not with_models
            if job.state is not JobState.FINISHED or not is_model_kept:
                self.jobs.forget(job, by=by)
                self._delete_unused(str(value) for value in job.result.values())
            elif "schema" in job.spec:
                self.jobs.copy_without_schema(job)
            self.supervisor.check_again(job.key)

    def _delete_unused(self, digests: Iterable[str]) -> None:
        """Delete those files that no job and no questionnaire uses."""
        used = {str(value) for job in self.jobs.all() for value in job.result.values()}
        for digest in set(digests) - used - self._published_models():
            self.blobs.delete(digest)

    def _published_models(self) -> set[str]:
        return {version.model for item in self.publisher.all() for version in item.versions}

    def evaluate(self, digest: str, *, by: str = NO_KEY) -> str:
        """Submit a job that evaluates a model on its held-out rows, and return the job's key.

        Raises:
            ModelNotFoundError: no job of this workshop trained it.
            JobConflictError: no rows were held out.
        """
        job = self._find_training(digest)
        if job is None:
            raise ModelNotFoundError(
                f"no job trained a model {digest[:64]!r}. The workshop lists all models."
            )
        if not job.spec["held_out"]:
            raise JobConflictError(
                "no rows were held out for an evaluation. Train the model again with held-out rows."
            )
        return self._submit(JobKind.EVALUATE, evaluation_spec(job, job.result), by=by).key

    def learn(self, name: str, *, publish: bool = False, by: str = NO_KEY) -> Job:
        """Submit a job that learns from the interviews of a questionnaire; see `Learning.submit`."""
        job = self.learning.submit(name, publish=publish, by=by)
        self.supervisor.check_again(job.key)
        return job

    def cancel(self, key: str, *, by: str = NO_KEY) -> Job:
        """End a job; it can be resumed."""
        job = self.jobs.cancel(key, by=by)
        self.supervisor.wake()
        return job

    def resume(self, key: str, *, by: str = NO_KEY) -> Job:
        """Continue a job that was cancelled or failed."""
        job = self.jobs.resume(key, by=by)
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
        by: str = NO_KEY,
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
            by=by,
        )

    def roll_back(self, name: str, number: int, *, by: str = NO_KEY) -> PublishedQuestionnaire:
        """Make another version of a questionnaire current."""
        return self.publisher.roll_back(name, number, by=by)

    def rename_model(self, digest: str, name: str, *, by: str = NO_KEY) -> None:
        """Give a model another name.

        Raises:
            ModelNotFoundError: there is no such model.
            JobSpecError: the name is empty or too long.
        """
        self.get_model(digest)
        cleaned = " ".join(name.split())
        if not 1 <= len(cleaned) <= MAX_MODEL_NAME:
            raise JobSpecError(f"the name of a model has 1 to {MAX_MODEL_NAME} characters.")
        self.model_names.rename(digest, cleaned, by=by)

    def delete_model(self, digest: str, *, by: str = NO_KEY) -> None:
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
        self.model_names.record_deletion(digest, by=by)

    def get_model(self, digest: str) -> TrainedModel:
        """The model with this digest.

        Raises:
            ModelNotFoundError: there is no such model.
        """
        for model in self.models():
            if model.digest == digest:
                return model
        raise ModelNotFoundError(f"there is no model {digest[:64]!r}. The workshop lists all models.")

    def models(self) -> list[TrainedModel]:
        """All models that a job trained or the server was started with, newest first."""
        jobs = self.jobs.all()
        models = {
            str(job.result["model"]): self._from_training(job, jobs)
            for job in jobs
            if job.kind.is_training and job.state is JobState.FINISHED
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
            is_trained = job.kind.is_training and job.state is JobState.FINISHED
            if is_trained and job.result["model"] == digest:
                return job
        return None

    def _read_held_out(self, digest: str) -> list[int]:
        try:
            positions: list[int] = json.loads(self.blobs.path(digest).read_text(encoding="utf-8"))
        except BlobNotFoundError:
            return []
        return positions

    def _submit(self, kind: JobKind, spec: Mapping[str, Any], *, by: str) -> Job:
        job = self.jobs.submit(kind, spec, by=by)
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
