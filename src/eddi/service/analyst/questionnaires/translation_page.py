"""The page that translates the texts of a questionnaire."""

from collections.abc import Mapping
from dataclasses import replace
from urllib.parse import quote

from fastapi import APIRouter, Request, Response

from eddi.service.analyst.models.published_questionnaire import PublishedQuestionnaire
from eddi.service.analyst.models.publishing import PublishingError
from eddi.service.analyst.pages.layout import Form, Layout, read_version, redirect
from eddi.service.analyst.questionnaires.translation_form import (
    TranslationRow,
    parse_translation,
    translation_rows,
)
from eddi.service.analyst.workshop import Workshop
from eddi.service.interviews.questionnaire_settings import QuestionnaireSettingsError
from eddi.service.web.api_keys import get_author
from eddi.service.web.formatting import capitalize
from eddi.service.web.languages.current import gettext
from eddi.service.web.languages.language import LANGUAGES, Language
from eddi.service.web.languages.messages import describe_error


def add(routes: APIRouter, layout: Layout, workshop: Workshop) -> None:
    """Add the routes of this page."""
    pages = TranslationPages(layout, workshop)
    address = "/questionnaires/{name}/translations/{code}"
    routes.add_api_route(address, pages.show, methods=["GET"])
    routes.add_api_route(address, pages.save, methods=["POST"])


class TranslationPages:
    """Shows and saves the texts of a questionnaire in another language."""

    def __init__(self, layout: Layout, workshop: Workshop) -> None:
        self.layout, self.workshop = layout, workshop

    def show(self, request: Request, name: str, code: str) -> Response:
        """All texts, each with a field for its translation."""
        item = self.workshop.publisher.get_for_editor(name, get_author(request))
        language = _find_language(item, code)
        is_saved = request.query_params.get("saved") == "1"
        return self._page(request, item, language, self._rows(item, language), is_saved=is_saved)

    def save(self, request: Request, name: str, code: str, form: Form) -> Response:
        """Save the translation. If a text is not valid, show the form again with the error."""
        self.layout.forms.check(request, form)
        item = self.workshop.publisher.get_for_editor(name, get_author(request))
        language = _find_language(item, code)
        rows = self._rows(item, language)
        translations = item.settings.translations
        translation = parse_translation(form, rows, translations.get(language.code, {}))
        try:
            settings = replace(item.settings, translations={**translations, language.code: translation})
            self.workshop.publisher.change_settings(
                item.name,
                settings,
                after=read_version(form),
                by=get_author(request),
            )
        except (QuestionnaireSettingsError, PublishingError) as error:
            return self._page(
                request, item, language, _keep_typed(rows, form), error=describe_error(error)
            )
        address = f"/analyst/questionnaires/{quote(item.name)}/translations/{language.code}"
        return redirect(f"{address}?saved=1")

    def _rows(self, item: PublishedQuestionnaire, language: Language) -> list[TranslationRow]:
        schema = self.workshop.catalogue.load(item).model.schema
        return translation_rows(schema, item.current.target, item.settings, code=language.code)

    def _page(
        self,
        request: Request,
        item: PublishedQuestionnaire,
        language: Language,
        rows: list[TranslationRow],
        *,
        error: str = "",
        is_saved: bool = False,
    ) -> Response:
        context = {
            "section": "home",
            "title": gettext("%(name)s in %(language)s", name=item.name, language=language.name),
            "questionnaire_name": item.name,
            "translated": language,
            "first_language": LANGUAGES[item.settings.languages[0]],
            "rows": rows,
            "n_missing": sum(row.is_missing for row in rows),
            "after": item.n_events,
            "is_saved": is_saved,
            "error": capitalize(error),
        }
        return self.layout.page(request, "translation.html", context, status=422 if error else 200)


def _find_language(item: PublishedQuestionnaire, code: str) -> Language:
    """Return a language of the questionnaire other than the first."""
    if code not in item.settings.languages[1:]:
        raise QuestionnaireSettingsError(
            f"{item.name!r} is not translated into {code[:40]!r}. Add the language in its settings first."
        )
    return LANGUAGES[code]


def _keep_typed(rows: list[TranslationRow], form: Mapping[str, str]) -> list[TranslationRow]:
    return [replace(row, text=form.get(row.field, "")) for row in rows]
