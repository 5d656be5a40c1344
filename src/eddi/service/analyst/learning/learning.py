"""Learning from interviews in the workshop: jobs, their candidates, and when they run by themselves."""

import hashlib
import logging
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from eddi.errors import EddiError
from eddi.service import logs
from eddi.service.analyst.jobs.job_queue import Job, JobKind, JobQueue, JobState
from eddi.service.analyst.learning.candidate import LearningConflictError, check_learns
from eddi.service.analyst.learning.learning_data import publish_candidate
from eddi.service.analyst.learning.learning_job import SNAPSHOT
from eddi.service.analyst.learning.snapshot import write_snapshot
from eddi.service.analyst.learning.triggers import has_drifted, read_triggers
from eddi.service.analyst.models.catalogue import PublishedCatalogue
from eddi.service.analyst.models.published_questionnaire import PublishedQuestionnaire
from eddi.service.analyst.questionnaires.collected_answers import Filters, list_interviews
from eddi.service.web.api_keys import NO_KEY
from eddi.store.base import Store, StoreConflict

_log = logging.getLogger(__name__)

REQUEST = "request"  # the trigger of a run that somebody asked for


@dataclass(frozen=True)
class Candidate:
    """A model that learned from interviews.

    Args:
        job: that trained it.
        digest: of its file.
        comparison: with the version that was current then (`OffPolicyComparison.to_document`); None if no
            held-out interview has an outcome.
        version: the number of that version.
        published_as: the number of the version that uses it; 0 if there is none.
    """

    job: Job
    digest: str
    comparison: Mapping[str, Any] | None
    version: int
    published_as: int


