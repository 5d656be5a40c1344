"""The analyst's part of the HTTP API: tables, jobs, models, and published questionnaires."""

from functools import partial
from typing import Annotated, Any

from fastapi import APIRouter, HTTPException, Query, Request, Response
from fastapi.responses import FileResponse
from pydantic import Field
from starlette.datastructures import UploadFile

from eddi.errors import TableError
from eddi.model.files.archive import load_network
from eddi.service.analyst import schemas
from eddi.service.analyst.accounts.access import Access
from eddi.service.analyst.accounts.activity import MAX_PAGES, PAGE_SIZE
from eddi.service.analyst.data.data_warnings import find_warnings
from eddi.service.analyst.data.tables import UploadedTable, save_upload
from eddi.service.analyst.models.trained_model import ModelNotFoundError, read_evaluation
from eddi.service.analyst.questionnaires.outcome_records import OutcomeRecords
from eddi.service.analyst.questionnaires.outcomes_api import add_import, add_outcomes
from eddi.service.analyst.workshop import Workshop
from eddi.service.interviews.questionnaire_settings import QuestionnaireSettings
from eddi.service.web import problem_details
from eddi.service.web.api import ANALYSTS, IfMatch, JsonRoute, parse_if_match, require_role
from eddi.service.web.api_keys import PUBLISHERS, Keys, get_author
from eddi.table.schema import Schema

UPLOAD_BODY = {
    "requestBody": {
        "required": True,
        "content": {
            "multipart/form-data": {
                "schema": {
                    "type": "object",
                    "required": ["file"],
                    "properties": {"file": {"type": "string", "format": "binary"}},
                }
            }
        },
    }
}
ERROR_RESPONSES = problem_details.openapi_responses(401, 403, 404, 409, 412, 413, 415, 422, 429, 503)
JobIn = Annotated[schemas.FitIn | schemas.EvaluateIn | schemas.LearnIn, Field(discriminator="kind")]
DeleteModels = Annotated[
    bool, Query(description="Whether to delete also its models that were never published.")
]
AuthorFilter = Annotated[str, Query(max_length=80, description="The name of an API key.")]
QuestionnaireFilter = Annotated[
    str, Query(max_length=100, description="The name of a questionnaire, also of one that was deleted.")
]
Page = Annotated[int, Query(ge=1, le=MAX_PAGES, description=f"Of {PAGE_SIZE} entries.")]
RouteOptions = dict[str, Any]


def router(workshop: Workshop, keys: Keys | None) -> APIRouter:
    """The routes for analysts. If there are ``keys``, a request needs one with the right role."""
    read: RouteOptions = {"dependencies": require_role(keys, ANALYSTS), "responses": ERROR_RESPONSES}
    write: RouteOptions = {"dependencies": require_role(keys, PUBLISHERS), "responses": ERROR_RESPONSES}
    routes = APIRouter(route_class=JsonRoute)
    _add_tables(routes, workshop, read=read, write=write)
    _add_jobs(routes, workshop, read=read, write=write)
    _add_models(routes, workshop, read=read)
    _add_questionnaires(routes, workshop, read=read, write=write)
    _add_questionnaire_changes(routes, workshop, write=write)
    _add_accounts(routes, workshop, read=read)
    records = OutcomeRecords(workshop)
    add_outcomes(routes, records, write=write)
    uploads = APIRouter()  # their body is not JSON
    _add_uploads(uploads, workshop, write=write)
    add_import(uploads, records, write={**write, "openapi_extra": UPLOAD_BODY})
    uploads.include_router(routes)
    return uploads


def _add_uploads(routes: APIRouter, workshop: Workshop, *, write: RouteOptions) -> None:
    @routes.post(
        "/tables",
        status_code=201,
        tags=["tables"],
        summary="Upload a table: CSV, TSV, Parquet or Excel",
        openapi_extra=UPLOAD_BODY,
        **write,
    )
    async def add_table(request: Request, response: Response) -> schemas.TableOut:
        content_type = request.headers.get("content-type", "").partition(";")[0].strip().lower()
        if content_type != "multipart/form-data":
            raise HTTPException(
                415, f"the body must be multipart/form-data, got {content_type[:100]!r}."
            )
        async with request.form(max_files=1, max_fields=4) as form:
            file = form.get("file")
            if not isinstance(file, UploadFile) or not file.filename:
                raise TableError("there is no file. Send it as the part 'file', with a file name.")
            table = await save_upload(workshop.tables, file, by=get_author(request))
        response.headers["Location"] = f"/tables/{table.key}"
        return schemas.table(table)


