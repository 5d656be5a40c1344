"""The page that shows and corrects the schema of a table: one row of fields per column."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import Any

from fastapi import APIRouter, Request, Response
from fastapi.concurrency import run_in_threadpool
from fastapi.responses import PlainTextResponse
from starlette.datastructures import UploadFile

from eddi.errors import SchemaError, TableError
from eddi.service.analyst.data import schema_drafts
from eddi.service.analyst.data.data_warnings import find_warnings, group_by_column, translate_warnings
from eddi.service.analyst.data.schema_drafts import Draft, DraftError, DraftRow, Errors
from eddi.service.analyst.data.tables import UploadedTable
from eddi.service.analyst.pages.layout import Form, Layout, redirect
from eddi.service.analyst.pages.page_context import KINDS, Context, count_rows
from eddi.service.analyst.workshop import Workshop
from eddi.service.web.api_keys import get_author
from eddi.service.web.formatting import capitalize
from eddi.service.web.languages.current import format_integer, format_percent, gettext, localize
from eddi.service.web.languages.messages import translate_message
from eddi.table.checks.training_table import DataWarning
from eddi.table.schema import Schema
from eddi.table.variable import Kind

COLUMNS_PER_PAGE = 100
MIN_MISSING_SHOWN = 0.005  # share of missing cells that is mentioned


def add(routes: APIRouter, layout: Layout, workshop: Workshop) -> None:
    """Add the routes of this page."""
    pages = SchemaPages(layout, workshop)
    routes.add_api_route("/tables/{key}/schema", pages.show, methods=["GET"])
    routes.add_api_route("/tables/{key}/schema", pages.save, methods=["POST"])
    routes.add_api_route("/tables/{key}/schema.toml", pages.download, methods=["GET"])
    routes.add_api_route("/tables/{key}/toml", pages.save_toml, methods=["POST"])
    routes.add_api_route("/tables/{key}/codebook", pages.use_codebook, methods=["POST"])


class SchemaPages:
    """Shows and saves the schema of a table."""

    def __init__(self, layout: Layout, workshop: Workshop) -> None:
        self.layout, self.workshop = layout, workshop

    def show(self, request: Request, key: str) -> Response:
        """The schema as a form."""
        table = self.workshop.tables.get(key)
        page = _parse_number(request.query_params.get("page", ""))
        is_saved = request.query_params.get("saved") == "1"
        draft = schema_drafts.make_draft(table)
        return self._schema_page(request, table, draft, {}, page=page, is_saved=is_saved)

    def save(self, request: Request, key: str, form: Form) -> Response:
        """Save the form. If a field is not valid, show it again with the errors."""
        self.layout.forms.check(request, form)
        table = self.workshop.tables.get(key)
        draft = schema_drafts.apply_form(schema_drafts.make_draft(table), form)
        page = _parse_number(form.get("page", ""))
        try:
            schema = schema_drafts.parse_draft(table, draft, self.workshop.tables.rows(table.digest))
        except DraftError as error:
            return self._schema_page(request, table, draft, error.errors, page=page)
        after = _parse_number(form.get("after", "")) or None
        self.workshop.tables.correct(key, schema, after=after, by=get_author(request))
        if form.get("then") == "fit":
            return redirect(f"/analyst/tables/{key}/fit")
        return redirect(f"/analyst/tables/{key}/schema?page={page}&saved=1")

    def download(self, key: str) -> Response:
        """The schema as a TOML file for `eddi fit --schema`."""
        table = self.workshop.tables.get(key)
        headers = {"Content-Disposition": 'attachment; filename="schema.toml"'}
        return PlainTextResponse(table.schema.to_toml(), headers=headers, media_type="application/toml")

    def save_toml(self, request: Request, key: str, form: Form) -> Response:
        """Save a schema that was edited as TOML."""
        self.layout.forms.check(request, form)
        table, toml = self.workshop.tables.get(key), form.get("toml", "")
        try:
            schema = Schema.from_toml(toml + "\n")
            self.workshop.tables.correct(key, schema, by=get_author(request))
        except (SchemaError, TableError) as error:
            draft = schema_drafts.make_draft(table)
            return self._schema_page(request, table, draft, {(0, "toml"): str(error)}, page=1, toml=toml)
        return redirect(f"/analyst/tables/{key}/schema?saved=1")

    async def use_codebook(self, request: Request, key: str) -> Response:
        """Use an uploaded codebook, and show what a schema cannot represent."""
        async with request.form(max_files=1, max_fields=4) as form:
            self.layout.forms.check(request, {k: v for k, v in form.items() if isinstance(v, str)})
            file = form.get("file")
            upload = file if isinstance(file, UploadFile) else None
            name, content = ("", b"") if upload is None else (upload.filename or "", await upload.read())
        return await run_in_threadpool(self._use_codebook, request, key, name, content)

    def _use_codebook(self, request: Request, key: str, name: str, content: bytes) -> Response:
        notes: list[str] = []
        errors: Errors = {}
        try:
            if not name:
                raise TableError("choose a file first.")
            with NamedTemporaryFile() as copy:
                copy.write(content)
                copy.flush()
                tables, by = self.workshop.tables, get_author(request)
                notes = tables.use_codebook(key, name, Path(copy.name), by=by)
        except (SchemaError, TableError) as error:
            errors = {(0, "codebook"): str(error)}
        table = self.workshop.tables.get(key)
        draft = schema_drafts.make_draft(table)
        is_saved = not errors
        return self._schema_page(
            request, table, draft, errors, page=1, is_saved=is_saved, codebook_notes=notes
        )

    def _schema_page(
        self,
        request: Request,
        table: UploadedTable,
        draft: Draft,
        errors: Errors,
        *,
        page: int,
        is_saved: bool = False,
        toml: str | None = None,
        codebook_notes: Sequence[str] = (),
    ) -> Response:
        warnings = translate_warnings(find_warnings(table, self.workshop.tables.rows(table.digest)))
        by_column = group_by_column(warnings)
        n_pages = -(-len(draft) // COLUMNS_PER_PAGE)
        page = min(max(page, 1), n_pages)
        shown = draft[(page - 1) * COLUMNS_PER_PAGE : page * COLUMNS_PER_PAGE]
        context = {
            "section": "tables",
            "title": gettext("Schema of %(title)s", title=table.title),
            "table": {
                "key": table.key,
                "title": table.title,
                "n_rows": count_rows(table.n_rows),
            },
            "version": table.version,
            "page": page,
            "n_pages": n_pages,
            "first_number": (page - 1) * COLUMNS_PER_PAGE + 1,
            "rows": [_row_item(row, table, by_column.get(row.column, []), errors) for row in shown],
            "roles": {role: gettext(text) for role, text in schema_drafts.ROLES.items()},
            "kinds": {
                str(kind): gettext(text) for kind, text in KINDS.items() if kind is not Kind.SURVIVAL
            },
            "outcomes": [v for v in table.schema.variables if v.survival is not None],
            "errors": [(number, _describe(text)) for (number, _), text in errors.items()],
            "table_warnings": [warning for warning in warnings if warning.column is None],
            "is_saved": is_saved,
            "toml": table.schema.to_toml() if toml is None else toml,
            "toml_error": _describe(errors.get((0, "toml"), "")),
            "codebook_error": _describe(errors.get((0, "codebook"), "")),
            "codebook_notes": codebook_notes,
        }
        return self.layout.page(request, "schema.html", context, status=422 if errors else 200)


def column_items(table: UploadedTable) -> list[Context]:
    """The columns of a table with their statistics, for pages that do not change them."""
    items = []
    for row in schema_drafts.make_draft(table):
        kind = gettext(KINDS[Kind(row.kind)]) if row.is_modelled else gettext("left out")
        items.append({"name": row.name, "kind": kind, **_statistics(table, table.profile(row.column))})
    return items


def _row_item(
    row: DraftRow, table: UploadedTable, warnings: list[DataWarning], errors: Errors
) -> Context:
    return {
        **vars(row),
        "warnings": warnings,
        "errors": {
            field: _describe(text) for (number, field), text in errors.items() if number == row.number
        },
        "n_levels": len([level for level in row.levels.split("\n") if level.strip()]),
        **_statistics(table, table.profile(row.column)),
    }


def _describe(message: str) -> str:
    return capitalize(translate_message(message))


def _statistics(table: UploadedTable, profile: Mapping[str, Any]) -> Context:
    missing = profile["missing"] / max(table.n_rows, 1)
    return {
        "bars": profile["bars"],
        "missing": gettext("%(share)s missing", share=format_percent(missing))
        if missing >= MIN_MISSING_SHOWN
        else "",
        "values": _describe_values(profile),
    }


def _describe_values(profile: Mapping[str, Any]) -> str:
    """The values of a column as a short text."""
    if "low" in profile:
        low, high = (localize(f"{profile[end]:.6g}") for end in ("low", "high"))
        return gettext("%(low)s to %(high)s", low=low, high=high)
    names = ", ".join(profile["examples"])
    more = profile["distinct"] - len(profile["examples"])
    if more > 0:
        return gettext("%(names)s and %(number)s more", names=names, number=format_integer(more))
    return names or gettext("no values")


def _parse_number(text: str) -> int:
    """A page or version number of a form; 1 if the text is not a number."""
    return int(text) if text.isascii() and text.isdecimal() and len(text) < 9 else 1
