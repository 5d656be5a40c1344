"""The page of the answers to a questionnaire: files, people, and the deletion of a person."""

from datetime import date
from urllib.parse import quote, urlencode

from fastapi import APIRouter, Request, Response

from eddi.service.analyst.pages.layout import Form, Layout, redirect
from eddi.service.analyst.pages.page_context import Context, format_time
from eddi.service.analyst.questionnaires.answer_export import ExportFormat, export_answers, make_file
from eddi.service.analyst.questionnaires.collected_answers import (
    Filters,
    Person,
    find_person,
    list_interviews,
    make_codebook,
    read_people,
)
from eddi.service.analyst.workshop import Workshop
from eddi.service.interviews.interview_service import InterviewService
from eddi.service.interviews.outcomes.outcome import Outcome
from eddi.service.web.api_keys import get_author
from eddi.service.web.formatting import format_value
from eddi.service.web.languages.current import gettext
from eddi.service.web.texts import Texts
from eddi.table.schema import Schema

TABLE_FORMATS = (ExportFormat.CSV, ExportFormat.PARQUET)
N_PEOPLE_SHOWN = 100


def add(routes: APIRouter, layout: Layout, workshop: Workshop, service: InterviewService) -> None:
    """Add the routes of this page."""
    pages = AnswersPages(layout, workshop, service)
    address = "/questionnaires/{name}/answers"
    routes.add_api_route(address, pages.show, methods=["GET"])
    routes.add_api_route("/questionnaires/{name}/answers.{kind}", pages.download, methods=["GET"])
    routes.add_api_route("/questionnaires/{name}/codebook.{kind}", pages.codebook, methods=["GET"])
    routes.add_api_route(f"{address}/delete", pages.delete, methods=["POST"])


class AnswersPages:
    """Shows and exports answers, and deletes those of one person."""

    def __init__(self, layout: Layout, workshop: Workshop, service: InterviewService) -> None:
        self.layout, self.workshop, self.service = layout, workshop, service

    def show(self, request: Request, name: str) -> Response:
        """The files of the answers, and the newest interviews."""
        item = self.workshop.publisher.get_for_editor(name, get_author(request))
        filters = read_filters(request)
        entries = list_interviews(self.service.store, item, filters)
        newest = entries[-N_PEOPLE_SHOWN:]
        people = read_people(self.service.store, newest, only_finished=filters.only_finished)
        context = {
            "section": "home",
            "title": gettext("Answers to %(name)s", name=item.name),
            "questionnaire_name": item.name,
            "filters": filters,
            "versions": [version.number for version in item.versions],
            "query": urlencode({k: v for k, v in request.query_params.items() if v}),
            "n_started": len(entries),
            "n_outcomes": sum(entry.has_outcome for entry in entries),
            "people": [_person_item(person) for person in reversed(people)],
            "n_hidden": max(0, len(entries) - N_PEOPLE_SHOWN),
        }
        return self.layout.page(request, "answers.html", context)

    def download(self, request: Request, name: str, kind: str) -> Response:
        """One row per person, without secret links."""
        item = self.workshop.publisher.get_for_editor(name, get_author(request))
        if kind not in tuple(ExportFormat):
            return _no_such_file()
        return export_answers(
            self.workshop,
            item,
            ExportFormat(kind),
            filters=read_filters(request),
            by=get_author(request),
        )

    def codebook(self, name: str, kind: str) -> Response:
        """What the columns and levels mean."""
        item = self.workshop.publisher.get(name)
        if kind not in TABLE_FORMATS:
            return _no_such_file()
        return make_file(make_codebook(self._schema(name), Texts(item.settings)), "codebook", kind)

    def delete(self, request: Request, name: str, form: Form) -> Response:
        """Delete all answers of one person permanently."""
        self.layout.forms.check(request, form)
        person, by = form.get("person", ""), get_author(request)
        item = self.workshop.publisher.get_for_editor(name, by)
        key, _ = find_person(self.service.store, item, person)
        self.service.forget(key, by=by)
        self.workshop.activity.record(item.key, "person-deleted", {}, by=by)
        return redirect(f"/analyst/questionnaires/{quote(item.name)}/answers")

    def _schema(self, name: str) -> Schema:
        return self.workshop.catalogue.load(self.workshop.publisher.get(name)).model.schema


def read_filters(request: Request) -> Filters:
    """The filters in the address of a page."""
    query = request.query_params
    version = query.get("version", "")
    return Filters(
        version=int(version) if version.isascii() and version.isdecimal() and len(version) < 9 else None,
        since=_read_date(query.get("since", "")),
        until=_read_date(query.get("until", "")),
        only_finished=bool(query.get("finished")),
    )


def _read_date(text: str) -> str:
    try:
        return date.fromisoformat(text).isoformat()
    except ValueError:
        return ""


def _person_item(person: Person) -> Context:
    return {
        "name": person.name,
        "when": format_time(person.began_at),
        "n_answers": person.record.n_answered,
        "is_finished": person.is_finished,
        "version": person.version,
        "outcome": "" if person.outcome is None else _describe_outcome(person.outcome),
    }


def _describe_outcome(outcome: Outcome) -> str:
    return ", ".join(format_value(value) for value in outcome.values.values())


def _no_such_file() -> Response:
    return Response("There is no such file.", 404, media_type="text/plain")
