"""The workshop's overview, upload and training pages, and the router of all analyst's pages."""

from collections.abc import Mapping

from fastapi import APIRouter, Request, Response
from fastapi.concurrency import run_in_threadpool
from starlette.datastructures import UploadFile

from eddi.errors import TableError, TargetError
from eddi.service.analyst.accounts import access_page, account_page, activity_page
from eddi.service.analyst.accounts.sign_in import SignIn
from eddi.service.analyst.dashboard import dashboard_page
from eddi.service.analyst.data.data_warnings import find_warnings
from eddi.service.analyst.data.tables import UploadedTable, save_upload
from eddi.service.analyst.data.upload import EXTENSIONS
from eddi.service.analyst.learning import learning_page
from eddi.service.analyst.pages import (
    evaluation_pages,
    job_page,
    model_page,
    publish_page,
    schema_page,
)
from eddi.service.analyst.pages.layout import Form, Layout, redirect
from eddi.service.analyst.pages.page_context import (
    Context,
    count_columns,
    count_rows,
    format_time,
    job_item,
    model_item,
    preview_rows,
)
from eddi.service.analyst.questionnaires import (
    answers_page,
    outcomes_page,
    person_page,
    questionnaire_page,
    settings_page,
    translation_page,
)
from eddi.service.analyst.workshop import MAX_STEPS, JobSpecError, Workshop
from eddi.service.errors import N_
from eddi.service.interviews.interview_service import InterviewService
from eddi.service.settings import Settings
from eddi.service.web.api_keys import Keys, get_author
from eddi.service.web.formatting import capitalize, format_bytes
from eddi.service.web.languages.current import format_integer, gettext, localize

N_JOBS_SHOWN = 6
MAX_SEED = 2**31 - 1
INTEGER_FIELDS = {"steps": N_("Maximum number of steps"), "seed": N_("Seed")}
HELD_OUT_SHARES = ("0.1", "0.2", "0.3", "0")


def router(
    workshop: Workshop, keys: Keys | None, settings: Settings, service: InterviewService
) -> APIRouter:
    """The routes of all analyst's pages. If there are ``keys``, analysts sign in with one."""
    layout = Layout(settings, SignIn(keys, settings))
    pages = WorkshopPages(layout, workshop, settings)
    routes = APIRouter(route_class=layout.route_class(), include_in_schema=False, prefix="/analyst")
    routes.add_api_route("", pages.home, methods=["GET"])
    routes.add_api_route("/tables", pages.tables, methods=["GET"])
    routes.add_api_route("/tables", pages.upload, methods=["POST"])
    routes.add_api_route("/tables/{key}", pages.table, methods=["GET"])
    routes.add_api_route("/tables/{key}/forget", pages.forget_form, methods=["GET"])
    routes.add_api_route("/tables/{key}/forget", pages.forget, methods=["POST"])
    routes.add_api_route("/tables/{key}/fit", pages.fit_form, methods=["GET"])
    routes.add_api_route("/tables/{key}/fit", pages.fit, methods=["POST"])
    account_page.add(routes, layout)
    access_page.add(routes, layout, workshop)
    activity_page.add(routes, layout, workshop)
    schema_page.add(routes, layout, workshop)
    job_page.add(routes, layout, workshop)
    model_page.add(routes, layout, workshop)
    publish_page.add(routes, layout, workshop)
    questionnaire_page.add(routes, layout, workshop)
    learning_page.add(routes, layout, workshop)
    settings_page.add(routes, layout, workshop)
    translation_page.add(routes, layout, workshop)
    answers_page.add(routes, layout, workshop, service)
    dashboard_page.add(routes, layout, workshop, service)
    person_page.add(routes, layout, workshop, service)
    outcomes_page.add(routes, layout, workshop)
    evaluation_pages.add(routes, layout, workshop)
    return routes


