"""The pages that edit the settings of a questionnaire, and show it as respondents see it."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from fastapi import APIRouter, Request, Response
from fastapi.concurrency import run_in_threadpool
from starlette.datastructures import UploadFile

from eddi.errors import SchemaError
from eddi.service.analyst.models.published_questionnaire import PublishedQuestionnaire
from eddi.service.analyst.models.publishing import PublishingError
from eddi.service.analyst.pages.layout import Form, Layout, redirect
from eddi.service.analyst.pages.page_context import Context
from eddi.service.analyst.questionnaires.raw_names import asked_questions, find_raw_names
from eddi.service.analyst.questionnaires.settings_form import (
    closing_rows,
    parse_settings,
    question_rows,
    target_rows,
)
from eddi.service.analyst.questionnaires.translation_form import find_missing
from eddi.service.analyst.workshop import Workshop
from eddi.service.interviews.questionnaire_settings import (
    QuestionnaireSettings,
    QuestionnaireSettingsError,
)
from eddi.service.web import page_context
from eddi.service.web.answer_form import FormField, build_fields
from eddi.service.web.api_keys import get_author
from eddi.service.web.languages.choice import switch_links
from eddi.service.web.languages.current import current_language, gettext
from eddi.service.web.languages.language import LANGUAGES
from eddi.service.web.languages.messages import describe_error
from eddi.service.web.respondent.theme import MAX_LOGO_BYTES, find_logo_type
from eddi.service.web.texts import EVERY_RESULT, Texts
from eddi.table.schema import Schema

DEFAULT_COLOUR = "#0b6b60"
N_QUESTIONS_SHOWN = 100  # in the preview of a long questionnaire

TEXT_LANGUAGE = "texts"  # parameter of the address of the preview


def add(routes: APIRouter, layout: Layout, workshop: Workshop) -> None:
    """Add the routes of these pages."""
    pages = SettingsPages(layout, workshop)
    address = "/questionnaires/{name}"
    routes.add_api_route(f"{address}/settings", pages.show, methods=["GET"])
    routes.add_api_route(f"{address}/settings", pages.save, methods=["POST"])
    routes.add_api_route(f"{address}/logo", pages.save_logo, methods=["POST"])
    routes.add_api_route(f"{address}/preview", pages.preview, methods=["GET"])


class SettingsPages:
    """Shows, saves and previews the settings of a questionnaire."""

    def __init__(self, layout: Layout, workshop: Workshop) -> None:
        self.layout, self.workshop = layout, workshop

    def show(self, request: Request, name: str) -> Response:
        """The settings as a form."""
        item = self.workshop.publisher.get_for_editor(name, get_author(request))
        is_saved = request.query_params.get("saved") == "1"
        return self._form_page(request, item, item.settings, is_saved=is_saved)

    def save(self, request: Request, name: str, form: Form) -> Response:
        """Save the settings. If a field is not valid, show the form again with the error."""
        self.layout.forms.check(request, form)
        item = self.workshop.publisher.get(name)
        schema = self._schema(item)
        try:
            settings = parse_settings(form, schema, item.current.target, previous=item.settings)
            after = _parse_number(form.get("after", ""))
            self.workshop.publisher.change_settings(
                item.name, settings, after=after, by=get_author(request)
            )
        except (QuestionnaireSettingsError, SchemaError, PublishingError) as error:
            typed = _keep_valid(form, schema, item)
            return self._form_page(request, item, typed, form=form, error=describe_error(error))
        page = "preview" if form.get("then") == "preview" else "settings?saved=1"
        return redirect(f"/analyst/questionnaires/{item.name}/{page}")

    async def save_logo(self, request: Request, name: str) -> Response:
        """Store an uploaded logo, or remove it."""
        async with request.form(max_files=1, max_fields=4) as form:
            fields = {key: value for key, value in form.items() if isinstance(value, str)}
            self.layout.forms.check(request, fields)
            file = form.get("logo")
            content = await file.read(MAX_LOGO_BYTES + 1) if isinstance(file, UploadFile) else b""
        return await run_in_threadpool(self._save_logo, request, name, content)

    def preview(self, request: Request, name: str) -> Response:
        """The start page, all questions and the end, as respondents read them."""
        item = self.workshop.publisher.get(name)
        schema, target = self._schema(item), item.current.target
        code = _choose_text_language(request, item.settings.languages)
        settings = item.settings.in_language(code, schema)
        texts = Texts(settings)
        questions = asked_questions(schema, target)
        about = texts.join_names(schema[part] for part in target)
        context = {
            **_design(item.settings),
            "section": "home",
            "title": gettext("Preview of %(name)s", name=item.name),
            "questionnaire_name": item.name,
            "heading": settings.title
            or texts.language.gettext("A few questions about %(about)s", about=about),
            "introduction": page_context.paragraphs(settings.introduction),
            "consent": page_context.paragraphs(settings.consent),
            "contact": settings.contact,
            "questions": [
                {
                    "title": texts.question(question),
                    "note": texts.note(question),
                    "is_single": len(question.reveals) == 1 or bool(schema.options(question)),
                    "fields": _number_fields(number, build_fields(question, schema, texts=texts)),
                }
                for number, question in enumerate(questions[:N_QUESTIONS_SHOWN])
            ],
            "n_hidden": max(0, len(questions) - N_QUESTIONS_SHOWN),
            "safety": _list_safety(schema, texts),
            "closing": _list_closing(schema, target[0], texts),
            "text_languages": switch_links(
                request,
                item.settings.languages,
                current=texts.language.code,
                page=request.url.path,
                parameter=TEXT_LANGUAGE,
            ),
            "preview_language": texts.language.code,
            "untranslated": find_missing(schema, target, item.settings),
            "raw_names": find_raw_names(schema, target, texts),
        }
        return self.layout.page(request, "preview.html", context)

    def _save_logo(self, request: Request, name: str, content: bytes) -> Response:
        item = self.workshop.publisher.get_for_editor(name, get_author(request))
        if len(content) > MAX_LOGO_BYTES or (content and find_logo_type(content) is None):
            error = gettext(
                "The logo must be a PNG, JPEG, GIF or WebP picture of up to %(size)s kB.",
                size=MAX_LOGO_BYTES // 1000,
            )
            return self._form_page(request, item, item.settings, error=error)
        digest = self.workshop.blobs.put(content) if content else ""
        settings = replace(item.settings, logo=digest)
        self.workshop.publisher.change_settings(item.name, settings, by=get_author(request))
        return redirect(f"/analyst/questionnaires/{item.name}/settings?saved=1")

    def _form_page(
        self,
        request: Request,
        item: PublishedQuestionnaire,
        settings: QuestionnaireSettings,
        *,
        form: Mapping[str, str] | None = None,
        error: str = "",
        is_saved: bool = False,
    ) -> Response:
        schema = self._schema(item).in_language(settings.languages[0])
        target, typed = item.current.target, form or {}
        context = {
            "section": "home",
            "title": gettext("Settings of %(name)s", name=item.name),
            "questionnaire_name": item.name,
            "after": typed.get("after", item.n_events),
            "settings": settings,
            "typed": typed,
            "default_colour": DEFAULT_COLOUR,
            "max_respondents": settings.max_respondents or "",
            "embed_on": "\n".join(settings.embed_on),
            "logo_address": f"/logo/{settings.logo}" if settings.logo else "",
            "targets": target_rows(schema, target, settings),
            "questions": question_rows(schema, target, settings),
            "closing_all": settings.closing.get(EVERY_RESULT, ""),
            "closing_rows": closing_rows(schema[target[0]], settings),
            "raw_names": find_raw_names(schema, target, Texts(settings)),
            "all_languages": list(LANGUAGES.values()),
            "untranslated": find_missing(schema, target, settings),
            "is_saved": is_saved,
            "error": error,
        }
        return self.layout.page(request, "settings.html", context, status=422 if error else 200)

    def _schema(self, item: PublishedQuestionnaire) -> Schema:
        return self.workshop.catalogue.load(item).model.schema


def _keep_valid(
    form: Mapping[str, str], schema: Schema, item: PublishedQuestionnaire
) -> QuestionnaireSettings:
    """The settings of a form with one field that is not valid, without the fields that may be it."""
    for dropped in ((), ("colour",), ("closes_on",), ("redirect",), ("embed_on",), ("max_respondents",)):
        partial = {name: text for name, text in form.items() if name not in dropped}
        try:
            return parse_settings(partial, schema, item.current.target, previous=item.settings)
        except (QuestionnaireSettingsError, SchemaError):
            continue
    return item.settings


def _choose_text_language(request: Request, offered: Sequence[str]) -> str:
    """The language of the texts in the preview: the chosen one, that of the page, or the first."""
    chosen = (request.query_params.get(TEXT_LANGUAGE, ""), current_language().code)
    return next((code for code in chosen if code in offered), offered[0])


def _design(settings: QuestionnaireSettings) -> Context:
    colour = settings.colour.removeprefix("#")
    return {"theme": f"/theme/{colour}.css" if colour else ""}


def _number_fields(number: int, fields: list[FormField]) -> list[FormField]:
    """Give the fields of each question their own names, since a page shows many."""
    return [replace(field, key=f"q{number}-{field.key}") for field in fields]


def _list_safety(schema: Schema, texts: Texts) -> list[tuple[str, str]]:
    """The safety texts with the answers that they follow."""
    found = []
    for name, by_level in texts.settings.safety.items():
        if name in schema.names:
            title = texts.title(schema[name])
            found += [(f"{title}: {level}", text) for level, text in by_level.items()]
    return found


def _list_closing(schema: Schema, target: str, texts: Texts) -> list[tuple[str, str]]:
    """The closing texts with the results that they follow."""
    variable = schema[target]
    levels = {str(level): texts.level(variable, level) for level in variable.levels}
    return [
        (gettext("Every result") if key == EVERY_RESULT else levels.get(key, key), text)
        for key, text in texts.settings.closing.items()
    ]


def _parse_number(text: str) -> int | None:
    return int(text) if text.isascii() and text.isdecimal() and len(text) < 9 else None
