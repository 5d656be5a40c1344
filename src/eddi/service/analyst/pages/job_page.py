"""The page of a job: how far it is, its curve while it learns, and what can be done about it."""

from collections.abc import Sequence
from dataclasses import fields
from typing import Any

from fastapi import APIRouter, Request, Response

from eddi.model.training.checkpoint import Progress
from eddi.service.analyst.jobs import Job, JobKind, State
from eddi.service.analyst.pages import charts, page_context
from eddi.service.analyst.pages.layout import Form, Frame, see
from eddi.service.analyst.workshop import Workshop

Figures = list[tuple[str, str]]
HEADINGS = {
    State.WAITING: "Waiting for its turn",
    State.RUNNING: "Training",
    State.FINISHED: "Trained",
    State.FAILED: "It did not work",
    State.CANCELLED: "Cancelled",
}
MAX_LISTED = 200  # jobs, the newest
JUDGING = {State.RUNNING: "Judging", State.FINISHED: "Judged"}


def add(routes: APIRouter, frame: Frame, workshop: Workshop) -> None:
    """Add the routes of this page."""
    pages = JobPages(frame, workshop)
    routes.add_api_route("/jobs", pages.list, methods=["GET"])
    routes.add_api_route("/jobs/{key}", pages.show, methods=["GET"])
    routes.add_api_route("/jobs/{key}/now", pages.now, methods=["GET"])
    routes.add_api_route("/jobs/{key}/cancel", pages.cancel, methods=["POST"])
    routes.add_api_route("/jobs/{key}/resume", pages.resume, methods=["POST"])


class JobPages:
    """Shows a job, cancels and resumes it."""

    def __init__(self, frame: Frame, workshop: Workshop) -> None:
        self.frame, self.workshop = frame, workshop

    def list(self, request: Request) -> Response:
        jobs = self.workshop.jobs
        shown = [page_context.job_line(job, jobs.progress(job.key)) for job in jobs.all()[:MAX_LISTED]]
        return self.frame.page(request, "jobs.html", {"here": "home", "title": "Jobs", "jobs": shown})

    def show(self, request: Request, key: str) -> Response:
        return self.frame.page(request, "job.html", self._facts(key))

    def now(self, request: Request, key: str) -> Response:
        """The part of the page that changes, for a script that asks again and again."""
        return self.frame.page(request, "job_now.html", self._facts(key))

    def cancel(self, request: Request, key: str, form: Form) -> Response:
        self.frame.forms.check(request, form)
        self.workshop.cancel(key)
        return see(f"/analyst/jobs/{key}")

    def resume(self, request: Request, key: str, form: Form) -> Response:
        self.frame.forms.check(request, form)
        self.workshop.resume(key)
        return see(f"/analyst/jobs/{key}")

    def _facts(self, key: str) -> dict[str, Any]:
        job = self.workshop.jobs.get(key)
        progress = self.workshop.jobs.progress(key)
        history = [_progress(one) for one in progress.get("history", [])]
        share = page_context.share_done(job, progress)
        headings = HEADINGS | (JUDGING if job.kind is JobKind.EVALUATE else {})
        return {
            "here": "home",
            "title": f"{headings[job.state]}: {job.order['name']}",
            "job": job,
            "heading": headings[job.state],
            "is_fit": job.kind is JobKind.FIT,
            "state": str(job.state),
            "is_over": job.state.is_over,
            "share": round(100 * share, 1),
            "share_words": f"{share:.0%}",
            "chart": charts.training(history) if history else None,
            "facts": _figures(job, history),
            "left": _left(job, history),
            "asked": page_context.moment(job.at),
            "n_starts": len(job.started_at),
            "next_job": self._judging(job),
        }

    def _judging(self, job: Job) -> str:
        """The job that judges what this one made, if there is one."""
        if job.kind is not JobKind.FIT or job.state is not State.FINISHED:
            return ""
        jobs = self.workshop.jobs.all()
        judges = (one for one in jobs if one.kind is JobKind.EVALUATE)
        return next((one.key for one in judges if one.order["model"] == job.result["model"]), "")


def _progress(facts: dict[str, Any]) -> Progress:
    return Progress(**{each.name: facts.get(each.name) for each in fields(Progress)})  # type: ignore[arg-type]


def _figures(job: Job, history: Sequence[Progress]) -> Figures:
    """What is to be said of a job in figures."""
    found = [("Target", ", ".join(job.order["target"]))] if job.kind is JobKind.FIT else []
    if job.kind is JobKind.FIT:
        found.append(("Recipe", job.order["recipe"]))
        found.append(("Held out", f"{job.order['held_out']:.0%} of the rows"))
    if history:
        last = history[-1]
        found.append(("Steps", f"{last.step:,} of {last.max_steps:,}"))
        found.append(("Time", page_context.duration(last.seconds)))
        if last.best is not None:
            found.append(("Best so far", f"{-last.best:.3f} an entry"))
    return found


def _left(job: Job, history: Sequence[Progress]) -> str:
    """About how long it takes still, if it goes on as it went."""
    if job.state is not State.RUNNING or not history:
        return ""
    last = history[-1]
    seconds = last.seconds / max(last.step, 1) * (last.max_steps - last.step)
    left = page_context.duration(seconds)
    return f"About {left} left at most; it stops early when it no longer improves."
