"""The page that imports outcomes from a CSV file, and reports every line that was not stored."""

from dataclasses import replace

from fastapi import APIRouter, Request, Response
from fastapi.concurrency import run_in_threadpool
from starlette.datastructures import UploadFile

from eddi.service.analyst.pages.layout import Layout
from eddi.service.analyst.questionnaires.outcome_records import OutcomeRecords
from eddi.service.analyst.workshop import Workshop
from eddi.service.interviews.outcomes.outcome_file import ImportReport, OutcomeFileError
from eddi.service.web.api_keys import get_author
from eddi.service.web.formatting import format_bytes
from eddi.service.web.languages.current import gettext, localize
from eddi.service.web.languages.messages import describe_error, translate_message
from eddi.service.web.middleware.body_limit import MAX_LARGE_FORM

N_ERRORS_SHOWN = 200


def add(routes: APIRouter, layout: Layout, workshop: Workshop) -> None:
    """Add the routes of this page."""
    pages = OutcomesPages(layout, workshop)
    address = "/questionnaires/{name}/outcomes"
    routes.add_api_route(address, pages.show, methods=["GET"])
    routes.add_api_route(address, pages.import_file, methods=["POST"])


class OutcomesPages:
    """Shows the form, and imports the file."""

    def __init__(self, layout: Layout, workshop: Workshop) -> None:
        self.layout, self.workshop = layout, workshop
        self.records = OutcomeRecords(workshop)

    def show(self, request: Request, name: str) -> Response:
        """The form that takes a file."""
        return self._page(request, name)

    async def import_file(self, request: Request, name: str) -> Response:
        """Import a file, and show what became of its lines."""
        async with request.form(max_files=1, max_fields=4) as form:
            fields = {key: value for key, value in form.items() if isinstance(value, str)}
            self.layout.forms.check(request, fields)
            file = form.get("file")
            content = await file.read() if isinstance(file, UploadFile) and file.filename else None
        return await run_in_threadpool(
            self._import, request, name, content, confirm=bool(fields.get("confirm"))
        )

    def _import(self, request: Request, name: str, content: bytes | None, *, confirm: bool) -> Response:
        try:
            if content is None:
                raise OutcomeFileError(gettext("Choose a file first."))
            report = self.records.import_file(name, content, by=get_author(request), confirm=confirm)
        except OutcomeFileError as error:
            return self._page(request, name, error=describe_error(error))
        return self._page(request, name, report=report)

    def _page(
        self, request: Request, name: str, *, report: ImportReport | None = None, error: str = ""
    ) -> Response:
        item = self.workshop.publisher.get_for_editor(name, get_author(request))
        context = {
            "section": "home",
            "title": gettext("Outcomes of %(name)s", name=item.name),
            "questionnaire_name": item.name,
            "target": ", ".join(item.current.target),
            "max_bytes": MAX_LARGE_FORM,
            "max_size": localize(format_bytes(MAX_LARGE_FORM)),
            "report": report,
            "errors": [
                replace(line, message=translate_message(line.message))
                for line in (report.errors[:N_ERRORS_SHOWN] if report else ())
            ],
            "error": error,
        }
        return self.layout.page(request, "outcomes.html", context, status=422 if error else 200)