class Learning:
    """Submits jobs that learn from interviews, and publishes their candidates."""

    def __init__(self, jobs: JobQueue, catalogue: PublishedCatalogue) -> None:
        self.jobs, self.catalogue = jobs, catalogue
        self.publisher = catalogue.publisher

    @property
    def store(self) -> Store:
        """The events of interviews, jobs and questionnaires."""
        return self.jobs.store

    def submit(
        self, name: str, *, publish: bool = False, trigger: str = REQUEST, by: str = NO_KEY
    ) -> Job:
        """Submit a job that learns from the interviews of a questionnaire.

        The rows of the table on which its model was trained are used, too, if they are available.

        Args:
            name: of the questionnaire.
            publish: whether to publish the candidate if it is better than the current version.
            trigger: why it runs.
            by: who submits it, the name of an API key.

        Raises:
            LearningConflictError: a job of this questionnaire is not over yet.
            AccessDeniedError: the questionnaire belongs to somebody else.
            EddiError: its model does not learn.
            StoreConflict: another server submitted the same job.
        """
        item = self.publisher.get_for_editor(name, by)
        earlier = self.find_jobs(item.key)
        if any(not job.state.is_over for job in earlier):
            raise LearningConflictError("this questionnaire is learning already. Wait until it ends.")
        model = check_learns(self.catalogue.load(item))
        spec = {
            "questionnaire": item.key,
            "version": item.current.number,
            "name": item.name,
            "target": list(item.current.target),
            "steps": model.recipe.max_steps,
            "seed": 0,
            "publish": publish,
            "trigger": trigger,
            "by": by,
            **self._describe_table(item.current.model),
        }
        # Two servers that notice the same trigger choose the same key, so that one job runs.
        last = earlier[0].key if earlier else ""
        key = hashlib.sha256(f"{item.key}\n{last}\n{len(earlier)}".encode()).hexdigest()[:12]
        return self.jobs.submit(JobKind.LEARN, spec, key=key, by=by)

    def find_jobs(self, questionnaire: str) -> list[Job]:
        """The jobs that learned for the questionnaire with this key, newest first."""
        return [
            job
            for job in self.jobs.all()
            if job.kind is JobKind.LEARN and job.spec["questionnaire"] == questionnaire
        ]

    def find_candidates(self, item: PublishedQuestionnaire) -> list[Candidate]:
        """The candidates of a questionnaire whose files exist, newest first."""
        numbers = {version.model: version.number for version in item.versions}
        return [
            Candidate(
                job,
                str(job.result["model"]),
                job.result["comparison"],
                job.spec["version"],
                numbers.get(job.result["model"], 0),
            )
            for job in self.find_jobs(item.key)
            if job.state is JobState.FINISHED and self.catalogue.blobs.has(job.result["model"])
        ]

    def publish(self, name: str, digest: str, *, by: str = NO_KEY) -> PublishedQuestionnaire:
        """Publish a candidate with the target, strategy and stopping rule of the current version.

        Raises:
            LearningConflictError: it is no candidate of this questionnaire, or was published already.
        """
        item = self.publisher.get_for_editor(name, by)
        candidates = {candidate.digest: candidate for candidate in self.find_candidates(item)}
        if digest not in candidates or candidates[digest].published_as:
            raise LearningConflictError(
                f"{digest[:64]!r} is not a candidate of {item.name!r}, or was published already."
            )
        return publish_candidate(self.catalogue, item, self.catalogue.load(item), digest, by=by)

    def write_inputs(self, job: Job, folder: Path) -> None:
        """Write what the process of a job reads; a job that was started before keeps it."""
        if not (folder / SNAPSHOT).exists():
            write_snapshot(self.store, job.spec["questionnaire"], folder / SNAPSHOT)

    def complete(self, job: Job, result: Mapping[str, Any]) -> dict[str, Any]:
        """Publish a candidate that is better, if the job says so; returns the result with its version.

        It may be called again after a crash: a candidate is published once.
        """
        published = 0
        comparison = result["comparison"]
        if job.spec["publish"] and comparison is not None and comparison["is_better"]:
            try:
                published = self._publish_once(job, str(result["model"]))
            except EddiError as error:
                _log.error("learning", extra={logs.FIELDS: {"error": logs.describe_error(error)}})
        return {**result, "published": published}

    def check_triggers(self) -> None:
        """Submit the jobs that are due."""
        for item in self.publisher.all():
            triggers = read_triggers(self.store, item.key)
            if not triggers.is_active:
                continue
            try:
                trigger = self.find_trigger(item, datetime.now(UTC))
                if trigger:
                    with suppress(StoreConflict):  # another server was faster
                        self.submit(item.name, publish=triggers.publish, trigger=trigger, by=triggers.by)
            except EddiError as error:
                _log.error("learning", extra={logs.FIELDS: {"error": logs.describe_error(error)}})

    def find_trigger(self, item: PublishedQuestionnaire, now: datetime) -> str:
        """Why a run of a questionnaire is due; empty if none is."""
        triggers, jobs = read_triggers(self.store, item.key), self.find_jobs(item.key)
        if any(not job.state.is_over for job in jobs):
            return ""
        last_run = jobs[0].submitted_at if jobs else ""
        entries = list_interviews(self.store, item, Filters())
        new = [entry for entry in entries if entry.began_at > last_run]
        has_drift = triggers.on_drift and has_drifted(self.store, self.catalogue.load(item), new)
        return triggers.find(new, now=now, last_run=last_run, has_drift=has_drift)

    def _publish_once(self, job: Job, digest: str) -> int:
        item = next(
            (item for item in self.publisher.all() if item.key == job.spec["questionnaire"]), None
        )
        if item is None:
            return 0
        for version in item.versions:
            if version.model == digest:
                return version.number
        if item.current.number != job.spec["version"]:
            return 0  # it was compared with another version
        current = self.catalogue.load(item)
        published = publish_candidate(self.catalogue, item, current, digest, by=job.spec["by"])
        return published.current.number

    def _describe_table(self, model: str) -> dict[str, Any]:
        """The table on which a model was trained, and the rows of it that stay held out."""
        training = next(
            (
                job
                for job in self.jobs.all()
                if job.kind.is_training and job.result.get("model") == model
            ),
            None,
        )
        seals = (
            ("", "")
            if training is None
            else (str(training.spec["table_seal"]), str(training.result["held_out"]))
        )
        if training is None or not all(seal and self.catalogue.blobs.has(seal) for seal in seals):
            return {
                "table": "",
                "table_seal": "",
                "held_out_rows": "",
                "held_out": 0.0,
                "evaluate": False,
            }
        share = training.spec["held_out"]
        return {
            "table": training.spec["table"],
            "table_seal": seals[0],
            "held_out_rows": seals[1],
            "held_out": share,
            "evaluate": share > 0,
        }
