"""The page of a questionnaire: its versions, names, address and invitations."""

import csv
import io
from collections.abc import Iterable, Sequence
from urllib.parse import quote

import segno
from fastapi import APIRouter, Request, Response

from eddi.service.analyst.accounts import access_page
from eddi.service.analyst.models.published_questionnaire import PublishedQuestionnaire, Version
from eddi.service.analyst.models.publishing import PublishingError
from eddi.service.analyst.pages.layout import Form, Layout, redirect
from eddi.service.analyst.pages.page_context import Context, format_time
from eddi.service.analyst.pages.rule_wording import describe_order, describe_stop
from eddi.service.analyst.questionnaires.raw_names import find_raw_names
from eddi.service.analyst.questionnaires.translation_form import find_missing
from eddi.service.analyst.workshop import Workshop
from eddi.service.interviews.limits.invitations import InvitationCountError
from eddi.service.web.api_keys import NO_KEY, SERVER, get_author
from eddi.service.web.languages.current import gettext
from eddi.service.web.languages.messages import describe_error
from eddi.service.web.texts import Texts
from eddi.strategy.stopping import Stop

QR_SCALE = 8  # pixels per module of a QR code
QR_TYPES = {"svg": "image/svg+xml", "png": "image/png"}


def add(routes: APIRouter, layout: Layout, workshop: Workshop) -> None:
    """Add the routes of this page."""
    pages = QuestionnairePages(layout, workshop)
    address = "/questionnaires/{name}"
    routes.add_api_route(address, pages.show, methods=["GET"])
    routes.add_api_route(f"{address}/rollback", pages.roll_back, methods=["POST"])
    routes.add_api_route(f"{address}/rename", pages.rename, methods=["POST"])
    routes.add_api_route(f"{address}/open", pages.set_open, methods=["POST"])
    routes.add_api_route(f"{address}/first-page", pages.choose_first_page, methods=["POST"])
    routes.add_api_route(f"{address}/delete", pages.confirm_delete, methods=["GET"])
    routes.add_api_route(f"{address}/delete", pages.delete, methods=["POST"])
    routes.add_api_route(f"{address}/invitations", pages.issue_invitations, methods=["POST"])
    routes.add_api_route(f"{address}/qr.{{kind}}", pages.qr_code, methods=["GET"])


