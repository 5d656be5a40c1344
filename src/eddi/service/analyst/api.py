"""The analyst's part of the HTTP API: tables, jobs, models, and what is published of them."""

import json
from typing import Annotated, Any

from fastapi import APIRouter, HTTPException, Request, Response
from fastapi.responses import FileResponse
from pydantic import Field
from starlette.datastructures import UploadFile

from eddi.errors import TableError
from eddi.model.files.archive import load
from eddi.service.analyst import schemas
from eddi.service.analyst.data_warnings import cautions
from eddi.service.analyst.tables import KeptTable, keep_upload
from eddi.service.analyst.trained_model import Made
from eddi.service.analyst.workshop import ModelNotFoundError, Workshop
from eddi.service.web import problem_details
from eddi.service.web.api import ANALYSTS, IfMatch, JsonRoute, parse_if_match, require_role
from eddi.service.web.api_keys import Keys, Role
from eddi.table.schema import Schema

MAKERS = frozenset({Role.ANALYST})
MULTIPART = {
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
REFUSED = problem_details.openapi_responses(401, 403, 404, 409, 412, 413, 415, 422, 429, 503)
JobIn = Annotated[schemas.FitIn | schemas.EvaluateIn, Field(discriminator="kind")]


def router(workshop: Workshop, keys: Keys | None) -> APIRouter:
    """The routes of analysts; with ``keys``, only for who has one of the right role."""
    routes = APIRouter(route_class=JsonRoute)
    reads = {"dependencies": require_role(keys, ANALYSTS), "responses": REFUSED}
    makes = {"dependencies": require_role(keys, MAKERS), "responses": REFUSED}
    _add_tables(routes, workshop, reads, makes)
    _add_jobs(routes, workshop, reads, makes)
    _add_models(routes, workshop, reads)
    _add_versions(routes, workshop, reads)
    uploads = APIRouter()  # not JSON
    _add_uploads(uploads, workshop, makes)
    uploads.include_router(routes)
    return uploads


def _add_uploads(routes: APIRouter, workshop: Workshop, makes: dict[str, Any]) -> None:
    @routes.post(
        "/tables",
        status_code=201,
        tags=["tables"],
        summary="Bring a table: CSV, TSV, Parquet or Excel",
        openapi_extra=MULTIPART,
        **makes,
    )
    async def add_table(request: Request, response: Response) -> schemas.TableOut:
        kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
        if kind != "multipart/form-data":
            raise HTTPException(415, f"the body must be multipart/form-data, got {kind[:100]!r}.")
        async with request.form(max_files=1, max_fields=4) as form:
            file = form.get("file")
            if not isinstance(file, UploadFile) or not file.filename:
                raise TableError("there is no file. Send it as the part 'file', with its name.")
            kept = await keep_upload(workshop.tables, file)
        response.headers["Location"] = f"/tables/{kept.key}"
        return schemas.table(kept)


def _add_tables(
    routes: APIRouter, workshop: Workshop, reads: dict[str, Any], makes: dict[str, Any]
) -> None:
    tables = workshop.tables

    @routes.get("/tables", tags=["tables"], summary="All tables", **reads)
    def list_tables() -> list[schemas.TableOut]:
        return [schemas.table(one) for one in tables.all()]

    @routes.get("/tables/{key}", tags=["tables"], summary="A table with its schema", **reads)
    def read_table(key: str, response: Response) -> schemas.TableDetailOut:
        return _detail(tables.get(key), response)

    @routes.put("/tables/{key}/schema", tags=["tables"], summary="Correct a schema", **makes)
    def correct(
        key: str, schema: dict[str, Any], response: Response, if_match: IfMatch = None
    ) -> schemas.TableDetailOut:
        corrected = Schema.from_document(schema)
        return _detail(tables.correct(key, corrected, after=parse_if_match(if_match)), response)

    @routes.delete("/tables/{key}", status_code=204, tags=["tables"], summary="Forget a table", **makes)
    def forget(key: str) -> None:
        tables.forget(key)

    def _detail(kept: KeptTable, response: Response) -> schemas.TableDetailOut:
        response.headers["ETag"] = f'"{kept.version}"'
        return schemas.table_detail(kept, cautions(kept, tables.rows(kept.seal)))


def _add_jobs(
    routes: APIRouter, workshop: Workshop, reads: dict[str, Any], makes: dict[str, Any]
) -> None:
    jobs = workshop.jobs

    @routes.get("/jobs", tags=["jobs"], summary="All jobs, the newest first", **reads)
    def list_jobs() -> list[schemas.JobOut]:
        return [schemas.job(one, jobs.progress(one.key)) for one in jobs.all()]

    @routes.post("/jobs", status_code=201, tags=["jobs"], summary="Fit or evaluate a model", **makes)
    def ask(wanted: JobIn, response: Response) -> schemas.JobOut:
        if isinstance(wanted, schemas.FitIn):
            job = workshop.fit(**wanted.model_dump(exclude={"kind"}))
        else:
            job = jobs.get(workshop.evaluate(wanted.model))
        response.headers["Location"] = f"/jobs/{job.key}"
        return schemas.job(job, {})

    @routes.get("/jobs/{key}", tags=["jobs"], summary="A job with its course", **reads)
    def read_job(key: str) -> schemas.JobDetailOut:
        return schemas.job_detail(jobs.get(key), jobs.progress(key))

    @routes.delete("/jobs/{key}", tags=["jobs"], summary="Cancel a job", **makes)
    def cancel(key: str) -> schemas.JobOut:
        return schemas.job(workshop.cancel(key), jobs.progress(key))

    @routes.post("/jobs/{key}/resume", tags=["jobs"], summary="Go on with a cancelled job", **makes)
    def resume(key: str) -> schemas.JobOut:
        return schemas.job(workshop.resume(key), jobs.progress(key))


def _add_models(routes: APIRouter, workshop: Workshop, reads: dict[str, Any]) -> None:
    def found(seal: str) -> Made:
        made = workshop.made(seal)
        if made is None:
            raise ModelNotFoundError(f"there is no model {seal[:64]!r}. `GET /models` lists them.")
        return made

    @routes.get("/models", tags=["models"], summary="All models, the newest first", **reads)
    def list_models() -> list[schemas.ModelOut]:
        return [schemas.model(one) for one in workshop.models()]

    @routes.get("/models/{seal}", tags=["models"], summary="A model and its variables", **reads)
    def read_model(seal: str) -> schemas.ModelDetailOut:
        made = found(seal)
        return schemas.model_detail(made, load(workshop.shelf.path(made.seal)))

    @routes.get("/models/{seal}/evaluation", tags=["models"], summary="How well it does", **reads)
    def evaluation(seal: str) -> dict[str, Any]:
        made = found(seal)
        if made.evaluation is None:
            raise ModelNotFoundError("this model was not judged yet. Ask for a job of kind 'evaluate'.")
        document: dict[str, Any] = json.loads(workshop.shelf.path(made.evaluation).read_bytes())
        return document

    @routes.get(
        "/models/{seal}/file",
        tags=["models"],
        summary="The model's file",
        response_class=FileResponse,
        dependencies=reads["dependencies"],
        responses={**REFUSED, 200: {"content": {"application/zip": {}}}},
    )
    def file(seal: str) -> FileResponse:
        path = workshop.shelf.path(found(seal).seal)
        return FileResponse(path, media_type="application/zip", filename=f"{seal[:8]}.eddi")


def _add_versions(routes: APIRouter, workshop: Workshop, reads: dict[str, Any]) -> None:
    @routes.get(
        "/questionnaires/{name}", tags=["questionnaires"], summary="All versions of one", **reads
    )
    def read_questionnaire(name: str) -> schemas.PublishedOut:
        return schemas.published(workshop.publishing.get(name))

    @routes.post(
        "/questionnaires/{name}/versions",
        status_code=201,
        tags=["questionnaires"],
        summary="Publish a model",
        **reads,
    )
    def publish(name: str, version: schemas.VersionIn) -> schemas.PublishedOut:
        made = workshop.publish(name, version.model, target=version.target, rules=version.rules())
        return schemas.published(made)

    @routes.post(
        "/questionnaires/{name}/rollback",
        tags=["questionnaires"],
        summary="Go back to a version",
        **reads,
    )
    def roll_back(name: str, to: schemas.RollbackIn) -> schemas.PublishedOut:
        return schemas.published(workshop.roll_back(name, to.version))
