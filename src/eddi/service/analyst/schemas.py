"""Request and response bodies of the analyst's part of the HTTP API."""

from typing import Any, Literal, cast

from pydantic import BaseModel, ConfigDict, Field
from typing_extensions import TypedDict  # pydantic needs this one before Python 3.12

from eddi.interview.documents import variable_document
from eddi.model.fitted import FittedModel
from eddi.service.analyst.accounts.access import MAX_EDITORS, Permissions
from eddi.service.analyst.accounts.activity import Entry
from eddi.service.analyst.data.tables import UploadedTable
from eddi.service.analyst.jobs.job_queue import Job
from eddi.service.analyst.models.published_questionnaire import PublishedQuestionnaire, Version
from eddi.service.analyst.models.trained_model import TrainedModel
from eddi.service.analyst.workshop import MAX_HELD_OUT, MAX_STEPS
from eddi.service.web.api_keys import Key
from eddi.service.web.schemas import MAX_TARGETS, Name, VariableOut
from eddi.strategy.names import StrategyName
from eddi.table.checks.training_table import DataWarning

MAX_SEED = 2**31 - 1


class _In(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)


class FitIn(_In):
    """Train a model on a table."""

    kind: Literal["fit"]
    table: Name = Field(description="The table's id.")
    target: list[Name] = Field(
        default_factory=list, max_length=MAX_TARGETS, description="The schema's targets by default."
    )
    recipe: Literal["default", "paper"] = "default"
    steps: int | None = Field(
        default=None, ge=1, le=MAX_STEPS, description="Maximum number; the recipe's by default."
    )
    seed: int = Field(default=0, ge=0, le=MAX_SEED, description="A seed always gives the same model.")
    held_out: float = Field(
        default=0.2, ge=0, le=MAX_HELD_OUT, description="Share of rows held out for the evaluation."
    )
    within: float | None = Field(
        default=None,
        gt=0,
        lt=1e12,
        description="Largest error of a quantity that counts as correct, for a guaranteed error rate.",
    )


class EvaluateIn(_In):
    """Evaluate a model on its held-out rows."""

    kind: Literal["evaluate"]
    model: Name = Field(description="The model's sha256.")


class LearnIn(_In):
    """Learn from the interviews of a questionnaire, and compare the model with its current version."""

    kind: Literal["learn"]
    questionnaire: Name = Field(description="Its name.")
    publish: bool = Field(
        default=False, description="Whether to publish the model if it is better with 95% confidence."
    )


class VersionIn(_In):
    """A new version of a questionnaire."""

    model: Name = Field(description="The model's sha256.")
    target: list[Name] = Field(
        default_factory=list, max_length=MAX_TARGETS, description="The model's target by default."
    )
    after: int | None = Field(
        default=None, ge=0, le=10**6, description="Stop after this number of answers."
    )
    budget: float | None = Field(
        default=None, gt=0, le=1e12, description="Maximum total cost of the questions."
    )
    probability_above: float | None = Field(default=None, gt=0, le=1)
    interval_below: float | None = Field(default=None, gt=0, le=1e12)
    sd_below: float | None = Field(default=None, gt=0, le=1e12)
    reward_below: float | None = Field(default=None, ge=0, le=1e12)
    risk: float | None = Field(default=None, gt=0, lt=1)
    within: float | None = Field(default=None, gt=0, le=1e12)
    confidence: float | None = Field(default=None, gt=0, lt=1)
    horizon: float | None = Field(default=None, gt=0, le=1e12)
    risk_below: float | None = Field(default=None, gt=0, lt=1)
    risk_above: float | None = Field(default=None, gt=0, lt=1)
    strategy: StrategyName | None = Field(
        default=None,
        description="Most informative question, per unit of cost if costs differ, by default.",
    )
    replace_target: bool = Field(
        default=False,
        description="Whether the questionnaire may get another target. Without it, that is 409.",
    )

    def rules(self) -> dict[str, float]:
        """The criteria of the stopping rule that are given."""
        given = self.model_dump(
            exclude_none=True, exclude={"model", "target", "strategy", "replace_target"}
        )
        return cast("dict[str, float]", given)


class AccessIn(_In):
    """Who may change a questionnaire, as names of API keys; without an owner, all analysts."""

    owner: str = Field(max_length=40)
    editors: list[str] = Field(default_factory=list, max_length=MAX_EDITORS)


class RollbackIn(_In):
    """The version that new interviews shall use."""

    version: int = Field(ge=1, le=10**6)


class TableOut(TypedDict):
    """An uploaded table."""

    id: str
    name: str
    rows: int
    columns: list[str]
    target: list[str]
    at: str
    version: int


class DataWarningOut(TypedDict):
    """A possible problem with a table or column."""

    column: str | None
    kind: str
    words: str


# Clients rely on these JSON fields. The code itself uses the names `warnings` and `trained_at`.
_TableDetails = TypedDict(  # noqa: UP013  # see above
    "_TableDetails", {"schema": dict[str, Any], "cautions": list[DataWarningOut]}
)
_TrainingDate = TypedDict("_TrainingDate", {"made": str})  # noqa: UP013  # see above


class TableDetailOut(TableOut, _TableDetails):
    """A table with its schema, in the layout of a schema file, and warnings."""


