"""The part of the HTTP API that exchanges data with other programs: answers out, codebooks in."""

from datetime import date
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import Annotated, Any

from fastapi import APIRouter, HTTPException, Query, Request, Response
from fastapi.concurrency import run_in_threadpool
from starlette.datastructures import UploadFile
from typing_extensions import TypedDict  # pydantic needs this one before Python 3.12

from eddi.errors import TableError
from eddi.service.analyst.questionnaires.answer_export import (
    MEDIA_TYPES,
    ExportFormat,
    export_answers,
)
from eddi.service.analyst.questionnaires.collected_answers import Filters
from eddi.service.analyst.workshop import Workshop
from eddi.service.web.api_keys import get_author

RouteOptions = dict[str, Any]
FormatChoice = Annotated[
    ExportFormat,
    Query(
        alias="format",
        description="`csv` and `parquet`: one row per person. `redcap.csv`: for REDCap's Data Import Tool. "
        "`xlsform.csv`: columns of submissions to an XLSForm. `fhir.json`: a Bundle of "
        "QuestionnaireResponses.",
    ),
]
VersionFilter = Annotated[
    int | None, Query(ge=1, le=10**6, description="Of the questionnaire; by default all.")
]
FirstDay = Annotated[date | None, Query(description="First day on which interviews began (UTC).")]
LastDay = Annotated[date | None, Query(description="Last day on which interviews began (UTC).")]
OnlyFinished = Annotated[bool, Query(description="Whether unfinished interviews are left out.")]


class CodebookOut(TypedDict):
    """What a codebook changed: the new schema, and what a schema cannot represent."""

    id: str
    version: int
    notes: list[str]


def add_answers(routes: APIRouter, workshop: Workshop, *, read: RouteOptions) -> None:
    """Add the route that exports answers."""
    files: dict[int | str, dict[str, Any]] = {
        200: {"content": {media_type: {} for media_type in MEDIA_TYPES.values()}}
    }

    @routes.get(
        "/questionnaires/{name}/answers",
        tags=["questionnaires"],
        summary="Export the answers, for those who may edit the questionnaire",
        response_class=Response,
        dependencies=read["dependencies"],
        responses={**read["responses"], **files},
    )
    def export(
        name: str,
        request: Request,
        export_format: FormatChoice = ExportFormat.CSV,
        version: VersionFilter = None,
        since: FirstDay = None,
        until: LastDay = None,
        finished: OnlyFinished = False,
    ) -> Response:
        item = workshop.publisher.get_for_editor(name, get_author(request))
        filters = Filters(
            version=version,
            since="" if since is None else since.isoformat(),
            until="" if until is None else until.isoformat(),
            only_finished=finished,
        )
        return export_answers(workshop, item, export_format, filters=filters, by=get_author(request))


def add_codebook(routes: APIRouter, workshop: Workshop, *, write: RouteOptions) -> None:
    """Add the route that takes a codebook; its body is not JSON."""

    @routes.post(
        "/tables/{key}/codebook",
        tags=["tables"],
        summary="Use a codebook: REDCap, XLSForm, FHIR Questionnaire, or a table of variables",
        **write,
    )
    async def use_codebook(key: str, request: Request) -> CodebookOut:
        name, content = await _read_file(request)
        return await run_in_threadpool(_use_codebook, workshop, key, name, content, get_author(request))


def _use_codebook(workshop: Workshop, key: str, name: str, content: bytes, by: str) -> CodebookOut:
    with NamedTemporaryFile() as copy:
        copy.write(content)
        copy.flush()
        notes = workshop.tables.use_codebook(key, name, Path(copy.name), by=by)
    return {"id": key, "version": workshop.tables.get(key).version, "notes": notes}


async def _read_file(request: Request) -> tuple[str, bytes]:
    content_type = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if content_type != "multipart/form-data":
        raise HTTPException(415, f"the body must be multipart/form-data, got {content_type[:100]!r}.")
    async with request.form(max_files=1, max_fields=4) as form:
        file = form.get("file")
        if not isinstance(file, UploadFile) or not file.filename:
            raise TableError("there is no file. Send it as the part 'file', with a file name.")
        return file.filename, await file.read()