class WorkshopPages:
    """Shows the workshop's overview and tables, and takes uploads and training jobs."""

    def __init__(self, layout: Layout, workshop: Workshop, settings: Settings) -> None:
        self.layout, self.workshop, self.settings = layout, workshop, settings

    def home(self, request: Request) -> Response:
        """The overview of questionnaires, jobs, models and tables."""
        jobs = self.workshop.jobs.all()
        questionnaires = self.workshop.publisher.all()
        published_as: dict[str, list[str]] = {}
        for item in questionnaires:
            label = gettext("%(name)s, version %(number)s", name=item.name, number=item.current.number)
            published_as.setdefault(item.current.model, []).append(label)
        context = {
            "section": "home",
            "title": gettext("Workshop"),
            "questionnaires": [
                access_page.owner_context(request, self.workshop.publisher, item)
                | questionnaire_page.questionnaire_item(item)
                for item in questionnaires
            ],
            "models": [model_item(model, published_as) for model in self.workshop.models()],
            "jobs": [job_item(job, self.workshop.jobs.progress(job.key)) for job in jobs[:N_JOBS_SHOWN]],
            "has_more_jobs": len(jobs) > N_JOBS_SHOWN,
            "tables": self._table_items(),
        }
        return self.layout.page(request, "home.html", context)

    def tables(self, request: Request) -> Response:
        """The upload form, and all tables."""
        return self._upload_page(request)

    async def upload(self, request: Request) -> Response:
        """Store an uploaded table. If it cannot be read, show the form again with the error."""
        async with request.form(max_files=1, max_fields=4) as form:
            fields = {name: value for name, value in form.items() if isinstance(value, str)}
            self.layout.forms.check(request, fields)
            file = form.get("file")
            try:
                if not isinstance(file, UploadFile) or not file.filename:
                    raise TableError(gettext("Choose a file first."))
                table = await save_upload(self.workshop.tables, file, by=get_author(request))
            except TableError as error:
                message = capitalize(str(error))
                return await run_in_threadpool(self._upload_page, request, error=message)
        return redirect(f"/analyst/tables/{table.key}")

    def table(self, request: Request, key: str) -> Response:
        """The first rows of a table."""
        table = self.workshop.tables.get(key)
        rows = self.workshop.tables.rows(table.digest)
        context = {
            "section": "tables",
            "title": table.title,
            "table": _table_item(table),
            "notes": table.notes,
            "columns": schema_page.column_items(table),
            "rows": preview_rows(rows),
            "n_warnings": len(find_warnings(table, rows)),
        }
        return self.layout.page(request, "table.html", context)

    def forget_form(self, request: Request, key: str) -> Response:
        """Ask whether to delete a table."""
        table = self.workshop.tables.get(key)
        context = {
            "section": "tables",
            "title": gettext("Delete %(subject)s?", subject=table.title),
            "table": _table_item(table),
        }
        return self.layout.page(request, "forget.html", context)

    def forget(self, request: Request, key: str, form: Form) -> Response:
        """Delete a table."""
        self.layout.forms.check(request, form)
        self.workshop.forget_table(key, with_models="models" in form, by=get_author(request))
        return redirect("/analyst/tables")

    def fit_form(self, request: Request, key: str) -> Response:
        """The form that starts a training job."""
        return self._fit_page(request, self.workshop.tables.get(key), {})

    def fit(self, request: Request, key: str, form: Form) -> Response:
        """Submit a training job. If a field is not valid, show the form again with the error."""
        self.layout.forms.check(request, form)
        table = self.workshop.tables.get(key)
        try:
            job = self.workshop.fit(
                key,
                target=[form["target"]] if form.get("target") else (),
                recipe=form.get("recipe", "default"),
                steps=_parse_integer(form, "steps", maximum=MAX_STEPS, minimum=1),
                seed=_parse_integer(form, "seed", maximum=MAX_SEED) or 0,
                held_out=float(form["held_out"]) if form.get("held_out") in HELD_OUT_SHARES else 0.2,
                by=get_author(request),
            )
        except (JobSpecError, TargetError) as error:
            return self._fit_page(request, table, form, error=capitalize(str(error)))
        return redirect(f"/analyst/jobs/{job.key}")

    def _upload_page(self, request: Request, *, error: str = "") -> Response:
        context = {
            "section": "tables",
            "title": gettext("Upload a table"),
            "error": error,
            "extensions": ",".join(EXTENSIONS),
            "max_size": localize(format_bytes(self.settings.max_upload)),
            "max_bytes": self.settings.max_upload,
            "tables": self._table_items(),
        }
        return self.layout.page(request, "tables.html", context, status=422 if error else 200)

    def _fit_page(
        self, request: Request, table: UploadedTable, form: Mapping[str, str], *, error: str = ""
    ) -> Response:
        schema = table.schema
        warnings = find_warnings(table, self.workshop.tables.rows(table.digest))
        context = {
            "section": "tables",
            "title": gettext("Training on %(name)s", name=table.title),
            "table": _table_item(table),
            "names": schema.names,
            "target": form.get("target") or (schema.targets[0] if schema.targets else ""),
            "recipe": form.get("recipe", "default"),
            "steps": form.get("steps", ""),
            "seed": form.get("seed", "0"),
            "held_out": form.get("held_out", "0.2"),
            "shares": HELD_OUT_SHARES,
            "n_variables": len(schema.names),
            "error": error,
            "warnings": [warning for warning in warnings if warning.is_serious],
        }
        return self.layout.page(request, "fit.html", context, status=422 if error else 200)

    def _table_items(self) -> list[Context]:
        return [_table_item(table) for table in self.workshop.tables.all()]


def _table_item(table: UploadedTable) -> Context:
    return {
        "key": table.key,
        "title": table.title,
        "name": table.name,
        "n_rows": count_rows(table.n_rows),
        "n_columns": count_columns(len(table.columns)),
        "when": format_time(table.uploaded_at),
    }


def _parse_integer(form: Mapping[str, str], name: str, *, maximum: int, minimum: int = 0) -> int | None:
    """An integer field of a form; None if it is empty."""
    text = form.get(name, "").strip().replace(",", "")
    if not text:
        return None
    is_integer = text.isascii() and text.isdecimal() and len(text) < 12
    if not (is_integer and minimum <= int(text) <= maximum):
        raise JobSpecError(
            gettext(
                "“%(field)s” must be a whole number from %(low)s to %(high)s, and not “%(typed)s”.",
                field=gettext(INTEGER_FIELDS[name]),
                low=minimum,
                high=format_integer(maximum),
                typed=text[:40],
            )
        )
    return int(text)