class JobOut(TypedDict):
    """A job; ``done`` goes from 0 to 1."""

    id: str
    kind: str
    state: str
    done: float
    asked: str
    ended: str
    model: str | None
    evaluation: str | None
    words: str


class StepOut(TypedDict):
    """The progress of training after a number of steps."""

    step: int
    loss: float
    validation: float | None
    seconds: float


class JobDetailOut(JobOut):
    """A job with its training history."""

    history: list[StepOut]


class ModelOut(_TrainingDate):
    """A trained or imported model."""

    name: str
    sha256: str
    target: str
    held_out: int
    evaluation: str | None


class ModelDetailOut(ModelOut):
    """A model with its variables."""

    rows: int
    variables: list[VariableOut]


class VersionOut(TypedDict):
    """One version of a questionnaire."""

    version: int
    model: str
    target: list[str]
    rules: dict[str, float]
    strategy: str
    by: str  # name of the API key; "server" or "analyst" without one
    at: str
    current: bool


class HolderOut(TypedDict):
    """Who holds an API key."""

    key: str  # its public name; empty for nobody
    name: str  # of the holder; that of the key if there is none


class AccountOut(HolderOut):
    """The account of an analyst."""

    role: str
    expires: str


class ActivityEntryOut(TypedDict):
    """Something that somebody did."""

    at: str
    by: str  # name of the API key, "analyst" without one, "server", "command line" or "retention"
    name: str  # of the holder of the key
    action: str
    subject: str  # what it was done to; empty if it was deleted


class ActivityOut(TypedDict):
    """A page of the activity log, newest first."""

    total: int
    page: int
    entries: list[ActivityEntryOut]


class PublishedOut(TypedDict):
    """A questionnaire with all its versions and its settings."""

    name: str
    owner: HolderOut
    editors: list[HolderOut]
    version: int
    open: bool
    settings: dict[str, Any]
    versions: list[VersionOut]


def table(uploaded: UploadedTable) -> TableOut:
    """The document of a table."""
    return {
        "id": uploaded.key,
        "name": uploaded.name,
        "rows": uploaded.n_rows,
        "columns": list(uploaded.columns),
        "target": list(uploaded.schema.targets),
        "at": uploaded.uploaded_at,
        "version": uploaded.version,
    }


def table_detail(uploaded: UploadedTable, warnings: list[DataWarning]) -> TableDetailOut:
    """The document of a table with its schema and warnings."""
    documents: list[DataWarningOut] = [
        {"column": warning.column, "kind": warning.kind, "words": warning.message}
        for warning in warnings
    ]
    return {**table(uploaded), "schema": uploaded.schema.to_document(), "cautions": documents}


def job(queued: Job, progress: dict[str, Any]) -> JobOut:
    """The document of a job."""
    return {
        "id": queued.key,
        "kind": str(queued.kind),
        "state": str(queued.state),
        "done": round(queued.fraction_done(progress), 4),
        "asked": queued.submitted_at,
        "ended": queued.ended_at,
        "model": queued.result.get("model"),
        "evaluation": queued.result.get("evaluation"),
        "words": queued.failure,
    }


def job_detail(queued: Job, progress: dict[str, Any]) -> JobDetailOut:
    """The document of a job with its training history."""
    names = ("step", "loss", "validation", "seconds")
    history = [{name: entry[name] for name in names} for entry in progress.get("history", [])]
    return {**job(queued, progress), "history": cast("list[StepOut]", history)}


def model(trained: TrainedModel) -> ModelOut:
    """The document of a model."""
    return {
        "name": trained.name,
        "sha256": trained.digest,
        "target": trained.target,
        "made": trained.trained_at,
        "held_out": len(trained.held_out),
        "evaluation": trained.evaluation,
    }


def model_detail(trained: TrainedModel, fitted: FittedModel) -> ModelDetailOut:
    """The document of a model with its variables."""
    variables = [cast(VariableOut, variable_document(variable)) for variable in fitted.schema.variables]
    return {**model(trained), "rows": fitted.training.n_rows, "variables": variables}


def account(key: Key) -> AccountOut:
    """The document of an account."""
    expires = key.expires.isoformat()
    return {"key": key.name, "name": key.label, "role": str(key.role), "expires": expires}


def entry(item: Entry) -> ActivityEntryOut:
    """The document of an entry of the activity log."""
    return {
        "at": item.at,
        "by": item.by,
        "name": item.author,
        "action": item.action,
        "subject": item.subject,
    }


def published(questionnaire: PublishedQuestionnaire, permissions: Permissions) -> PublishedOut:
    """The document of a questionnaire with all its versions."""
    current, access = questionnaire.current.number, questionnaire.access
    return {
        "name": questionnaire.name,
        "owner": {"key": access.owner, "name": permissions.label(access.owner)},
        "editors": [{"key": key, "name": permissions.label(key)} for key in access.editors],
        "version": current,
        "open": questionnaire.is_open,
        "settings": questionnaire.settings.to_document(),
        "versions": [
            _version(version, is_current=version.number == current) for version in questionnaire.versions
        ],
    }


def _version(version: Version, *, is_current: bool) -> VersionOut:
    return {
        "version": version.number,
        "model": version.model,
        "target": list(version.target),
        "rules": dict(version.rules),
        "strategy": version.strategy,
        "by": version.by,
        "at": version.published_at,
        "current": is_current,
    }
