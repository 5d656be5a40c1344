"""The analyst's pages: bring a table, correct its schema, train, publish; no script needed."""

from collections.abc import Mapping
from typing import Any

from fastapi import APIRouter, Request, Response
from fastapi.concurrency import run_in_threadpool
from starlette.datastructures import UploadFile

from eddi.errors import TableError, TargetError
from eddi.service.analyst.data_warnings import cautions
from eddi.service.analyst.pages import (
    evaluation_pages,
    job_page,
    page_context,
    publish_page,
    schema_page,
)
from eddi.service.analyst.pages.layout import Form, Frame, own_address, see, sentence
from eddi.service.analyst.sign_in import SignIn
from eddi.service.analyst.tables import ENDINGS, KeptTable, keep_upload
from eddi.service.analyst.workshop import MAX_STEPS, OrderError, Workshop
from eddi.service.interviews.interview_service import InterviewService
from eddi.service.settings import Settings
from eddi.service.web.api_keys import KeyForbiddenError, KeyMissingError, Keys

N_JOBS = 6  # on the first page
MAX_SEED = 2**31 - 1
SHARES = ("0.1", "0.2", "0.3", "0")  # of rows that can be held out


def router(service: InterviewService, workshop: Workshop, settings: Settings) -> APIRouter:
    """The routes of the analyst's pages."""
    keys = Keys(service.store) if settings.needs_keys else None
    frame = Frame(settings, SignIn(keys, settings))
    pages = Pages(frame, workshop, settings)
    routes = APIRouter(route_class=frame.route_class(), include_in_schema=False, prefix="/analyst")
    routes.add_api_route("", pages.home, methods=["GET"])
    routes.add_api_route("/sign-in", pages.ask_key, methods=["GET"])
    routes.add_api_route("/sign-in", pages.sign_in, methods=["POST"])
    routes.add_api_route("/sign-out", pages.sign_out, methods=["POST"])
    routes.add_api_route("/tables", pages.tables, methods=["GET"])
    routes.add_api_route("/tables", pages.upload, methods=["POST"])
    routes.add_api_route("/tables/{key}", pages.table, methods=["GET"])
    routes.add_api_route("/tables/{key}/forget", pages.ask_forget, methods=["GET"])
    routes.add_api_route("/tables/{key}/forget", pages.forget, methods=["POST"])
    routes.add_api_route("/tables/{key}/fit", pages.fit, methods=["GET"])
    routes.add_api_route("/tables/{key}/fit", pages.begin_fit, methods=["POST"])
    schema_page.add(routes, frame, workshop)
    job_page.add(routes, frame, workshop)
    publish_page.add(routes, frame, workshop)
    evaluation_pages.add(routes, frame, workshop)
    return routes


