"""The page with the sections of the questions of a table."""

from collections.abc import Mapping

from fastapi import APIRouter, Request, Response

from eddi.errors import SchemaError, TableError
from eddi.service.analyst.data.section_form import (
    format_groups,
    limit_rows,
    parse_sections,
    question_rows,
    section_names,
)
from eddi.service.analyst.data.tables import UploadedTable
from eddi.service.analyst.pages.layout import Form, Layout, read_version, redirect
from eddi.service.analyst.workshop import Workshop
from eddi.service.web.api_keys import get_author
from eddi.service.web.formatting import capitalize
from eddi.service.web.languages.current import gettext


def add(routes: APIRouter, layout: Layout, workshop: Workshop) -> None:
    """Add the routes of this page."""
    pages = SectionPages(layout, workshop)
    routes.add_api_route("/tables/{key}/sections", pages.show, methods=["GET"])
    routes.add_api_route("/tables/{key}/sections", pages.save, methods=["POST"])


class SectionPages:
    """Shows and saves the sections of a schema."""

    def __init__(self, layout: Layout, workshop: Workshop) -> None:
        self.layout, self.workshop = layout, workshop

    def show(self, request: Request, key: str) -> Response:
        """The sections as a form."""
        is_saved = request.query_params.get("saved") == "1"
        return self._page(request, self.workshop.tables.get(key), {}, is_saved=is_saved)

    def save(self, request: Request, key: str, form: Form) -> Response:
        """Save the sections. If a field is not valid, show the form again with the error."""
        self.layout.forms.check(request, form)
        table = self.workshop.tables.get(key)
        try:
            schema = parse_sections(form, table.schema)
            self.workshop.tables.correct(key, schema, after=read_version(form), by=get_author(request))
        except (SchemaError, TableError) as error:
            return self._page(request, table, form, error=str(error))
        return redirect(f"/analyst/tables/{key}/sections?saved=1")

    def _page(
        self,
        request: Request,
        table: UploadedTable,
        form: Mapping[str, str],
        *,
        error: str = "",
        is_saved: bool = False,
    ) -> Response:
        context = {
            "section": "tables",
            "title": gettext("Sections of %(title)s", title=table.title),
            "table": {"key": table.key, "title": table.title},
            "questions": question_rows(table.schema, form),
            "limits": limit_rows(table.schema, form),
            "names": section_names(table.schema),
            "exclusive": form.get("exclusive", format_groups(table.schema)),
            "after": form.get("after", table.version),
            "is_saved": is_saved,
            "error": capitalize(error),
        }
        return self.layout.page(request, "sections.html", context, status=422 if error else 200)
