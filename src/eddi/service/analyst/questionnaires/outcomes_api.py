"""The part of the HTTP API that takes outcomes: of one person, or of many as a CSV file."""

from typing import Any

from fastapi import APIRouter, HTTPException, Request
from fastapi.concurrency import run_in_threadpool
from pydantic import BaseModel, ConfigDict, Field, JsonValue
from starlette.datastructures import UploadFile
from typing_extensions import TypedDict  # pydantic needs this one before Python 3.12

from eddi.service.analyst.questionnaires.outcome_records import OutcomeRecords
from eddi.service.interviews.outcomes.outcome_file import OutcomeFileError
from eddi.service.web.api_keys import get_author
from eddi.service.web.schemas import CONFIRM
from eddi.table.variable import Level

MAX_ERRORS_LISTED = 1000
RouteOptions = dict[str, Any]


class OutcomeIn(BaseModel):
    """The true value of the target of a person."""

    model_config = ConfigDict(extra="forbid", strict=True)

    value: JsonValue = Field(
        description="A value of the target; an object of values by variable if there are several "
        "targets.",
        examples=["high", 61.5, {"risk": "high", "stage": 2}],
    )
    confirm: bool = CONFIRM


class OutcomeOut(TypedDict):
    """An outcome that is stored; without values if it was withdrawn."""

    person: str
    values: dict[str, Level]
    by: str
    at: str


class LineErrorOut(TypedDict):
    """Why a line was not stored."""

    line: int
    message: str


class ImportOut(TypedDict):
    """What became of the lines of a file; the first thousand errors are listed."""

    stored: int
    unchanged: int
    empty: int
    failed: int
    errors: list[LineErrorOut]


def add_outcomes(routes: APIRouter, records: OutcomeRecords, *, write: RouteOptions) -> None:
    """Add the routes of single outcomes."""
    address = "/questionnaires/{name}/outcomes/{person}"

    @routes.put(address, tags=["outcomes"], summary="Record or correct the outcome of a person", **write)
    def record(name: str, person: str, body: OutcomeIn, request: Request) -> OutcomeOut:
        by = get_author(request)
        outcome = records.record(name, person, body.value, by=by, confirm=body.confirm)
        if outcome is None:
            return {"person": person, "values": {}, "by": by, "at": ""}
        values = dict(outcome.values)
        return {"person": person, "values": values, "by": outcome.by, "at": outcome.at}

    @routes.delete(
        address, status_code=204, tags=["outcomes"], summary="Withdraw the outcome of a person", **write
    )
    def withdraw(name: str, person: str, request: Request) -> None:
        records.record(name, person, None, by=get_author(request))


def add_import(routes: APIRouter, records: OutcomeRecords, *, write: RouteOptions) -> None:
    """Add the route that takes a CSV file; its body is not JSON."""

    @routes.post(
        "/questionnaires/{name}/outcomes",
        tags=["outcomes"],
        summary="Record the outcomes of a CSV file with the columns interview and value",
        **write,
    )
    async def import_outcomes(name: str, request: Request, confirm: bool = False) -> ImportOut:
        content = await _read_file(request)
        report = await run_in_threadpool(
            records.import_file, name, content, by=get_author(request), confirm=confirm
        )
        listed = report.errors[:MAX_ERRORS_LISTED]
        return {
            "stored": report.n_stored,
            "unchanged": report.n_unchanged,
            "empty": report.n_empty,
            "failed": len(report.errors),
            "errors": [{"line": error.line, "message": error.message} for error in listed],
        }


async def _read_file(request: Request) -> bytes:
    content_type = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if content_type != "multipart/form-data":
        raise HTTPException(415, f"the body must be multipart/form-data, got {content_type[:100]!r}.")
    async with request.form(max_files=1, max_fields=4) as form:
        file = form.get("file")
        if not isinstance(file, UploadFile):
            raise OutcomeFileError("there is no file. Send it as the part 'file', with a file name.")
        return await file.read()
