"""The HTTP API: interviews, and one step of them without a memory."""

import json
from collections.abc import Callable, Coroutine
from typing import Annotated, Any, NoReturn

from fastapi import APIRouter, Depends, Header, HTTPException, Request, Response
from fastapi.concurrency import run_in_threadpool
from fastapi.routing import APIRoute
from fastapi.security import HTTPAuthorizationCredentials, HTTPBearer

from eddi.service.interviews.interview_service import Desk, Sitting
from eddi.service.interviews.metrics import CONTENT_TYPE
from eddi.service.web import problem_details, schemas
from eddi.service.web.api_keys import Keys, Role

INTERVIEWERS = frozenset({Role.RESPONDENT, Role.ANALYST})
READERS = frozenset({Role.RESPONDENT, Role.ANALYST, Role.OPERATOR})
ANALYSTS = frozenset({Role.ANALYST, Role.OPERATOR})
OPERATORS = frozenset({Role.OPERATOR})

IfMatch = Annotated[
    str | None,
    Header(
        description='The ETag the change was decided at, such as "3"; another is refused with 412.',
        max_length=100,
    ),
]
IdempotencyKey = Annotated[
    str | None,
    Header(
        description="Names this request: the same again changes nothing, and is answered the same.",
        pattern=r"^[A-Za-z0-9._:-]{1,100}$",
    ),
]
OpeningKey = Annotated[
    str | None,
    Header(
        alias="Idempotency-Key",
        description="Names this request: the same again begins no other interview. Make it random, such "
        "as a UUID: whoever sends it again is given the interview's id.",
        pattern=r"^[A-Za-z0-9._:-]{16,100}$",
    ),
]
bearer = HTTPBearer(auto_error=False, description="An API key, where the server needs one.")


class StrictRequest(Request):
    """A request whose JSON is finite numbers and sound text; all else would break far from here."""

    async def json(self) -> Any:
        try:
            document = json.loads(await self.body(), parse_constant=_not_finite, parse_int=_whole)
            json.dumps(document, allow_nan=False, ensure_ascii=False).encode()
        except json.JSONDecodeError:
            raise
        except (ValueError, OverflowError, RecursionError):
            raise HTTPException(
                422, "the body is not plain JSON: numbers must be finite, text valid, nesting shallow."
            ) from None
        return document


class JsonRoute(APIRoute):
    """A route that takes JSON only, and strictly."""

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        handle = super().get_route_handler()

        async def strictly(request: Request) -> Response:
            request = StrictRequest(request.scope, request.receive)
            kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
            if kind != "application/json" and request.method == "POST" and await request.body():
                raise HTTPException(
                    415, f"the body must be application/json, got {kind[:100] or 'no Content-Type'!r}."
                )
            return await handle(request)

        return strictly


def router(desk: Desk, keys: Keys | None) -> APIRouter:
    """All routes of the API; with ``keys``, only for who has one."""
    routes = APIRouter(route_class=JsonRoute)
    _add_interviews(routes, desk, keys)
    _add_catalogue(routes, desk, keys)
    _add_operation(routes, desk, keys)
    return routes


