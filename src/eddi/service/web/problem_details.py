"""Errors of the HTTP API as problem details (RFC 9457, `application/problem+json`)."""

import errno
import logging
from http import HTTPStatus
from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from pydantic import BaseModel, Field
from starlette.exceptions import HTTPException
from starlette.responses import JSONResponse
from starlette.routing import Match

from eddi.errors import EddiError
from eddi.service import logs

_log = logging.getLogger(__name__)

CONTENT_TYPE = "application/problem+json"
RETRY_AFTER_S = 1  # before a client asks a busy server again
MAX_ERRORS_SHOWN = 5  # of an invalid request
METHODS = ("GET", "POST", "PUT", "PATCH", "DELETE")
HEADERS = {401: {"WWW-Authenticate": "Bearer"}, 503: {"Retry-After": f"{RETRY_AFTER_S}"}}
HEADERS[429] = {"Retry-After": "60"}  # of a key whose secret was guessed too often
INTERNAL_ERROR = (
    "Something went wrong on our side. The request was not carried out; its number is in 'instance'."
)
FULL_DISK_ERRORS = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
FULL_DISK = (
    "the disk of the server has no space left. Nothing of this request was saved. Try again later; the "
    "operator has to free space."
)
DETAILS = {
    404: "There is nothing at this address. The API is described at /openapi.json.",
    405: "This address does not accept this method. The API is described at /openapi.json.",
}


class Problem(BaseModel):
    """What is wrong, what is expected, and what to do."""

    type: str = Field(description="The kind of problem, for programs.", examples=["urn:eddi:answer"])
    title: str = Field(description="The HTTP status in words.", examples=["Unprocessable Content"])
    status: int = Field(description="The HTTP status.", examples=[422])
    detail: str = Field(
        description="What is wrong, what is expected, and what to do, for people.",
        examples=["'age' must be a number, got 'old'."],
    )
    instance: str = Field(
        description="The number of this request, which is also in the log.",
        examples=["urn:eddi:request:5f0c"],
    )


def problem_response(
    request_id: str, status: int, detail: str, *, kind: str = "", headers: dict[str, str] | None = None
) -> JSONResponse:
    """Return a problem as an HTTP response."""
    title = HTTPStatus(status).phrase
    problem = Problem(
        type=f"urn:eddi:{kind or title.lower().replace(' ', '-')}",
        title=title,
        status=status,
        detail=detail,
        instance=f"urn:eddi:request:{request_id}",
    )
    return JSONResponse(problem.model_dump(), status, headers, media_type=CONTENT_TYPE)


def install_error_handlers(app: FastAPI) -> None:
    """Make ``app`` respond to every error with a problem, and describe problems in its OpenAPI."""
    app.add_exception_handler(EddiError, _handle_eddi_error)
    app.add_exception_handler(HTTPException, _handle_http_error)
    app.add_exception_handler(RequestValidationError, _handle_validation_error)
    app.add_exception_handler(OSError, _handle_os_error)
    openapi = app.openapi

    def openapi_with_problems() -> dict[str, Any]:
        document = openapi()
        document["components"]["schemas"]["Problem"] = Problem.model_json_schema()
        return document

    app.openapi = openapi_with_problems  # type: ignore[method-assign]


def openapi_responses(*statuses: int) -> dict[int | str, dict[str, Any]]:
    """Return the OpenAPI description of the problems that a route may respond with."""
    content = {CONTENT_TYPE: {"schema": {"$ref": "#/components/schemas/Problem"}}}
    return {
        status: {"description": HTTPStatus(status).phrase, "content": content} for status in statuses
    }


def get_request_id(request: Request) -> str:
    """Return the number of a request, which the middleware assigned."""
    return str(request.scope.get("eddi.request", "unknown"))


def public_text(error: EddiError, request_id: str) -> str:
    """Return the message of an error for clients; one that names files or servers goes to the log."""
    if not error.public_message:
        return str(error)
    _log.warning("refused", extra={logs.FIELDS: {"request": request_id, "reason": str(error)}})
    return error.public_message


async def _handle_eddi_error(request: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, EddiError)  # noqa: S101  # as registered
    if error.status == HTTPStatus.INTERNAL_SERVER_ERROR:
        raise error  # the middleware logs it
    kind = error.problem_type or type(error).__name__.removesuffix("Error").lower()
    headers = HEADERS.get(error.status)
    request_id = get_request_id(request)
    return problem_response(
        request_id, error.status, public_text(error, request_id), kind=kind, headers=headers
    )


async def _handle_http_error(request: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, HTTPException)  # noqa: S101  # as registered
    has_default_detail = error.detail == HTTPStatus(error.status_code).phrase
    detail = DETAILS.get(error.status_code, error.detail) if has_default_detail else error.detail
    headers = dict(error.headers) if error.headers else {}
    if error.status_code == HTTPStatus.METHOD_NOT_ALLOWED:
        headers["Allow"] = _allowed_methods(request)
    return problem_response(get_request_id(request), error.status_code, detail, headers=headers)


async def _handle_os_error(request: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, OSError)  # noqa: S101  # as registered
    if error.errno not in FULL_DISK_ERRORS:
        raise error  # the middleware logs it
    return problem_response(get_request_id(request), 507, FULL_DISK, kind="full-disk")


def _allowed_methods(request: Request) -> str:
    """Return the methods of all routes at this address; the router itself reports only one route."""
    routes = request.app.router.routes
    methods = [
        method
        for method in METHODS
        if any(route.matches({**request.scope, "method": method})[0] is Match.FULL for route in routes)
    ]
    return ", ".join([*methods, "HEAD"] if "GET" in methods else methods)


async def _handle_validation_error(request: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, RequestValidationError)  # noqa: S101  # as registered
    return problem_response(get_request_id(request), 422, explain_validation_error(error), kind="shape")


def explain_validation_error(error: RequestValidationError) -> str:
    """Return the first errors of an invalid request as sentences."""
    return " ".join(_explain(details) for details in error.errors()[:MAX_ERRORS_SHOWN])


def _explain(details: Any) -> str:
    """Return an error of pydantic as a sentence."""
    source, *path = details["loc"]
    name = ".".join(map(str, path))
    field = f"{name!r} in the {source}" if name else f"the {source}"
    if details["type"] == "missing":
        return f"{field} is missing."
    if details["type"] == "extra_forbidden":
        return f"{field} is not expected. Leave it out."
    if details["type"] == "json_invalid":
        return f"the body is not JSON ({details['ctx']['error']} at character {name})."
    return f"{field} is not valid: {details['msg'][:1].lower()}{details['msg'][1:]}."
