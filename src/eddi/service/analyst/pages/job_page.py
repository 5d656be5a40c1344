"""The page of a job: its progress, the training curve, and the buttons to cancel or resume it."""

from collections.abc import Sequence
from dataclasses import fields
from typing import Any
from urllib.parse import quote

from fastapi import APIRouter, Request, Response

from eddi.model.training.checkpoint import Progress
from eddi.service.analyst.jobs.job_queue import Job, JobKind, JobState
from eddi.service.analyst.pages import charts
from eddi.service.analyst.pages.layout import Form, Layout, redirect
from eddi.service.analyst.pages.page_context import (
    JOB_TITLES,
    Context,
    count_rows,
    format_duration,
    format_time,
    job_item,
)
from eddi.service.analyst.workshop import Workshop
from eddi.service.errors import N_
from eddi.service.web.api_keys import get_author
from eddi.service.web.languages.current import format_integer, format_percent, gettext, localize

HEADINGS = {
    JobState.WAITING: N_("Waiting to start"),
    JobState.RUNNING: N_("Training"),
    JobState.FINISHED: N_("Trained"),
    JobState.FAILED: N_("Failed"),
    JobState.CANCELLED: N_("Cancelled"),
}
OTHER_HEADINGS = {
    JobKind.FIT: {},
    JobKind.EVALUATE: {JobState.RUNNING: N_("Evaluating"), JobState.FINISHED: N_("Evaluated")},
    JobKind.LEARN: {JobState.RUNNING: N_("Learning"), JobState.FINISHED: N_("Learned")},
}
TRIGGERS = {  # why a job started that learns
    "request": N_("on request"),
    "interviews": N_("after new interviews"),
    "schedule": N_("on schedule"),
    "drift": N_("because answers have changed"),
}
MAX_LISTED = 200  # jobs, newest first


def add(routes: APIRouter, layout: Layout, workshop: Workshop) -> None:
    """Add the routes of these pages."""
    pages = JobPages(layout, workshop)
    routes.add_api_route("/jobs", pages.list, methods=["GET"])
    routes.add_api_route("/jobs/{key}", pages.show, methods=["GET"])
    routes.add_api_route("/jobs/{key}/now", pages.status, methods=["GET"])
    routes.add_api_route("/jobs/{key}/cancel", pages.cancel, methods=["POST"])
    routes.add_api_route("/jobs/{key}/resume", pages.resume, methods=["POST"])