def _add_tables(
    routes: APIRouter, workshop: Workshop, *, read: RouteOptions, write: RouteOptions
) -> None:
    tables = workshop.tables

    @routes.get("/tables", tags=["tables"], summary="All tables", **read)
    def list_tables() -> list[schemas.TableOut]:
        return [schemas.table(table) for table in tables.all()]

    @routes.get("/tables/{key}", tags=["tables"], summary="A table with its schema", **read)
    def read_table(key: str, response: Response) -> schemas.TableDetailOut:
        return _detail(tables.get(key), response)

    @routes.put("/tables/{key}/schema", tags=["tables"], summary="Correct a schema", **write)
    def correct(
        key: str,
        schema: dict[str, Any],
        request: Request,
        response: Response,
        if_match: IfMatch = None,
    ) -> schemas.TableDetailOut:
        after, by = parse_if_match(if_match), get_author(request)
        corrected = tables.correct(key, Schema.from_document(schema), after=after, by=by)
        return _detail(corrected, response)

    @routes.delete("/tables/{key}", status_code=204, tags=["tables"], summary="Delete a table", **write)
    def forget(key: str, request: Request, models: DeleteModels = False) -> None:
        workshop.forget_table(key, with_models=models, by=get_author(request))

    def _detail(table: UploadedTable, response: Response) -> schemas.TableDetailOut:
        response.headers["ETag"] = f'"{table.version}"'
        return schemas.table_detail(table, find_warnings(table, tables.rows(table.digest)))


def _add_jobs(routes: APIRouter, workshop: Workshop, *, read: RouteOptions, write: RouteOptions) -> None:
    jobs = workshop.jobs

    @routes.get("/jobs", tags=["jobs"], summary="All jobs, newest first", **read)
    def list_jobs() -> list[schemas.JobOut]:
        return [schemas.job(job, jobs.progress(job.key)) for job in jobs.all()]

    @routes.post(
        "/jobs",
        status_code=201,
        tags=["jobs"],
        summary="Train or evaluate a model, or learn from interviews",
        **write,
    )
    def submit(spec: JobIn, request: Request, response: Response) -> schemas.JobOut:
        by = get_author(request)
        if isinstance(spec, schemas.FitIn):
            job = workshop.fit(**spec.model_dump(exclude={"kind"}), by=by)
        elif isinstance(spec, schemas.LearnIn):
            job = workshop.learn(spec.questionnaire, publish=spec.publish, by=by)
        else:
            job = jobs.get(workshop.evaluate(spec.model, by=by))
        response.headers["Location"] = f"/jobs/{job.key}"
        return schemas.job(job, {})

    @routes.get("/jobs/{key}", tags=["jobs"], summary="A job with its training history", **read)
    def read_job(key: str) -> schemas.JobDetailOut:
        return schemas.job_detail(jobs.get(key), jobs.progress(key))

    @routes.delete("/jobs/{key}", tags=["jobs"], summary="Cancel a job", **write)
    def cancel(key: str, request: Request) -> schemas.JobOut:
        return schemas.job(workshop.cancel(key, by=get_author(request)), jobs.progress(key))

    @routes.post(
        "/jobs/{key}/resume", tags=["jobs"], summary="Resume a cancelled or failed job", **write
    )
    def resume(key: str, request: Request) -> schemas.JobOut:
        return schemas.job(workshop.resume(key, by=get_author(request)), jobs.progress(key))


