"""The HTTP API for respondents' programs: interviews, single steps, questionnaires and operation."""

import asyncio
from functools import partial
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Header, HTTPException, Request, Response
from fastapi.concurrency import run_in_threadpool
from fastapi.responses import JSONResponse
from fastapi.security import HTTPAuthorizationCredentials, HTTPBearer

from eddi.service.interviews.change_queue import PendingChange
from eddi.service.interviews.interview_service import InterviewService
from eddi.service.interviews.interview_view import InterviewView
from eddi.service.interviews.metrics import CONTENT_TYPE
from eddi.service.interviews.readiness import Readiness
from eddi.service.web import schemas
from eddi.service.web.api_keys import PUBLISHERS, SCOPE_KEY, Keys, Role
from eddi.service.web.problem_details import openapi_responses
from eddi.service.web.requests.direct_route import DirectRoute
from eddi.service.web.requests.strict_json import JsonRoute

INTERVIEWERS = PUBLISHERS | {Role.RESPONDENT}
READERS = frozenset(Role)
ANALYSTS = PUBLISHERS | {Role.OPERATOR}
OPERATORS = frozenset({Role.OPERATOR})

IfMatch = Annotated[
    str | None,
    Header(
        description='The ETag that the change is based on, such as "3". If it is outdated, the response '
        "is 412.",
        max_length=100,
    ),
]
IdempotencyKey = Annotated[
    str | None,
    Header(
        description="A name of this request. If it is repeated, nothing changes, and the response is "
        "the same.",
        pattern=r"^[A-Za-z0-9._:-]{1,100}$",
    ),
]
StartIdempotencyKey = Annotated[
    str | None,
    Header(
        alias="Idempotency-Key",
        description="A name of this request. If it is repeated, no second interview is started. Use a "
        "random name, such as a UUID: whoever repeats it receives the interview's id.",
        pattern=r"^[A-Za-z0-9._:-]{16,100}$",
    ),
]
bearer = HTTPBearer(auto_error=False, description="An API key, if the server requires one.")


def change_router(service: InterviewService, keys: Keys | None) -> APIRouter:
    """Return the routes that change interviews, most frequent first; with ``keys``, requests need one."""
    routes = APIRouter(route_class=DirectRoute)
    _add_answer_routes(routes, service, keys)
    _add_start_route(routes, service, keys)
    return routes


def router(service: InterviewService, keys: Keys | None) -> APIRouter:
    """Return all other routes of the API; with ``keys``, requests need one."""
    routes = APIRouter(route_class=JsonRoute)
    _add_interview_routes(routes, service, keys)
    _add_questionnaire_routes(routes, service, keys)
    _add_operation_routes(routes, service, keys)
    return routes


def _interview_options(keys: Keys | None) -> dict[str, Any]:
    """Return the options that all routes of interviews share."""
    return {
        "tags": ["interviews"],
        "dependencies": require_role(keys, INTERVIEWERS),
        "responses": openapi_responses(401, 403, 404, 409, 412, 413, 415, 422, 429, 503),
    }


def _add_start_route(routes: APIRouter, service: InterviewService, keys: Keys | None) -> None:
    @routes.post(
        "/interviews",
        status_code=201,
        summary="Start an interview",
        response_model=schemas.StartedOut,
        **_interview_options(keys),
    )
    async def begin(
        request: Request,
        start: schemas.StartIn | None = None,
        idempotency_key: StartIdempotencyKey = None,
    ) -> JSONResponse:
        start = start or schemas.StartIn()
        target, name = start.target, start.questionnaire
        scoped_key = _scope_to_api_key(idempotency_key, request)
        if scoped_key is None and not service.is_limited(name):
            view = await _wait(service.queue_start(target=target, questionnaire=name))
        else:
            begin_once = partial(service.start, target=target, questionnaire=name)
            view = await run_in_threadpool(
                begin_once, invitation=start.invitation or "", idempotency_key=scoped_key
            )
        headers = {"Location": f"/interviews/{view.key}", "ETag": _etag(view)}
        return JSONResponse(schemas.describe_start(view), 201, headers)


def _add_interview_routes(routes: APIRouter, service: InterviewService, keys: Keys | None) -> None:
    common = _interview_options(keys)

    @routes.get("/interviews/{key}", summary="Read an interview", **common)
    def read(key: str, response: Response) -> schemas.InterviewOut:
        view = service.resume(key)
        response.headers["ETag"] = _etag(view)
        return schemas.describe_interview(view)

    @routes.delete("/interviews/{key}", status_code=204, summary="Forget an interview", **common)
    def forget(key: str, request: Request) -> None:
        service.forget(key, by=request.scope.get(SCOPE_KEY, ""))

    @routes.post("/ask", summary="One step, without storing anything", **common)
    def ask(so_far: schemas.AskIn) -> schemas.NextStepOut:
        return schemas.describe_next_step(service.ask(so_far.model_dump(exclude_unset=True)))


