"""What the analyst's part of the HTTP API takes and gives, as OpenAPI tells it."""

from typing import Any, Literal, cast

from pydantic import BaseModel, ConfigDict, Field
from typing_extensions import TypedDict  # pydantic wants this one before Python 3.12

from eddi.interview.documents import variable_document
from eddi.model.fitted import FittedModel
from eddi.service.analyst.data_warnings import Caution
from eddi.service.analyst.jobs import Job
from eddi.service.analyst.pages.page_context import share_done
from eddi.service.analyst.publishing import Published, Version
from eddi.service.analyst.tables import KeptTable
from eddi.service.analyst.trained_model import Made
from eddi.service.analyst.workshop import MAX_HELD_OUT, MAX_STEPS
from eddi.service.web.schemas import MAX_TARGETS, Name, VariableOut

MAX_SEED = 2**31 - 1


class _In(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)


class FitIn(_In):
    """Learn a model from a table."""

    kind: Literal["fit"]
    table: Name = Field(description="The table's id.")
    target: list[Name] = Field(
        default_factory=list, max_length=MAX_TARGETS, description="The schema's own if left out."
    )
    recipe: Literal["default", "paper"] = "default"
    steps: int | None = Field(default=None, ge=1, le=MAX_STEPS, description="At most; the recipe's own.")
    seed: int = Field(default=0, ge=0, le=MAX_SEED, description="The same gives the same model.")
    held_out: float = Field(
        default=0.2, ge=0, le=MAX_HELD_OUT, description="Share of rows set aside to judge it by."
    )


class EvaluateIn(_In):
    """Judge a model by the rows that were held out from it."""

    kind: Literal["evaluate"]
    model: Name = Field(description="The model's sha256.")


class VersionIn(_In):
    """A new version of a questionnaire."""

    model: Name = Field(description="The model's sha256.")
    target: list[Name] = Field(
        default_factory=list, max_length=MAX_TARGETS, description="The model's own if left out."
    )
    after: int | None = Field(default=None, ge=0, le=10**6, description="Stop after so many answers.")
    budget: float | None = Field(default=None, gt=0, le=1e12, description="What all questions may cost.")
    probability_above: float | None = Field(default=None, gt=0, le=1)
    interval_below: float | None = Field(default=None, gt=0, le=1e12)

    def rules(self) -> dict[str, float]:
        """The stopping rules that are given."""
        given = self.model_dump(exclude_none=True, exclude={"model", "target"})
        return cast("dict[str, float]", given)


class RollbackIn(_In):
    """Which version new interviews shall take."""

    version: int = Field(ge=1, le=10**6)


class TableOut(TypedDict):
    """A table that was brought."""

    id: str
    name: str
    rows: int
    columns: list[str]
    target: list[str]
    at: str
    version: int


class CautionOut(TypedDict):
    """Something to look at before a table is learned from."""

    column: str | None
    kind: str
    words: str


class TableDetailOut(TableOut):
    """A table with its schema, laid out as in a schema file, and what to look at."""

    schema: dict[str, Any]
    cautions: list[CautionOut]


class JobOut(TypedDict):
    """A job as it stands; ``done`` goes from 0 to 1."""

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
    """How training stood after some steps."""

    step: int
    loss: float
    validation: float | None
    seconds: float


class JobDetailOut(JobOut):
    """A job with its course."""

    history: list[StepOut]


class ModelOut(TypedDict):
    """A model that was made or brought."""

    name: str
    sha256: str
    target: str
    made: str
    held_out: int
    evaluation: str | None


class ModelDetailOut(ModelOut):
    """A model with what it knows of."""

    rows: int
    variables: list[VariableOut]


class VersionOut(TypedDict):
    """One version of a questionnaire."""

    version: int
    model: str
    target: list[str]
    rules: dict[str, float]
    at: str
    current: bool


class PublishedOut(TypedDict):
    """A questionnaire with all its versions."""

    name: str
    version: int
    versions: list[VersionOut]


def table(kept: KeptTable) -> TableOut:
    """A table."""
    return {
        "id": kept.key,
        "name": kept.name,
        "rows": kept.n_rows,
        "columns": list(kept.columns),
        "target": list(kept.schema.targets),
        "at": kept.at,
        "version": kept.version,
    }


def table_detail(kept: KeptTable, found: list[Caution]) -> TableDetailOut:
    """A table with its schema."""
    cautions: list[CautionOut] = [
        {"column": one.column, "kind": one.kind, "words": one.words} for one in found
    ]
    return {**table(kept), "schema": kept.schema.to_document(), "cautions": cautions}


def job(one: Job, progress: dict[str, Any]) -> JobOut:
    """A job."""
    return {
        "id": one.key,
        "kind": str(one.kind),
        "state": str(one.state),
        "done": round(share_done(one, progress), 4),
        "asked": one.at,
        "ended": one.ended,
        "model": one.result.get("model"),
        "evaluation": one.result.get("evaluation"),
        "words": one.words,
    }


def job_detail(one: Job, progress: dict[str, Any]) -> JobDetailOut:
    """A job with its course."""
    kept = ("step", "loss", "validation", "seconds")
    history = [{name: step[name] for name in kept} for step in progress.get("history", [])]
    return {**job(one, progress), "history": cast("list[StepOut]", history)}


def model(made: Made) -> ModelOut:
    """A model."""
    return {
        "name": made.name,
        "sha256": made.seal,
        "target": made.target,
        "made": made.when,
        "held_out": len(made.held_out),
        "evaluation": made.evaluation,
    }


def model_detail(made: Made, loaded: FittedModel) -> ModelDetailOut:
    """A model with what it knows of."""
    variables = [cast(VariableOut, variable_document(one)) for one in loaded.schema_.variables]
    return {**model(made), "rows": loaded.training.n_rows, "variables": variables}


def published(one: Published) -> PublishedOut:
    """A questionnaire with all its versions."""
    versions = [_version(each, one.current) for each in one.versions]
    return {"name": one.name, "version": one.current.number, "versions": versions}


def _version(one: Version, current: Version) -> VersionOut:
    return {
        "version": one.number,
        "model": one.model,
        "target": list(one.target),
        "rules": dict(one.rules),
        "at": one.at,
        "current": one.number == current.number,
    }