def _add_models(routes: APIRouter, workshop: Workshop, *, read: RouteOptions) -> None:
    @routes.get("/models", tags=["models"], summary="All models, newest first", **read)
    def list_models() -> list[schemas.ModelOut]:
        return [schemas.model(model) for model in workshop.models()]

    @routes.get("/models/{digest}", tags=["models"], summary="A model with its variables", **read)
    def read_model(digest: str) -> schemas.ModelDetailOut:
        model = workshop.get_model(digest)
        return schemas.model_detail(model, load_network(workshop.blobs.path(model.digest)))

    @routes.get(
        "/models/{digest}/evaluation",
        tags=["models"],
        summary="The evaluation on held-out rows",
        **read,
    )
    def evaluation(digest: str) -> dict[str, Any]:
        document = read_evaluation(workshop.get_model(digest), workshop.blobs)
        if document is None:
            raise ModelNotFoundError(
                "this model has not been evaluated yet. Submit a job of kind 'evaluate'."
            )
        return document

    @routes.get(
        "/models/{digest}/file",
        tags=["models"],
        summary="The model's file",
        response_class=FileResponse,
        dependencies=read["dependencies"],
        responses={**ERROR_RESPONSES, 200: {"content": {"application/zip": {}}}},
    )
    def file(digest: str) -> FileResponse:
        model = workshop.get_model(digest)
        path = workshop.blobs.path(model.digest)
        return FileResponse(path, media_type="application/zip", filename=f"{model.short_digest}.eddi")


def _add_questionnaires(
    routes: APIRouter, workshop: Workshop, *, read: RouteOptions, write: RouteOptions
) -> None:
    describe = partial(schemas.published, permissions=workshop.publisher.permissions)

    @routes.get(
        "/questionnaires/{name}",
        tags=["questionnaires"],
        summary="A questionnaire with all its versions",
        **read,
    )
    def read_questionnaire(name: str) -> schemas.PublishedOut:
        return describe(workshop.publisher.get(name))

    @routes.post(
        "/questionnaires/{name}/versions",
        status_code=201,
        tags=["questionnaires"],
        summary="Publish a model",
        **write,
    )
    def publish(name: str, version: schemas.VersionIn, request: Request) -> schemas.PublishedOut:
        published = workshop.publish(
            name,
            version.model,
            target=version.target,
            rules=version.rules(),
            strategy=version.strategy or "",
            replace_target=version.replace_target,
            by=get_author(request),
        )
        return describe(published)

    @routes.post(
        "/questionnaires/{name}/rollback",
        tags=["questionnaires"],
        summary="Make another version current",
        **write,
    )
    def roll_back(name: str, to: schemas.RollbackIn, request: Request) -> schemas.PublishedOut:
        return describe(workshop.roll_back(name, to.version, by=get_author(request)))


def _add_questionnaire_changes(routes: APIRouter, workshop: Workshop, *, write: RouteOptions) -> None:
    describe = partial(schemas.published, permissions=workshop.publisher.permissions)

    @routes.put(
        "/questionnaires/{name}/settings",
        tags=["questionnaires"],
        summary="Replace the texts and settings",
        **write,
    )
    def change_settings(name: str, settings: dict[str, Any], request: Request) -> schemas.PublishedOut:
        parsed = QuestionnaireSettings.from_document(settings)
        author = get_author(request)
        return describe(workshop.publisher.change_settings(name, parsed, by=author))

    @routes.delete(
        "/questionnaires/{name}",
        status_code=204,
        tags=["questionnaires"],
        summary="Delete a questionnaire",
        **write,
    )
    def delete(name: str, request: Request) -> None:
        workshop.publisher.delete(name, by=get_author(request))

    @routes.put(
        "/questionnaires/{name}/access",
        tags=["questionnaires"],
        summary="Share a questionnaire, or give it to another owner",
        **write,
    )
    def change_access(name: str, access: schemas.AccessIn, request: Request) -> schemas.PublishedOut:
        wanted = Access(access.owner, tuple(access.editors))
        changed = workshop.publisher.change_access(name, wanted, by=get_author(request))
        return describe(changed)


def _add_accounts(routes: APIRouter, workshop: Workshop, *, read: RouteOptions) -> None:
    @routes.get(
        "/accounts",
        tags=["accounts"],
        summary="Who may own and edit questionnaires",
        **read,
    )
    def list_accounts() -> list[schemas.AccountOut]:
        return [schemas.account(key) for key in workshop.publisher.permissions.holders()]

    @routes.get(
        "/activity",
        tags=["accounts"],
        summary="Who did what, newest first, without answers",
        **read,
    )
    def list_activity(
        person: AuthorFilter = "", questionnaire: QuestionnaireFilter = "", page: Page = 1
    ) -> schemas.ActivityOut:
        found = workshop.activity.find(person=person, questionnaire=questionnaire)
        shown = found[(page - 1) * PAGE_SIZE : page * PAGE_SIZE]
        return {"total": len(found), "page": page, "entries": [schemas.entry(item) for item in shown]}
