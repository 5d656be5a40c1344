"""The dashboard of a questionnaire.

Its cost is bounded. Counts of interviews and versions are exact; they need two events per interview. All
other figures come from at most `MAX_PEOPLE` random interviews, and calibration from at most as many with an
outcome.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from urllib.parse import urlencode

from fastapi import APIRouter, Request, Response

from eddi.service.analyst.dashboard import dashboard_context
from eddi.service.analyst.dashboard.answer_distributions import compare_answers
from eddi.service.analyst.dashboard.interview_summary import Summary, summarize
from eddi.service.analyst.dashboard.outcome_calibration import check_outcomes, find_known
from eddi.service.analyst.dashboard.version_history import list_changes
from eddi.service.analyst.models.published_questionnaire import PublishedQuestionnaire, Version
from eddi.service.analyst.models.publishing import PREFIX as QUESTIONNAIRE_PREFIX
from eddi.service.analyst.pages.layout import Layout
from eddi.service.analyst.pages.page_context import Context
from eddi.service.analyst.questionnaires.answers_page import read_filters
from eddi.service.analyst.questionnaires.collected_answers import (
    Filters,
    InterviewEntry,
    Person,
    list_interviews,
    read_people,
    sample,
)
from eddi.service.analyst.workshop import Workshop
from eddi.service.interviews.interview_service import InterviewService
from eddi.service.interviews.questionnaire import Questionnaire
from eddi.service.web.api_keys import get_author
from eddi.service.web.languages.current import format_integer, gettext
from eddi.service.web.texts import Texts

MAX_PEOPLE = 2000  # whose answers are read; a share is then known to two percentage points
MAX_COMPARED = 500  # people whose answers are compared with predictions
MAX_QUESTIONS_COMPARED = 40  # most often asked first


def add(routes: APIRouter, layout: Layout, workshop: Workshop, service: InterviewService) -> None:
    """Add the route of this page."""
    page = DashboardPage(layout, workshop, service)
    routes.add_api_route("/questionnaires/{name}/dashboard", page.show, methods=["GET"])


@dataclass(frozen=True)
class _Data:
    """What the dashboard shows.

    Args:
        item: the questionnaire.
        filters: which interviews.
        entries: all of them.
        people: a random sample with answers.
        version: whose model is compared with answers and outcomes.
    """

    item: PublishedQuestionnaire
    filters: Filters
    entries: list[InterviewEntry]
    people: list[Person]
    version: Version

    @property
    def texts(self) -> Texts:
        return Texts(self.item.settings)


class DashboardPage:
    """Shows how interviews went, and whether the model is right about people."""

    def __init__(self, layout: Layout, workshop: Workshop, service: InterviewService) -> None:
        self.layout, self.workshop, self.service = layout, workshop, service

    def show(self, request: Request, name: str) -> Response:
        """The dashboard of a questionnaire."""
        item = self.workshop.publisher.get_for_editor(name, get_author(request))
        filters = read_filters(request)
        entries = list_interviews(self.service.store, item, filters)
        chosen = sample(entries, MAX_PEOPLE)
        people = read_people(self.service.store, chosen, only_finished=filters.only_finished)
        version = item.find(filters.version or 0) or item.current
        data = _Data(item, filters, entries, people, version)
        context = {
            "section": "home",
            "title": gettext("Dashboard of %(name)s", name=item.name),
            "questionnaire_name": item.name,
            "filters": filters,
            "versions": [other.number for other in item.versions],
            "query": urlencode({k: v for k, v in request.query_params.items() if v}),
            **self._describe(data),
        }
        return self.layout.page(request, "dashboard.html", context)

    def _describe(self, data: _Data) -> Context:
        questionnaire = self._load(data)
        history = self.service.store.read(f"{QUESTIONNAIRE_PREFIX}{data.item.key}")
        label = self.workshop.publisher.permissions.label
        changes = list_changes(history, data.entries)
        context: Context = {
            "n_sampled": min(len(data.entries), MAX_PEOPLE) if len(data.entries) > MAX_PEOPLE else 0,
            "has_interviews": bool(data.entries),
            "n_interviews": format_integer(len(data.entries)),
            "model_version": data.version.number,
            "history": dashboard_context.describe_changes(changes, data.item, label),
            "is_model_available": questionnaire is not None,
        }
        if questionnaire is None:
            return context
        schema = questionnaire.model.schema
        summary = summarize(data.people, schema, data.version.target)
        return {
            **context,
            "facts": dashboard_context.describe_summary(summary, n_started=len(data.entries)),
            "drop_off": dashboard_context.describe_drop_off(summary),
            "questions": self._describe_questions(data, summary, questionnaire),
            "calibrations": self._describe_calibration(data, questionnaire),
        }

    def _load(self, data: _Data) -> Questionnaire | None:
        """The version whose model is compared; None if the model is not available any more."""
        version = data.version
        return self.workshop.catalogue.find(data.item.name, version.number, version.model)

    def _describe_questions(
        self, data: _Data, summary: Summary, questionnaire: Questionnaire
    ) -> list[Context]:
        own = _people_of_model(data.entries, data.version)
        people = [person for person in data.people if person.record.key in own][:MAX_COMPARED]
        asked = [question.name for question in summary.questions][:MAX_QUESTIONS_COMPARED]
        distributions = compare_answers(questionnaire.model, people, asked)
        return dashboard_context.describe_questions(
            summary, distributions, questionnaire.model.schema, data.texts
        )

    def _describe_calibration(self, data: _Data, questionnaire: Questionnaire) -> list[Context]:
        own = _people_of_model(data.entries, data.version)
        with_outcome = [entry for entry in data.entries if entry.has_outcome and entry.key in own]
        sampled = sample(with_outcome, MAX_PEOPLE)
        keys = {entry.key for entry in sampled}
        others = [p for p in data.people if p.record.key in own and p.record.key not in keys]
        people = [*read_people(self.service.store, sampled), *others]
        return [
            dashboard_context.describe_calibration(
                questionnaire.model.schema[target],
                check_outcomes(questionnaire.model, people, target),
                n_known=len(find_known(questionnaire.model, people, target)),
                texts=data.texts,
            )
            for target in data.version.target
        ]


def _people_of_model(entries: Sequence[InterviewEntry], version: Version) -> set[str]:
    """The keys of the interviews that were held with the model of a version."""
    return {entry.key for entry in entries if entry.model == version.model}