class JobPages:
    """Lists, shows, cancels and resumes jobs."""

    def __init__(self, layout: Layout, workshop: Workshop) -> None:
        self.layout, self.workshop = layout, workshop

    def list(self, request: Request) -> Response:
        """The most recent jobs."""
        jobs = self.workshop.jobs
        items = [job_item(job, jobs.progress(job.key)) for job in jobs.all()[:MAX_LISTED]]
        context = {"section": "home", "title": gettext("Jobs"), "jobs": items}
        return self.layout.page(request, "jobs.html", context)

    def show(self, request: Request, key: str) -> Response:
        """One job."""
        return self.layout.page(request, "job.html", self._context(key))

    def status(self, request: Request, key: str) -> Response:
        """The part of the page that changes, which a script fetches repeatedly."""
        return self.layout.page(request, "job_status.html", self._context(key))

    def cancel(self, request: Request, key: str, form: Form) -> Response:
        """Cancel a job."""
        self.layout.forms.check(request, form)
        self.workshop.cancel(key, by=get_author(request))
        return redirect(f"/analyst/jobs/{key}")

    def resume(self, request: Request, key: str, form: Form) -> Response:
        """Resume a job."""
        self.layout.forms.check(request, form)
        self.workshop.resume(key, by=get_author(request))
        return redirect(f"/analyst/jobs/{key}")

    def _context(self, key: str) -> Context:
        job = self.workshop.jobs.get(key)
        progress = self.workshop.jobs.progress(key)
        history = [_parse_progress(entry) for entry in progress.get("history", [])]
        fraction = job.fraction_done(progress)
        heading = gettext((HEADINGS | OTHER_HEADINGS[job.kind])[job.state])
        return {
            "section": "home",
            "title": f"{heading}: {job.spec['name']}",
            "job": job,
            "heading": heading,
            "subject": gettext(JOB_TITLES[job.kind], name=job.spec["name"]),
            "is_fit": job.kind is JobKind.FIT,
            "is_training": job.kind.is_training,
            "learning": self._learning_address(job),
            "state": str(job.state),
            "is_over": job.state.is_over,
            "percent": round(100 * fraction, 1),
            "percent_text": format_percent(fraction),
            "chart": charts.training_chart(history),
            "facts": _list_facts(job, history),
            "time_left": _describe_time_left(job, history),
            "submitted": format_time(job.submitted_at),
            "n_starts": len(job.start_steps),
            "evaluation_job": self._find_evaluation(job),
        }

    def _learning_address(self, job: Job) -> str:
        """The page that compares the candidate of a job; empty if there is none."""
        if job.kind is not JobKind.LEARN:
            return ""
        items = self.workshop.publisher.all()
        names = [item.name for item in items if item.key == job.spec["questionnaire"]]
        return f"/analyst/questionnaires/{quote(names[0])}/learning" if names else ""

    def _find_evaluation(self, job: Job) -> str:
        """The key of the job that evaluates the model this job trained; empty if there is none."""
        if not job.kind.is_training or job.state is not JobState.FINISHED:
            return ""
        for other in self.workshop.jobs.all():
            if other.kind is JobKind.EVALUATE and other.spec["model"] == job.result["model"]:
                return other.key
        return ""


def _parse_progress(entry: dict[str, Any]) -> Progress:
    return Progress(**{field.name: entry.get(field.name) for field in fields(Progress)})  # type: ignore[arg-type]


def _list_facts(job: Job, history: Sequence[Progress]) -> list[tuple[str, str]]:
    """The properties of a job, by name."""
    facts = []
    if job.kind is JobKind.FIT:
        facts.append((gettext("Target"), ", ".join(job.spec["target"])))
        facts.append((gettext("Recipe"), job.spec["recipe"]))
        share = format_percent(job.spec["held_out"])
        facts.append((gettext("Held out"), gettext("%(share)s of the rows", share=share)))
    if job.kind is JobKind.LEARN:
        facts += _list_learning_facts(job)
    if history:
        last = history[-1]
        step, max_steps = format_integer(last.step), format_integer(last.max_steps)
        steps = gettext("%(step)s of %(max_steps)s", step=step, max_steps=max_steps)
        facts.append((gettext("Steps"), steps))
        facts.append((gettext("Time"), format_duration(last.seconds)))
        if last.best is not None:
            loss = gettext("%(loss)s per entry", loss=localize(f"{-last.best:.3f}"))
            facts.append((gettext("Best validation loss"), loss))
    return facts


def _list_learning_facts(job: Job) -> list[tuple[str, str]]:
    trigger = TRIGGERS[job.spec["trigger"]]
    facts = [
        (gettext("Target"), ", ".join(job.spec["target"])),
        (gettext("Started"), gettext(trigger)),
    ]
    if job.state is JobState.FINISHED:
        rows = gettext(
            "%(rows)s, %(interviews)s of them interviews",
            rows=count_rows(job.result["rows"]),
            interviews=format_integer(job.result["interviews"]),
        )
        facts.append((gettext("Learned from"), rows))
    return facts


def _describe_time_left(job: Job, history: Sequence[Progress]) -> str:
    """The estimated time until the last step, at the present speed."""
    if job.state is not JobState.RUNNING or not history:
        return ""
    last = history[-1]
    seconds = last.seconds / max(last.step, 1) * (last.max_steps - last.step)
    return gettext(
        "At most about %(time)s left. Training stops early if it no longer improves.",
        time=format_duration(seconds),
    )
