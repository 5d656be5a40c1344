"""Texts and template data that several of the analyst's pages share."""

import math
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

import pyarrow as pa

from eddi.service.analyst.jobs.job_queue import Job, JobKind, JobState
from eddi.service.analyst.models.trained_model import TrainedModel
from eddi.service.errors import N_
from eddi.service.interviews.questionnaire_settings import QuestionnaireSettings
from eddi.service.web.languages.current import (
    current_language,
    format_integer,
    format_percent,
    gettext,
    localize,
    ngettext,
)
from eddi.service.web.texts import Texts
from eddi.table.variable import Kind

N_PREVIEW_ROWS = 8
MAX_CELL_CHARS = 60

JOB_STATES = {
    JobState.WAITING: N_("waiting"),
    JobState.RUNNING: N_("running"),
    JobState.FINISHED: N_("finished"),
    JobState.FAILED: N_("failed"),
    JobState.CANCELLED: N_("cancelled"),
}

JOB_TITLES = {
    JobKind.FIT: N_("Training on %(name)s"),
    JobKind.EVALUATE: N_("Evaluation of %(name)s"),
    JobKind.LEARN: N_("Learning from the answers to %(name)s"),
}

KINDS = {
    Kind.REAL: N_("number"),
    Kind.COUNT: N_("count"),
    Kind.BINARY: N_("binary"),
    Kind.ORDINAL: N_("ordered levels"),
    Kind.CATEGORY: N_("category"),
    Kind.SURVIVAL: N_("time until an event"),
}

Context = dict[str, Any]


def format_time(at: str) -> str:
    """An ISO 8601 time in UTC, to the minute."""
    time = datetime.fromisoformat(at).astimezone(UTC)
    day = current_language().format_date(time.date())
    return gettext("%(day)s, %(time)s UTC", day=day, time=f"{time:%H:%M}")


def format_duration(seconds: float) -> str:
    """A duration in its two largest units."""
    total = max(0, round(seconds))
    if total < 60:
        return f"{total} s"
    if total < 3600:
        return f"{total // 60} min {total % 60} s"
    return f"{total // 3600} h {total % 3600 // 60} min"


def count_rows(n: int) -> str:
    """A number of rows."""
    return ngettext("one row", "%(number)s rows", n, number=format_integer(n))


def count_columns(n: int) -> str:
    """A number of columns."""
    return ngettext("one column", "%(number)s columns", n, number=format_integer(n))


def analyst_texts() -> Texts:
    """The texts of the schema, in the language of the page."""
    return Texts(QuestionnaireSettings(languages=(current_language().code,)))


def preview_rows(table: pa.Table) -> list[list[str]]:
    """The first rows of a table as text; an empty text is a missing value."""
    rows = table.slice(0, N_PREVIEW_ROWS).to_pylist()
    return [[_format_cell(row[name]) for name in table.column_names] for row in rows]


def _format_cell(value: object) -> str:
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return ""
    text = localize(f"{value:.6g}") if isinstance(value, float) else str(value)
    return text if len(text) <= MAX_CELL_CHARS else text[: MAX_CELL_CHARS - 1] + "…"


def job_item(job: Job, progress: Mapping[str, Any]) -> Context:
    """A job in a list."""
    name = job.spec["name"]
    percent = f", {format_percent(job.fraction_done(progress))}" if job.state is JobState.RUNNING else ""
    return {
        "key": job.key,
        "title": gettext(JOB_TITLES[job.kind], name=name),
        "state": str(job.state),
        "status": gettext(JOB_STATES[job.state]) + percent,
        "when": format_time(job.submitted_at),
    }


def model_item(model: TrainedModel, published_as: Mapping[str, list[str]]) -> Context:
    """A model in a list; ``published_as`` has the names of its questionnaires by digest."""
    return {
        "digest": model.digest,
        "short": model.short_digest,
        "name": model.name,
        "target": model.target,
        "when": format_time(model.trained_at) if model.trained_at else "",
        "n_held_out": len(model.held_out),
        "is_evaluated": model.evaluation is not None,
        "published_as": published_as.get(model.digest, []),
    }


def model_context(model: TrainedModel, tab: str) -> Context:
    """The data of the header that all pages about one model share."""
    return {
        "section": "home",
        "tab": tab,
        "digest": model.digest,
        "short": model.short_digest,
        "model_name": model.name,
        "target": model.target,
        "has_rows": model.table is not None and bool(model.held_out),
    }
