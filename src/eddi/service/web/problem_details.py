"""One shape for everything that goes wrong over HTTP: problem+json (RFC 9457)."""

from http import HTTPStatus
from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from pydantic import BaseModel, Field
from starlette.exceptions import HTTPException
from starlette.responses import JSONResponse
from starlette.routing import Match

from eddi.errors import AnswerError, EddiError, SchemaError, TableError, TargetError
from eddi.service.analyst.data.blob_store import BlobNotFoundError
from eddi.service.analyst.data.tables import TableMovedError, TableNotFoundError
from eddi.service.analyst.jobs.job_queue import JobConflictError, JobNotFoundError
from eddi.service.analyst.models.model_viewer import RowNotFoundError
from eddi.service.analyst.models.publishing import PublishingError, QuestionnaireNotFoundError
from eddi.service.analyst.models.trained_model import ModelNotFoundError
from eddi.service.analyst.workshop import JobSpecError
from eddi.service.interviews.batcher import BusyError
from eddi.service.interviews.interview_service import (
    InterviewConflictError,
    InterviewMovedError,
    InterviewNotFoundError,
    QuestionnaireMissingError,
)
from eddi.service.interviews.questionnaire import NothingPublishedError
from eddi.service.web.api_keys import KeyForbiddenError, KeyMissingError
from eddi.service.web.form_tokens import ForeignFormError
from eddi.store.base import StoreBusyError, StoreUnreachableError, StreamForgottenError

CONTENT_TYPE = "application/problem+json"
SECONDS_TO_WAIT = 1  # before a busy server is asked again
N_FAULTS_SHOWN = 5
METHODS = ("GET", "POST", "PUT", "PATCH", "DELETE")

STATUSES: dict[type[EddiError], int] = {
    KeyMissingError: 401,
    KeyForbiddenError: 403,
    ForeignFormError: 403,
    InterviewNotFoundError: 404,
    TableNotFoundError: 404,
    JobNotFoundError: 404,
    ModelNotFoundError: 404,
    RowNotFoundError: 404,
    QuestionnaireNotFoundError: 404,
    BlobNotFoundError: 404,
    StreamForgottenError: 404,
    InterviewConflictError: 409,
    QuestionnaireMissingError: 409,
    NothingPublishedError: 409,
    JobConflictError: 409,
    TableMovedError: 412,
    InterviewMovedError: 412,
    AnswerError: 422,
    TargetError: 422,
    TableError: 422,
    SchemaError: 422,
    JobSpecError: 422,
    PublishingError: 422,
    BusyError: 503,
    StoreBusyError: 503,
    StoreUnreachableError: 503,
}
OUR_FAULT = (
    "Something went wrong on our side. The request was not carried out; its number is in 'instance'."
)
WORDS = {
    404: "There is nothing at this address. The API is described at /openapi.json.",
    405: "This address does not take this method. The API is described at /openapi.json.",
}


class Problem(BaseModel):
    """What was wrong, what is expected, and what to do."""

    type: str = Field(
        description="What kind of problem this is, for programs.", examples=["urn:eddi:answer"]
    )
    title: str = Field(description="The HTTP status in words.", examples=["Unprocessable Content"])
    status: int = Field(description="The HTTP status.", examples=[422])
    detail: str = Field(
        description="What was wrong here, what is expected, and what to do, for people.",
        examples=["'age' must be a number, got 'old'."],
    )
    instance: str = Field(
        description="This request; the log has it too.", examples=["urn:eddi:request:5f0c"]
    )


def answer(
    request_id: str, status: int, detail: str, *, kind: str = "", headers: dict[str, str] | None = None
) -> JSONResponse:
    """A problem as a response."""
    title = HTTPStatus(status).phrase
    problem = Problem(
        type=f"urn:eddi:{kind or title.lower().replace(' ', '-')}",
        title=title,
        status=status,
        detail=detail,
        instance=f"urn:eddi:request:{request_id}",
    )
    return JSONResponse(problem.model_dump(), status, headers, media_type=CONTENT_TYPE)


def install(app: FastAPI) -> None:
    """Have ``app`` answer with problems, whatever goes wrong."""
    app.add_exception_handler(EddiError, _of_ours)
    app.add_exception_handler(HTTPException, _of_http)
    app.add_exception_handler(RequestValidationError, _of_shape)
    described = app.openapi

    def with_problems() -> dict[str, Any]:
        document = described()
        document["components"]["schemas"]["Problem"] = Problem.model_json_schema()
        return document

    app.openapi = with_problems  # type: ignore[method-assign]


def responses(*statuses: int) -> dict[int | str, dict[str, Any]]:
    """What OpenAPI says of the problems that a route may answer with."""
    content = {CONTENT_TYPE: {"schema": {"$ref": "#/components/schemas/Problem"}}}
    return {
        status: {"description": HTTPStatus(status).phrase, "content": content} for status in statuses
    }


def request_id(request: Request) -> str:
    """The number of a request, which the guard gave it."""
    return str(request.scope.get("eddi.request", "unknown"))


def status_of(error: EddiError) -> int:
    """The HTTP status of one of our errors; 500 where it is not the client's doing."""
    return next((status for kind, status in STATUSES.items() if isinstance(error, kind)), 500)


async def _of_ours(request: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, EddiError)  # noqa: S101  # as registered
    status = status_of(error)
    if status == 500:
        raise error  # the guard logs it
    headers = {401: {"WWW-Authenticate": "Bearer"}, 503: {"Retry-After": f"{SECONDS_TO_WAIT}"}}.get(
        status
    )
    kind = type(error).__name__.removesuffix("Error").lower()
    return answer(request_id(request), status, str(error), kind=kind, headers=headers)


async def _of_http(request: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, HTTPException)  # noqa: S101  # as registered
    plain = error.detail == HTTPStatus(error.status_code).phrase
    detail = WORDS.get(error.status_code, error.detail) if plain else error.detail
    headers = dict(error.headers) if error.headers else {}
    if error.status_code == HTTPStatus.METHOD_NOT_ALLOWED:
        headers["Allow"] = _allowed(request)
    return answer(request_id(request), error.status_code, detail, headers=headers)


def _allowed(request: Request) -> str:
    """Every method that the address takes; the router itself names those of one route only."""
    routes = request.app.router.routes
    taken = [
        method
        for method in METHODS
        if any(route.matches({**request.scope, "method": method})[0] is Match.FULL for route in routes)
    ]
    return ", ".join([*taken, "HEAD"] if "GET" in taken else taken)


async def _of_shape(request: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, RequestValidationError)  # noqa: S101  # as registered
    faults = [_fault(one) for one in error.errors()[:N_FAULTS_SHOWN]]
    return answer(request_id(request), 422, " ".join(faults), kind="shape")


def _fault(found: Any) -> str:
    """One thing that pydantic found, as a sentence."""
    place = ".".join(str(part) for part in found["loc"][1:])
    what = f"{place!r} in the {found['loc'][0]}" if place else f"the {found['loc'][0]}"
    if found["type"] == "missing":
        return f"{what} is missing."
    if found["type"] == "extra_forbidden":
        return f"{what} is not expected. Leave it out."
    if found["type"] == "json_invalid":
        return f"the body is not JSON ({found['ctx']['error']} at character {place})."
    return f"{what} does not fit: {found['msg'][:1].lower()}{found['msg'][1:]}."