def _add_answer_routes(routes: APIRouter, service: InterviewService, keys: Keys | None) -> None:
    common = _interview_options(keys)

    @routes.post(
        "/interviews/{key}/answers",
        summary="Answer a question",
        response_model=schemas.NextStepOut,
        **common,
    )
    async def add_answer(
        key: str,
        answer: schemas.AnswerIn,
        if_match: IfMatch = None,
        idempotency_key: IdempotencyKey = None,
    ) -> JSONResponse:
        change = service.queue_answer(
            key,
            answer.question,
            answer.values,
            confirm=answer.confirm,
            after=parse_if_match(if_match),
            idempotency_key=idempotency_key,
        )
        return _next_step_response(await _wait(change))

    @routes.delete(
        "/interviews/{key}/answers/last",
        summary="Undo the last answer",
        response_model=schemas.NextStepOut,
        **common,
    )
    async def undo(
        key: str, if_match: IfMatch = None, idempotency_key: IdempotencyKey = None
    ) -> JSONResponse:
        after = parse_if_match(if_match)
        change = service.queue_undo(key, after=after, idempotency_key=idempotency_key)
        return _next_step_response(await _wait(change))


def _add_questionnaire_routes(routes: APIRouter, service: InterviewService, keys: Keys | None) -> None:
    @routes.get(
        "/questionnaires",
        tags=["questionnaires"],
        summary="List the questionnaires",
        dependencies=require_role(keys, READERS),
        responses=openapi_responses(401, 403, 429),
    )
    def questionnaires() -> list[schemas.QuestionnaireOut]:
        return [
            schemas.describe_questionnaire(questionnaire) for questionnaire in service.catalogue.all()
        ]


def _add_operation_routes(routes: APIRouter, service: InterviewService, keys: Keys | None) -> None:
    readiness = Readiness(service.check)

    @routes.get("/healthz", tags=["operation"], summary="Whether the server is alive")
    async def healthz() -> dict[str, str]:
        return {"status": "alive"}

    @routes.get(
        "/readyz",
        tags=["operation"],
        summary="Whether the store can be written and the model responds",
        responses=openapi_responses(503, 507),
    )
    async def readyz() -> dict[str, str]:
        await readiness.check()
        return {"status": "ready"}

    @routes.get(
        "/metrics",
        tags=["operation"],
        summary="Metrics for Prometheus",
        dependencies=require_role(keys, OPERATORS),
        responses={**openapi_responses(401, 403, 429), 200: {"content": {"text/plain": {}}}},
        response_class=Response,
    )
    async def metrics() -> Response:
        return Response(service.metrics.to_prometheus(), media_type=CONTENT_TYPE)


def require_role(keys: Keys | None, roles: frozenset[Role]) -> list[Any]:
    """Return the dependencies of a route that needs a key with one of these roles.

    Without ``keys``, every request is allowed.
    """
    if keys is None:
        return []

    async def check_key(
        request: Request,
        credentials: Annotated[HTTPAuthorizationCredentials | None, Depends(bearer)],
    ) -> None:
        text = credentials.credentials if credentials else ""
        request.scope[SCOPE_KEY] = (await run_in_threadpool(keys.check, text, roles)).name

    return [Depends(check_key)]


def parse_if_match(if_match: str | None) -> int | None:
    """Return the version in an If-Match header; None for any version."""
    if if_match is None or if_match.strip() == "*":
        return None
    text = if_match.strip().removeprefix("W/").strip('"')
    if not (text.isascii() and text.isdecimal() and len(text) < 10):
        raise HTTPException(
            422, f'If-Match must be an ETag of this interview, such as "3", got {if_match!r}.'
        )
    return int(text)


async def _wait(change: PendingChange) -> InterviewView:
    """Wait for a change without occupying a thread."""
    return await asyncio.wrap_future(change.result)


def _next_step_response(view: InterviewView) -> JSONResponse:
    return JSONResponse(schemas.describe_next_step(view), headers={"ETag": _etag(view)})


def _etag(view: InterviewView) -> str:
    return f'"{view.version}"'


def _scope_to_api_key(idempotency_key: str | None, request: Request) -> str | None:
    """Return the idempotency key with the API key, so that clients cannot use each other's."""
    return idempotency_key and f"{request.headers.get('authorization', '')} {idempotency_key}"
