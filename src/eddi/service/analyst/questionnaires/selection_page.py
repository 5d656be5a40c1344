"""The page with the constraints on the choice of questions, and how often each question was asked."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from urllib.parse import quote

from fastapi import APIRouter, Request, Response

from eddi.service.analyst.models.published_questionnaire import PublishedQuestionnaire
from eddi.service.analyst.models.publishing import PublishingError
from eddi.service.analyst.pages.layout import Form, Layout, read_version, redirect
from eddi.service.analyst.questionnaires.raw_names import asked_questions
from eddi.service.analyst.workshop import Workshop
from eddi.service.interviews.limits.exposure_counts import ExposureTracker, QuestionCounts
from eddi.service.interviews.questionnaire_settings import (
    MAX_BEST,
    QuestionnaireSettings,
    QuestionnaireSettingsError,
)
from eddi.service.web.api_keys import get_author
from eddi.service.web.formatting import capitalize
from eddi.service.web.languages.current import format_integer, format_percent, gettext
from eddi.service.web.texts import Texts
from eddi.table.schema import Schema


@dataclass(frozen=True)
class ShareRow:
    """The field of the share of one section, in percent."""

    name: str
    field: str
    text: str
    placeholder: str


def add(routes: APIRouter, layout: Layout, workshop: Workshop) -> None:
    """Add the routes of this page."""
    pages = SelectionPages(layout, workshop)
    address = "/questionnaires/{name}/selection"
    routes.add_api_route(address, pages.show, methods=["GET"])
    routes.add_api_route(address, pages.save, methods=["POST"])


class SelectionPages:
    """Shows and saves the constraints on the choice of questions."""

    def __init__(self, layout: Layout, workshop: Workshop) -> None:
        self.layout, self.workshop = layout, workshop
        self.exposure = ExposureTracker(workshop.publisher.store)

    def show(self, request: Request, name: str) -> Response:
        """The constraints as a form."""
        item = self.workshop.publisher.get_for_editor(name, get_author(request))
        is_saved = request.query_params.get("saved") == "1"
        return self._page(request, item, {}, is_saved=is_saved)

    def save(self, request: Request, name: str, form: Form) -> Response:
        """Save the constraints. If a field is not valid, show the form again with the error."""
        self.layout.forms.check(request, form)
        item = self.workshop.publisher.get_for_editor(name, get_author(request))
        try:
            settings = parse_selection(form, self._schema(item), item.settings)
            self.workshop.publisher.change_settings(
                item.name,
                settings,
                after=read_version(form),
                by=get_author(request),
            )
        except (QuestionnaireSettingsError, PublishingError) as error:
            return self._page(request, item, form, error=str(error))
        return redirect(f"/analyst/questionnaires/{quote(item.name)}/selection?saved=1")

    def _page(
        self,
        request: Request,
        item: PublishedQuestionnaire,
        form: Mapping[str, str],
        *,
        error: str = "",
        is_saved: bool = False,
    ) -> Response:
        settings, schema = item.settings, self._schema(item)
        counts = self.exposure.read(item.key)
        context = {
            "section": "home",
            "title": gettext("Choice of questions of %(name)s", name=item.name),
            "questionnaire_name": item.name,
            "n_best": form.get("n_best", settings.n_best or ""),
            "max_best": MAX_BEST,
            "max_exposure": form.get("max_exposure", _to_percent(settings.max_exposure)),
            "shares": share_rows(schema, settings, form),
            "n_respondents": format_integer(counts.n_respondents),
            "rates": _list_rates(schema, item, counts),
            "after": form.get("after", item.n_events),
            "is_saved": is_saved,
            "error": capitalize(error),
        }
        return self.layout.page(request, "selection.html", context, status=422 if error else 200)

    def _schema(self, item: PublishedQuestionnaire) -> Schema:
        return self.workshop.catalogue.load(item).model.schema


def share_rows(
    schema: Schema, settings: QuestionnaireSettings, form: Mapping[str, str]
) -> list[ShareRow]:
    """Return the fields of the sections; a share of the schema is the placeholder."""
    of_schema = {section.name: section.share or 0.0 for section in schema.sections}
    return [
        ShareRow(
            name,
            f"share-{number}",
            form.get(f"share-{number}", _to_percent(settings.section_shares.get(name, 0.0))),
            _to_percent(of_schema.get(name, 0.0)),
        )
        for number, name in enumerate(list_sections(schema))
    ]


def list_sections(schema: Schema) -> list[str]:
    """Return the sections of a schema, in the order of its questions."""
    return list(dict.fromkeys(question.section for question in schema.questions if question.section))


def parse_selection(
    form: Mapping[str, str], schema: Schema, previous: QuestionnaireSettings
) -> QuestionnaireSettings:
    """Return the settings with the constraints of a form; shares of unknown sections stay.

    Raises:
        QuestionnaireSettingsError: a field is not valid.
    """
    names = list_sections(schema)
    shares = {name: share for name, share in previous.section_shares.items() if name not in names}
    for number, name in enumerate(names):
        share = _parse_percent(form.get(f"share-{number}", ""))
        shares |= {name: share} if share else {}
    return replace(
        previous,
        n_best=_parse_count(form.get("n_best", "")),
        max_exposure=_parse_percent(form.get("max_exposure", "")),
        section_shares=shares,
    )


def _list_rates(
    schema: Schema, item: PublishedQuestionnaire, counts: QuestionCounts
) -> list[tuple[str, str, float]]:
    """Text, share in percent and share of each question, the most frequent first."""
    if not counts.n_respondents:
        return []
    questions = asked_questions(schema, item.current.target)
    texts = Texts(item.settings)
    rates = [(texts.question(question), counts.rate(question.name)) for question in questions]
    rates.sort(key=lambda entry: -entry[1])
    return [(text, format_percent(rate), rate) for text, rate in rates]


def _parse_percent(text: str) -> float:
    digits = text.strip().removesuffix("%").strip().replace(",", ".")
    if not digits:
        return 0.0
    try:
        number = float(digits) if len(digits) < 12 else -1.0
    except ValueError:
        number = -1.0
    if not 0 <= number <= 100:
        raise QuestionnaireSettingsError(
            gettext("A share is a number from 0 to 100 percent, got “%(text)s”.", text=text[:40])
        )
    return round(number / 100, 6)


def _parse_count(text: str) -> int:
    digits = text.strip()
    if not digits:
        return 0
    if not (digits.isascii() and digits.isdecimal() and int(digits[:6]) <= MAX_BEST):
        raise QuestionnaireSettingsError(
            gettext(
                "The number of best questions is a whole number from 1 to %(maximum)s, got “%(text)s”.",
                maximum=MAX_BEST,
                text=text[:40],
            )
        )
    return int(digits)


def _to_percent(share: float) -> str:
    return f"{100 * share:.4g}" if share else ""