class Pages:
    """What each address shows and does."""

    def __init__(self, frame: Frame, workshop: Workshop, settings: Settings) -> None:
        self.frame, self.workshop, self.settings = frame, workshop, settings

    def home(self, request: Request) -> Response:
        every = self.workshop.jobs.all()
        jobs = every[:N_JOBS]
        published = self.workshop.publishing.all()
        served: dict[str, list[str]] = {}
        for one in published:
            served.setdefault(one.current.model, []).append(f"{one.name}, version {one.current.number}")
        facts = {
            "here": "home",
            "title": "Workshop",
            "questionnaires": [publish_page.line(one) for one in published],
            "models": [page_context.model_line(one, served) for one in self.workshop.models()],
            "jobs": [page_context.job_line(job, self.workshop.jobs.progress(job.key)) for job in jobs],
            "more_jobs": len(every) > N_JOBS,
            "tables": [_table_line(one) for one in self.workshop.tables.all()],
        }
        return self.frame.page(request, "home.html", facts)

    def tables(self, request: Request) -> Response:
        return self._tables(request)

    async def upload(self, request: Request) -> Response:
        """Keep a table; what cannot be read as one is said on the same page."""
        async with request.form(max_files=1, max_fields=4) as form:
            fields = {name: value for name, value in form.items() if isinstance(value, str)}
            self.frame.forms.check(request, fields)
            file = form.get("file")
            try:
                if not isinstance(file, UploadFile) or not file.filename:
                    raise TableError("choose a file first.")
                kept = await keep_upload(self.workshop.tables, file)
            except TableError as error:
                return await run_in_threadpool(self._tables, request, error=sentence(str(error)))
        return see(f"/analyst/tables/{kept.key}")

    def table(self, request: Request, key: str) -> Response:
        kept = self.workshop.tables.get(key)
        rows = self.workshop.tables.rows(kept.seal)
        found = cautions(kept, rows)
        facts = {
            "here": "tables",
            "title": kept.title,
            "table": _table_line(kept),
            "notes": kept.notes,
            "columns": schema_page.columns(kept),
            "rows": page_context.preview(rows),
            "n_cautions": len(found),
        }
        return self.frame.page(request, "table.html", facts)

    def ask_forget(self, request: Request, key: str) -> Response:
        kept = self.workshop.tables.get(key)
        facts = {"here": "tables", "title": f"Forget {kept.title}?", "table": _table_line(kept)}
        return self.frame.page(request, "forget.html", facts)

    def forget(self, request: Request, key: str, form: Form) -> Response:
        self.frame.forms.check(request, form)
        self.workshop.tables.forget(key)
        return see("/analyst/tables")

    def fit(self, request: Request, key: str) -> Response:
        return self._fit(request, self.workshop.tables.get(key), {})

    def begin_fit(self, request: Request, key: str, form: Form) -> Response:
        self.frame.forms.check(request, form)
        kept = self.workshop.tables.get(key)
        try:
            job = self.workshop.fit(
                key,
                target=[form["target"]] if form.get("target") else (),
                recipe=form.get("recipe", "default"),
                steps=_whole(form, "steps", MAX_STEPS, least=1),
                seed=_whole(form, "seed", MAX_SEED) or 0,
                held_out=float(form["held_out"]) if form.get("held_out") in SHARES else 0.2,
            )
        except (OrderError, TargetError) as error:
            return self._fit(request, kept, form, error=sentence(str(error)))
        return see(f"/analyst/jobs/{job.key}")

    def ask_key(self, request: Request) -> Response:
        return self._ask_key(request, own_address(request.query_params.get("next", "")))

    def sign_in(self, request: Request, form: Form) -> Response:
        self.frame.forms.check(request, form)
        where = own_address(form.get("next", ""))
        response = see(where)
        try:
            self.frame.sign_in.enter(request, response, form.get("key", "").strip())
        except (KeyMissingError, KeyForbiddenError):
            words = "This is no key of an analyst that is still good. It begins with eddi_."
            return self._ask_key(request, where, error=words)
        return response

    def sign_out(self, request: Request, form: Form) -> Response:
        self.frame.forms.check(request, form)
        response = see("/analyst/sign-in")
        self.frame.sign_in.leave(response)
        return response

    def _ask_key(self, request: Request, where: str, *, error: str = "") -> Response:
        if not self.frame.sign_in.is_needed:
            return see(where)
        facts = {"title": "Sign in", "next": where, "error": error, "can_leave": False, "outside": True}
        return self.frame.page(request, "sign_in.html", facts, status=401 if error else 200)

    def _tables(self, request: Request, *, error: str = "") -> Response:
        facts = {
            "here": "tables",
            "title": "Bring a table",
            "error": error,
            "endings": ",".join(ENDINGS),
            "most": f"{self.settings.max_upload / 1e6:,.0f} MB",
            "tables": [_table_line(one) for one in self.workshop.tables.all()],
        }
        return self.frame.page(request, "tables.html", facts, status=422 if error else 200)

    def _fit(
        self, request: Request, kept: KeptTable, form: Mapping[str, str], *, error: str = ""
    ) -> Response:
        schema = kept.schema
        facts = {
            "here": "tables",
            "title": f"Train on {kept.title}",
            "table": _table_line(kept),
            "names": schema.names,
            "target": form.get("target") or (schema.targets[0] if schema.targets else ""),
            "recipe": form.get("recipe", "default"),
            "steps": form.get("steps", ""),
            "seed": form.get("seed", "0"),
            "held_out": form.get("held_out", "0.2"),
            "shares": SHARES,
            "most_steps": MAX_STEPS,
            "n_variables": len(schema.names),
            "error": error,
            "cautions": [
                one for one in cautions(kept, self.workshop.tables.rows(kept.seal)) if one.is_grave
            ],
        }
        return self.frame.page(request, "fit.html", facts, status=422 if error else 200)


def _table_line(kept: KeptTable) -> dict[str, Any]:
    return {
        "key": kept.key,
        "title": kept.title,
        "name": kept.name,
        "rows": page_context.count(kept.n_rows, "row"),
        "columns": page_context.count(len(kept.columns), "column"),
        "when": page_context.moment(kept.at),
        "targets": ", ".join(kept.schema.targets),
    }


def _whole(form: Mapping[str, str], name: str, most: int, *, least: int = 0) -> int | None:
    """A whole number of a form; None where nothing was typed."""
    text = form.get(name, "").strip().replace(",", "")
    if not text:
        return None
    if not (text.isascii() and text.isdecimal() and len(text) < 12 and least <= int(text) <= most):
        raise OrderError(f"{name} must be a whole number from {least} to {most:,}, got {text[:40]!r}.")
    return int(text)