def _add_interviews(routes: APIRouter, desk: Desk, keys: Keys | None) -> None:
    refused = problem_details.responses(401, 403, 404, 409, 412, 413, 415, 422, 429, 503)
    common: dict[str, Any] = {
        "tags": ["interviews"],
        "dependencies": needs(keys, INTERVIEWERS),
        "responses": refused,
    }

    @routes.post("/interviews", status_code=201, summary="Begin an interview", **common)
    def begin(
        request: Request,
        response: Response,
        start: schemas.StartIn | None = None,
        opening_key: OpeningKey = None,
    ) -> schemas.Opened:
        start = start or schemas.StartIn()
        sitting = desk.open(
            target=start.target,
            questionnaire=start.questionnaire,
            request=_named(request, opening_key),
        )
        response.headers["Location"] = f"/interviews/{sitting.key}"
        _tag(response, sitting)
        return schemas.opened(sitting)

    @routes.get("/interviews/{key}", summary="An interview as it stands", **common)
    def read(key: str, response: Response) -> schemas.InterviewOut:
        sitting = desk.resume(key)
        _tag(response, sitting)
        return schemas.interview(sitting)

    @routes.post("/interviews/{key}/answers", summary="Answer a question", **common)
    def add_answer(
        key: str,
        answer: schemas.AnswerIn,
        response: Response,
        if_match: IfMatch = None,
        idempotency_key: IdempotencyKey = None,
    ) -> schemas.Turn:
        sitting = desk.tell(
            key, answer.question, answer.values, after=version_of(if_match), request=idempotency_key
        )
        _tag(response, sitting)
        return schemas.turn(sitting)

    @routes.delete("/interviews/{key}/answers/last", summary="Take the last answer back", **common)
    def undo(
        key: str, response: Response, if_match: IfMatch = None, idempotency_key: IdempotencyKey = None
    ) -> schemas.Turn:
        sitting = desk.undo(key, after=version_of(if_match), request=idempotency_key)
        _tag(response, sitting)
        return schemas.turn(sitting)

    @routes.delete("/interviews/{key}", status_code=204, summary="Forget an interview", **common)
    def forget(key: str) -> None:
        desk.forget(key)

    @routes.post("/ask", summary="One step, remembering nothing", **common)
    def ask(so_far: schemas.AskIn) -> schemas.Turn:
        return schemas.turn(desk.ask(so_far.model_dump(exclude_unset=True)))


def _add_catalogue(routes: APIRouter, desk: Desk, keys: Keys | None) -> None:
    refused = problem_details.responses(401, 403, 429)

    @routes.get(
        "/questionnaires",
        tags=["questionnaires"],
        summary="What can be answered here",
        dependencies=needs(keys, READERS),
        responses=refused,
    )
    def questionnaires() -> list[schemas.QuestionnaireOut]:
        return [schemas.questionnaire(one) for one in desk.catalogue.all()]


def _add_operation(routes: APIRouter, desk: Desk, keys: Keys | None) -> None:
    @routes.get("/healthz", tags=["operation"], summary="Whether the server lives")
    async def healthz() -> dict[str, str]:
        return {"status": "alive"}

    @routes.get(
        "/readyz",
        tags=["operation"],
        summary="Whether the store and the model answer",
        responses=problem_details.responses(503),
    )
    def readyz() -> dict[str, str]:
        desk.check()
        return {"status": "ready"}

    @routes.get(
        "/metrics",
        tags=["operation"],
        summary="Counts and times, for Prometheus",
        dependencies=needs(keys, OPERATORS),
        responses={**problem_details.responses(401, 403, 429), 200: {"content": {"text/plain": {}}}},
        response_class=Response,
    )
    async def metrics() -> Response:
        return Response(desk.metrics.text(), media_type=CONTENT_TYPE)


def needs(keys: Keys | None, roles: frozenset[Role]) -> list[Any]:
    """What lets only keys of these roles through; nothing where there are no keys."""
    if keys is None:
        return []

    async def check(given: Annotated[HTTPAuthorizationCredentials | None, Depends(bearer)]) -> None:
        await run_in_threadpool(keys.check, given.credentials if given else "", roles)

    return [Depends(check)]


def _tag(response: Response, sitting: Sitting) -> None:
    response.headers["ETag"] = f'"{sitting.version}"'


def version_of(if_match: str | None) -> int | None:
    """The version that an If-Match header names; None for any."""
    if if_match is None or if_match.strip() == "*":
        return None
    text = if_match.strip().removeprefix("W/").strip('"')
    if not (text.isascii() and text.isdecimal() and len(text) < 10):
        raise HTTPException(
            422, f'If-Match must be an ETag of this interview, such as "3", got {if_match!r}.'
        )
    return int(text)


def _named(request: Request, opening_key: str | None) -> str | None:
    """The name of a request that begins an interview: that of one API key says nothing to another."""
    return opening_key and f"{request.headers.get('authorization', '')} {opening_key}"


def _not_finite(word: str) -> NoReturn:
    raise ValueError(word)


def _whole(digits: str) -> int:
    """A whole number, if a real one can stand for it."""
    number = int(digits)
    float(number)  # raises where there is none so large
    return number