class QuestionnairePages:
    """Shows questionnaires, and renames, closes, deletes and shares them."""

    def __init__(self, layout: Layout, workshop: Workshop) -> None:
        self.layout, self.workshop = layout, workshop

    def show(self, request: Request, name: str) -> Response:
        """A questionnaire with its versions, newest first."""
        return self._page(request, self.workshop.publisher.get(name))

    def roll_back(self, request: Request, name: str, form: Form) -> Response:
        """Make another version current."""
        self.layout.forms.check(request, form)
        text = form.get("version", "")
        number = int(text) if text.isascii() and text.isdecimal() and len(text) < 9 else 0
        self.workshop.roll_back(name, number, by=get_author(request))
        return _go_to(name)

    def rename(self, request: Request, name: str, form: Form) -> Response:
        """Give the questionnaire another name. If it is not valid, show the page with the error."""
        self.layout.forms.check(request, form)
        new_name = form.get("name", "").strip()
        try:
            renamed = self.workshop.publisher.rename(name, new_name, by=get_author(request))
        except PublishingError as error:
            item = self.workshop.publisher.get(name)
            return self._page(request, item, error=describe_error(error))
        return _go_to(renamed.name)

    def set_open(self, request: Request, name: str, form: Form) -> Response:
        """Unpublish the questionnaire, or let interviews begin again."""
        self.layout.forms.check(request, form)
        publisher = self.workshop.publisher
        change = publisher.reopen if form.get("open") == "yes" else publisher.close
        change(name, by=get_author(request))
        return _go_to(name)

    def choose_first_page(self, request: Request, name: str, form: Form) -> Response:
        """Show the questionnaire at the address of the server, or the list of all."""
        self.layout.forms.check(request, form)
        chosen = name if form.get("first") == "yes" else ""
        self.workshop.publisher.choose_first_page(chosen, by=get_author(request))
        return _go_to(name)

    def confirm_delete(self, request: Request, name: str) -> Response:
        """Ask whether to delete the questionnaire."""
        item = self.workshop.publisher.get(name)
        context = {
            "section": "home",
            "title": gettext("Delete %(subject)s?", subject=item.name),
            "subject": item.name,
            "text": gettext(
                "Its versions, texts and settings are permanently deleted, and its address stops working. "
                "Interviews that have begun can no longer continue. Answers stay in the store, and models "
                "stay in the workshop."
            ),
            "action": f"/analyst/questionnaires/{quote(item.name)}/delete",
            "back": f"/analyst/questionnaires/{quote(item.name)}",
        }
        return self.layout.page(request, "delete.html", context)

    def delete(self, request: Request, name: str, form: Form) -> Response:
        """Delete the questionnaire."""
        self.layout.forms.check(request, form)
        self.workshop.publisher.delete(name, by=get_author(request))
        return redirect("/analyst")

    def issue_invitations(self, request: Request, name: str, form: Form) -> Response:
        """Issue invitations, and return their links as a CSV file: they are not stored."""
        self.layout.forms.check(request, form)
        item = self.workshop.publisher.get_for_editor(name, get_author(request))
        text = form.get("count", "")
        count = int(text) if text.isascii() and text.isdecimal() and len(text) < 9 else 0
        try:
            tokens = self.workshop.invitations.issue(item.key, count, by=get_author(request))
        except InvitationCountError as error:
            return self._page(request, item, error=describe_error(error))
        address = _address(request, item.name)
        rows = [(f"{address}?invitation={token}",) for token in tokens]
        headers = {"Content-Disposition": 'attachment; filename="invitations.csv"'}
        return Response(_write_csv(("link",), rows), headers=headers, media_type="text/csv")

    def qr_code(self, request: Request, name: str, kind: str) -> Response:
        """The address of the questionnaire as a QR code."""
        item = self.workshop.publisher.get(name)
        if kind not in QR_TYPES:
            return Response("There is no such picture.", 404, media_type="text/plain")
        buffer = io.BytesIO()
        code = segno.make(_address(request, item.name), micro=False)
        code.save(buffer, kind=kind, scale=QR_SCALE, light="white")
        return Response(buffer.getvalue(), media_type=QR_TYPES[kind])

    def _page(self, request: Request, item: PublishedQuestionnaire, *, error: str = "") -> Response:
        current = item.current.number
        schema = self.workshop.catalogue.load(item).model.schema
        context = {
            "section": "home",
            "title": item.name,
            "questionnaire": questionnaire_item(item),
            "address": _address(request, item.name),
            "needs_invitation": item.settings.needs_invitation,
            "invitations": self.workshop.invitations.count(item.key),
            "is_first_page": self.workshop.publisher.first_page() == item.key,
            "untranslated": find_missing(schema, item.current.target, item.settings),
            "raw_names": find_raw_names(schema, item.current.target, Texts(item.settings)),
            "versions": [
                self._version_item(version, is_current=version.number == current)
                for version in reversed(item.versions)
            ],
            **access_page.access_context(request, self.layout, self.workshop.publisher, item),
            "error": error,
        }
        return self.layout.page(request, "questionnaire.html", context, status=422 if error else 200)

    def _version_item(self, version: Version, *, is_current: bool) -> Context:
        return {
            "number": version.number,
            "is_current": is_current,
            "model": version.model,
            "short": version.model[:8],
            "target": ", ".join(version.target),
            "when": format_time(version.published_at),
            "by": self._describe_author(version.by),
            "rules": _describe_rules(version),
        }

    def _describe_author(self, by: str) -> str:
        if by == SERVER:
            return gettext("when the server started")
        if by == NO_KEY:
            return gettext("by an analyst")
        return gettext("by %(author)s", author=self.workshop.publisher.permissions.label(by))


def questionnaire_item(questionnaire: PublishedQuestionnaire) -> Context:
    """A questionnaire in a list."""
    current = questionnaire.current
    return {
        "name": questionnaire.name,
        "title": questionnaire.settings.title,
        "is_open": questionnaire.is_open,
        "version": current.number,
        "n_versions": len(questionnaire.versions),
        "target": ", ".join(current.target),
        "model": current.model,
        "when": format_time(current.published_at),
        "rules": _describe_rules(current),
    }


def _describe_rules(version: Version) -> str:
    """When interviews of a version end, and in which order it asks, as text."""
    rules = describe_stop(Stop.from_document(version.rules))
    return gettext("%(rules)s; order: %(order)s", rules=rules, order=describe_order(version.strategy))


def _address(request: Request, name: str) -> str:
    return f"{request.base_url}q/{quote(name)}"


def _go_to(name: str) -> Response:
    return redirect(f"/analyst/questionnaires/{quote(name)}")


def _write_csv(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    text = io.StringIO(newline="")
    writer = csv.writer(text)
    writer.writerows([header, *rows])
    return text.getvalue()
