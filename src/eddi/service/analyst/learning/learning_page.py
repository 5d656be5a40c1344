"""The page on which a questionnaire learns from its interviews: runs, candidates and triggers."""

from collections.abc import Sequence
from urllib.parse import quote

from fastapi import APIRouter, Request, Response

from eddi.errors import EddiError
from eddi.service.analyst.jobs.job_queue import JobState
from eddi.service.analyst.learning.candidate import check_learns
from eddi.service.analyst.learning.candidate_wording import describe_candidate
from eddi.service.analyst.learning.triggers import (
    TriggerError,
    Triggers,
    read_triggers,
    save_triggers,
)
from eddi.service.analyst.models.published_questionnaire import PublishedQuestionnaire
from eddi.service.analyst.pages.layout import Form, Layout, redirect
from eddi.service.analyst.pages.page_context import job_item
from eddi.service.analyst.questionnaires.collected_answers import (
    Filters,
    InterviewEntry,
    list_interviews,
)
from eddi.service.analyst.workshop import Workshop
from eddi.service.web.api_keys import get_author
from eddi.service.web.formatting import capitalize
from eddi.service.web.languages.current import format_integer, gettext

MAX_LISTED = 20  # candidates, newest first


def add(routes: APIRouter, layout: Layout, workshop: Workshop) -> None:
    """Add the routes of this page."""
    pages = LearningPages(layout, workshop)
    address = "/questionnaires/{name}/learning"
    routes.add_api_route(address, pages.show, methods=["GET"])
    routes.add_api_route(address, pages.start, methods=["POST"])
    routes.add_api_route(f"{address}/triggers", pages.save_triggers, methods=["POST"])
    routes.add_api_route(f"{address}/publish", pages.publish, methods=["POST"])


class LearningPages:
    """Starts runs, shows candidates, publishes them, and saves triggers."""

    def __init__(self, layout: Layout, workshop: Workshop) -> None:
        self.layout, self.workshop = layout, workshop
        self.learning = workshop.learning

    def show(self, request: Request, name: str) -> Response:
        """What can be learned from, the candidates, and when the next run is due."""
        item = self.workshop.publisher.get_for_editor(name, get_author(request))
        return self._page(request, item, is_saved=request.query_params.get("saved") == "1")

    def start(self, request: Request, name: str, form: Form) -> Response:
        """Start a run, and show its progress."""
        self.layout.forms.check(request, form)
        publish = form.get("publish") == "yes"
        job = self.workshop.learn(name, publish=publish, by=get_author(request))
        return redirect(f"/analyst/jobs/{job.key}")

    def publish(self, request: Request, name: str, form: Form) -> Response:
        """Publish a candidate."""
        self.layout.forms.check(request, form)
        item = self.learning.publish(name, form.get("model", "")[:64], by=get_author(request))
        return redirect(f"/analyst/questionnaires/{quote(item.name)}")

    def save_triggers(self, request: Request, name: str, form: Form) -> Response:
        """Save when runs start by themselves. If a number is not valid, show the page with the error."""
        self.layout.forms.check(request, form)
        by = get_author(request)
        item = self.workshop.publisher.get_for_editor(name, by)
        try:
            triggers = parse_triggers(form, by=by)
        except TriggerError as error:
            return self._page(request, item, error=capitalize(str(error)))
        save_triggers(self.learning.store, item.key, triggers)
        return redirect(f"/analyst/questionnaires/{quote(item.name)}/learning?saved=1")

    def _page(
        self,
        request: Request,
        item: PublishedQuestionnaire,
        *,
        error: str = "",
        is_saved: bool = False,
    ) -> Response:
        jobs = self.learning.find_jobs(item.key)
        entries = list_interviews(self.learning.store, item, Filters())
        last_run = jobs[0].submitted_at if jobs else ""
        context = {
            "section": "home",
            "title": gettext("Learning from the answers to %(name)s", name=item.name),
            "questionnaire_name": item.name,
            "obstacle": self._find_obstacle(item),
            "facts": _list_facts(entries, last_run),
            "has_interviews": bool(entries),
            "jobs": [
                job_item(job, self.workshop.jobs.progress(job.key))
                for job in jobs
                if job.state is not JobState.FINISHED
            ][:MAX_LISTED],
            "is_learning": any(not job.state.is_over for job in jobs),
            "candidates": [
                describe_candidate(candidate, is_current=candidate.digest == item.current.model)
                for candidate in self.learning.find_candidates(item)[:MAX_LISTED]
            ],
            "triggers": read_triggers(self.learning.store, item.key),
            "is_saved": is_saved,
            "error": error,
        }
        return self.layout.page(request, "learning.html", context, status=422 if error else 200)

    def _find_obstacle(self, item: PublishedQuestionnaire) -> str:
        """Why the questionnaire cannot learn; empty if it can."""
        try:
            check_learns(self.workshop.catalogue.load(item))
        except EddiError as error:
            return capitalize(str(error))
        return ""


def parse_triggers(form: Form, *, by: str) -> Triggers:
    """The triggers in a form.

    Raises:
        TriggerError: a number is not valid.
    """
    return Triggers(
        every_days=_parse_number(form.get("every_days", "")),
        after_interviews=_parse_number(form.get("after_interviews", "")),
        on_drift=form.get("on_drift") == "yes",
        publish=form.get("publish") == "yes",
        by=by,
    )


def _parse_number(text: str) -> int:
    cleaned = text.strip() or "0"
    if not (cleaned.isascii() and cleaned.isdecimal() and len(cleaned) < 9):
        raise TriggerError(
            f"{cleaned[:40]!r} is not a whole number. Leave a field empty to switch it off."
        )
    return int(cleaned)


def _list_facts(entries: Sequence[InterviewEntry], last_run: str) -> list[tuple[str, str]]:
    n_new = sum(entry.began_at > last_run for entry in entries)
    facts = [
        (gettext("Interviews"), format_integer(len(entries))),
        (gettext("With an outcome"), format_integer(sum(entry.has_outcome for entry in entries))),
    ]
    if last_run:
        facts.append((gettext("New since the last run"), format_integer(n_new)))
    return facts
