"""The page on which a schema is corrected: a grid of a line a column, some columns a page."""

from collections.abc import Mapping
from typing import Any

from fastapi import APIRouter, Request, Response
from fastapi.responses import PlainTextResponse

from eddi.errors import SchemaError, TableError
from eddi.service.analyst import schema_drafts
from eddi.service.analyst.data_warnings import Caution, by_column, cautions
from eddi.service.analyst.pages import page_context
from eddi.service.analyst.pages.layout import Form, Frame, see, sentence
from eddi.service.analyst.schema_drafts import DraftError, Faults, Line
from eddi.service.analyst.tables import KeptTable
from eddi.service.analyst.workshop import Workshop
from eddi.table.schema import Schema
from eddi.table.variable import Kind

COLUMNS_A_PAGE = 100
KINDS = {
    Kind.REAL: "number",
    Kind.COUNT: "count",
    Kind.BINARY: "one of two",
    Kind.ORDINAL: "steps of a scale",
    Kind.CATEGORY: "category",
}


def add(routes: APIRouter, frame: Frame, workshop: Workshop) -> None:
    """Add the routes of this page."""
    pages = GridPages(frame, workshop)
    routes.add_api_route("/tables/{key}/schema", pages.show, methods=["GET"])
    routes.add_api_route("/tables/{key}/schema", pages.save, methods=["POST"])
    routes.add_api_route("/tables/{key}/schema.toml", pages.download, methods=["GET"])
    routes.add_api_route("/tables/{key}/toml", pages.save_toml, methods=["POST"])


class GridPages:
    """Shows the grid, and takes what was typed into it."""

    def __init__(self, frame: Frame, workshop: Workshop) -> None:
        self.frame, self.workshop = frame, workshop

    def show(self, request: Request, key: str) -> Response:
        kept = self.workshop.tables.get(key)
        saved = request.query_params.get("saved") == "1"
        return self._grid(request, kept, schema_drafts.lines(kept), {}, page=_page(request), saved=saved)

    def save(self, request: Request, key: str, form: Form) -> Response:
        """Keep what was typed, or show it again with what is wrong."""
        self.frame.forms.check(request, form)
        kept = self.workshop.tables.get(key)
        grid = schema_drafts.typed(schema_drafts.lines(kept), form)
        page = _number(form.get("page", ""))
        try:
            schema = schema_drafts.understood(kept, grid, self.workshop.tables.rows(kept.seal))
        except DraftError as error:
            return self._grid(request, kept, grid, error.faults, page=page)
        after = _number(form.get("after", "")) or None
        self.workshop.tables.correct(key, schema, after=after)
        if form.get("then") == "fit":
            return see(f"/analyst/tables/{key}/fit")
        return see(f"/analyst/tables/{key}/schema?page={page}&saved=1")

    def download(self, key: str) -> Response:
        """The schema as a file that `eddi fit --schema` reads."""
        kept = self.workshop.tables.get(key)
        headers = {"Content-Disposition": 'attachment; filename="schema.toml"'}
        return PlainTextResponse(kept.schema.to_toml(), headers=headers, media_type="application/toml")

    def save_toml(self, request: Request, key: str, form: Form) -> Response:
        """Keep a schema that was written by hand; whether it fits the rows is checked as for a grid."""
        self.frame.forms.check(request, form)
        kept = self.workshop.tables.get(key)
        try:
            schema = Schema.from_toml(form.get("toml", "") + "\n")
            self.workshop.tables.correct(key, schema)
        except (SchemaError, TableError) as error:
            faults = {(0, "toml"): sentence(str(error))}
            return self._grid(
                request, kept, schema_drafts.lines(kept), faults, page=1, toml=form.get("toml", "")
            )
        return see(f"/analyst/tables/{key}/schema?saved=1")

    def _grid(
        self,
        request: Request,
        kept: KeptTable,
        grid: list[Line],
        faults: Faults,
        *,
        page: int,
        saved: bool = False,
        toml: str | None = None,
    ) -> Response:
        found = cautions(kept, self.workshop.tables.rows(kept.seal))
        n_pages = -(-len(grid) // COLUMNS_A_PAGE)
        page = min(max(page, 1), n_pages)
        shown = grid[(page - 1) * COLUMNS_A_PAGE : page * COLUMNS_A_PAGE]
        facts = {
            "here": "tables",
            "title": f"Schema of {kept.title}",
            "table": {
                "key": kept.key,
                "title": kept.title,
                "rows": page_context.count(kept.n_rows, "row"),
            },
            "version": kept.version,
            "page": page,
            "n_pages": n_pages,
            "lines": [_shown(line, kept, by_column(found), faults) for line in shown],
            "roles": schema_drafts.ROLES,
            "kinds": {str(kind): words for kind, words in KINDS.items()},
            "faults": [(place, sentence(words)) for (place, _), words in faults.items()],
            "general": [one for one in found if one.column is None],
            "n_grave": sum(one.is_grave for one in found),
            "saved": saved,
            "toml": kept.schema.to_toml() if toml is None else toml,
            "toml_fault": faults.get((0, "toml"), ""),
            "questions": sorted({line.question for line in grid if line.question}),
        }
        return self.frame.page(request, "schema.html", facts, status=422 if faults else 200)


def columns(kept: KeptTable) -> list[dict[str, Any]]:
    """What each column holds, for pages that show but do not change it."""
    found = []
    for line, facts in zip(schema_drafts.lines(kept), kept.profiles, strict=True):
        kind = KINDS[Kind(line.kind)] if line.is_in else "left out"
        found.append({"name": line.name, "kind": kind, "is_in": line.is_in, **_held(kept, facts)})
    return found


def _shown(
    line: Line, kept: KeptTable, found: Mapping[str, list[Caution]], faults: Faults
) -> dict[str, Any]:
    facts = kept.profiles[line.place - 1]
    return {
        **vars(line),
        "is_in": line.is_in,
        "cautions": found.get(line.name, []),
        "faults": {
            what: sentence(words) for (place, what), words in faults.items() if place == line.place
        },
        "n_levels": len([one for one in line.levels.split("\n") if one.strip()]),
        **_held(kept, facts),
    }


def _held(kept: KeptTable, facts: Mapping[str, Any]) -> dict[str, Any]:
    share = facts["missing"] / max(kept.n_rows, 1)
    return {
        "bars": facts["bars"],
        "missing": f"{share:.0%} missing" if share >= 0.005 else "",
        "distinct": facts["distinct"],
        "holds": _holds(facts),
    }


def _holds(facts: Mapping[str, Any]) -> str:
    """What a column holds, in a few words."""
    if "low" in facts:
        return f"{facts['low']:.6g} to {facts['high']:.6g}"
    examples = ", ".join(facts["examples"])
    more = facts["distinct"] - len(facts["examples"])
    return f"{examples}, and {more:,} more" if more > 0 else examples or "nothing"


def _page(request: Request) -> int:
    return _number(request.query_params.get("page", ""))


def _number(text: str) -> int:
    return int(text) if text.isascii() and text.isdecimal() and len(text) < 9 else 1
