"""The page of the answers to a questionnaire: how interviews went, files, and the deletion of a person."""

import tempfile
from datetime import date
from pathlib import Path
from urllib.parse import quote, urlencode

import pyarrow as pa
from fastapi import APIRouter, Request, Response

from eddi.service.analyst.pages.layout import Form, Layout, redirect
from eddi.service.analyst.pages.page_context import Context, format_duration, format_time
from eddi.service.analyst.questionnaires.collected_answers import (
    Filters,
    Person,
    Summary,
    collect,
    find_person,
    make_codebook,
    make_table,
    summarize,
)
from eddi.service.analyst.workshop import Workshop
from eddi.service.interviews.interview_service import InterviewService
from eddi.service.interviews.outcomes.outcome import Outcome
from eddi.service.web.api_keys import get_author
from eddi.service.web.formatting import format_probability, format_value
from eddi.service.web.texts import Texts
from eddi.table import formats
from eddi.table.schema import Schema

MEDIA_TYPES = {"csv": "text/csv; charset=utf-8", "parquet": "application/vnd.apache.parquet"}
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
        """How the interviews of a questionnaire went."""
        item = self.workshop.publisher.get_for_editor(name, get_author(request))
        schema, filters = self._schema(name), _read_filters(request)
        people = collect(self.service.store, item, filters)
        summary = summarize(people, schema, item.current.target)
        context = {
            "section": "home",
            "title": f"Answers to {item.name}",
            "questionnaire_name": item.name,
            "filters": filters,
            "versions": [version.number for version in item.versions],
            "query": urlencode({k: v for k, v in request.query_params.items() if v}),
            "facts": _describe_summary(summary),
            "drop_off": summary.drop_off,
            "questions": _describe_questions(summary, schema, Texts(item.settings)),
            "people": [_person_item(person) for person in reversed(people[-N_PEOPLE_SHOWN:])],
            "n_hidden": max(0, len(people) - N_PEOPLE_SHOWN),
        }
        return self.layout.page(request, "answers.html", context)

    def download(self, request: Request, name: str, kind: str) -> Response:
        """One row per person, without secret links."""
        item = self.workshop.publisher.get_for_editor(name, get_author(request))
        people = collect(self.service.store, item, _read_filters(request))
        if kind in MEDIA_TYPES:
            facts = {"file": f"answers.{kind}", "people": len(people)}
            self.workshop.activity.record(item.key, "exported", facts, by=get_author(request))
        return _make_file(make_table(people, self._schema(name)), "answers", kind)

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


def _read_filters(request: Request) -> Filters:
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


def _describe_summary(summary: Summary) -> list[tuple[str, str]]:
    facts = [("Started", f"{summary.n_started:,}"), ("Finished", f"{summary.n_finished:,}")]
    if summary.mean_answers is not None and summary.saved_share is not None:
        facts += [
            ("Answers per finished interview", f"{summary.mean_answers:.1f} on average"),
            (
                "Saved compared with asking everything",
                f"{format_probability(summary.saved_share)} of {summary.n_questions} questions",
            ),
        ]
    return facts


def _describe_questions(summary: Summary, schema: Schema, texts: Texts) -> list[Context]:
    titles = {question.name: texts.question(question) for question in schema.questions}
    return [
        {
            "title": titles.get(item.name, item.name),
            "n_answered": item.n_answered,
            "n_unknown": item.n_unknown,
            "n_declined": item.n_declined,
            "time": "" if item.median_seconds is None else format_duration(item.median_seconds),
        }
        for item in summary.questions
    ]


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
    headers = {"Content-Disposition": f'attachment; filename="{name}.{kind}"'}
    return Response(content, headers=headers, media_type=MEDIA_TYPES[kind])
