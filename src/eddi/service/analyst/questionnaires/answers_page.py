"""The page of the answers to a questionnaire: files, people, and the deletion of a person."""

import tempfile
from datetime import date
from pathlib import Path
from urllib.parse import quote, urlencode

import pyarrow as pa
from fastapi import APIRouter, Request, Response

from eddi.interview.exports.answer_file import write_answers
from eddi.interview.exports.answer_format import AnswerFormat
from eddi.service.analyst.pages.layout import Form, Layout, redirect
from eddi.service.analyst.pages.page_context import Context, format_time
from eddi.service.analyst.questionnaires.collected_answers import (
    Filters,
    Person,
    collect,
    find_person,
    list_interviews,
    make_codebook,
    make_table,
    read_people,
)
from eddi.service.analyst.workshop import Workshop
from eddi.service.interviews.interview_service import InterviewService
from eddi.service.interviews.outcomes.outcome import Outcome
from eddi.service.web.api_keys import get_author
from eddi.service.web.formatting import format_value
from eddi.service.web.languages.current import gettext
from eddi.service.web.texts import Texts
from eddi.table import formats
from eddi.table.schema import Schema

MEDIA_TYPES = {"csv": "text/csv; charset=utf-8", "parquet": "application/vnd.apache.parquet"}
EXPORT_TYPES = {"csv": MEDIA_TYPES["csv"], "json": "application/fhir+json"}
EXPORTS = {f"{item}.{item.extension}": item for item in AnswerFormat}  # such as redcap.csv
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
        people = collect(self.service.store, item, read_filters(request))
        if kind in MEDIA_TYPES or kind in EXPORTS:
            facts = {"file": f"answers.{kind}", "people": len(people)}
            self.workshop.activity.record(item.key, "exported", facts, by=get_author(request))
        schema = self._schema(name)
        if kind in EXPORTS:
            text = write_answers(people, schema, EXPORTS[kind], questionnaire=item.name)
            return _make_attachment(
                text.encode(), f"answers.{kind}", EXPORT_TYPES[EXPORTS[kind].extension]
            )
        return _make_file(make_table(people, schema), "answers", kind)

    def codebook(self, name: str, kind: str) -> Response:
        """What the columns and levels mean."""
        item = self.workshop.publisher.get(name)
        return _make_file(make_codebook(self._schema(name), Texts(item.settings)), "codebook", kind)

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


def _make_file(table: pa.Table, name: str, kind: str) -> Response:
    if kind not in MEDIA_TYPES:
        return Response("There is no such file.", 404, media_type="text/plain")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"{name}.{kind}"
        formats.write(table, path)
        content = path.read_bytes()
    return _make_attachment(content, f"{name}.{kind}", MEDIA_TYPES[kind])


def _make_attachment(content: bytes, name: str, media_type: str) -> Response:
    headers = {"Content-Disposition": f'attachment; filename="{name}"'}
    return Response(content, headers=headers, media_type=media_type)
