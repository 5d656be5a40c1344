"""The FHIR routes: `$next-question`, discovery of questionnaires, and the capability statement."""

from collections.abc import Callable, Coroutine
from datetime import UTC, datetime
from typing import Annotated, Any

from fastapi import APIRouter, HTTPException, Query, Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse

from eddi.service.fhir.adaptive_form import AdaptiveForms
from eddi.service.fhir.capability_statement import SEARCH_PARAMETERS, describe_capabilities
from eddi.service.fhir.discovery import (
    Resource,
    Search,
    build_bundle,
    describe_questionnaire,
    find_questionnaire,
)
from eddi.service.fhir.operation_outcome import ISSUE_KEY, MalformedResourceError, ResourceError
from eddi.service.fhir.schemas import NextQuestionIn, ParametersIn
from eddi.service.fhir.vocabulary import MEDIA_TYPE, PATH
from eddi.service.interviews.interview_service import InterviewService
from eddi.service.web.api import INTERVIEWERS, READERS, require_role
from eddi.service.web.api_keys import Keys
from eddi.service.web.problem_details import explain_validation_error
from eddi.service.web.requests.strict_json import JsonRoute

MAX_PATH = 20  # parts of the FHIRPath of an error
MAX_PAGE = 100  # questionnaires on a page of search results
OTHER_PARAMETERS = {"title:contains", "_count", "_offset", "_format", "_pretty"}
OUTCOME = {
    "type": "object",
    "required": ["resourceType", "issue"],
    "properties": {"resourceType": {"const": "OperationOutcome"}, "issue": {"type": "array"}},
}
Values = Annotated[str, Query(max_length=2_000)]


class FhirResponse(JSONResponse):
    """A resource."""

    media_type = MEDIA_TYPE


class FhirRoute(JsonRoute):
    """A route whose errors name the element that is wrong."""

    media_types = (MEDIA_TYPE, "application/json")

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        handle = super().get_route_handler()

        async def handle_resource(request: Request) -> Response:
            try:
                return await handle(request)
            except RequestValidationError as error:
                malformed = _describe_validation_error(error)
                request.scope[ISSUE_KEY] = malformed.code, malformed.expression
                raise malformed from None
            except ResourceError as error:
                request.scope[ISSUE_KEY] = error.code, error.expression
                raise

        return handle_resource


def router(service: InterviewService, keys: Keys | None, *, is_stored: bool) -> APIRouter:
    """Return all FHIR routes; with ``keys``, requests need one, except for the capability statement."""
    routes = APIRouter(
        prefix=PATH, route_class=FhirRoute, tags=["fhir"], default_response_class=FhirResponse
    )
    _add_operation(routes, AdaptiveForms(service, is_stored=is_stored), keys)
    _add_discovery(routes, service, keys)
    since = datetime.now(UTC).isoformat(timespec="seconds")

    @routes.get(
        "/metadata", summary="The capability statement (FHIR R4)", responses=outcome_responses(429, 503)
    )
    async def metadata(request: Request) -> Resource:
        return describe_capabilities(_base_url(request), since=since, needs_keys=keys is not None)

    return routes


def _add_operation(routes: APIRouter, forms: AdaptiveForms, keys: Keys | None) -> None:
    @routes.post(
        "/Questionnaire/$next-question",
        summary="The next question of an adaptive form (SDC)",
        dependencies=require_role(keys, INTERVIEWERS),
        responses=outcome_responses(400, 401, 403, 404, 409, 412, 413, 415, 422, 429, 503, 507),
    )
    def next_question(request: Request, resource: NextQuestionIn) -> Resource:
        """Return the response with one more question, or completed, with the predictions as scores.

        Send a QuestionnaireResponse, or Parameters with one, whose contained Questionnaire names a
        questionnaire in `derivedFrom`. To begin, neither has items.
        """
        if isinstance(resource, ParametersIn):
            resource = resource.parameter[0].resource
        return forms.next_question(resource, _base_url(request))


def _add_discovery(routes: APIRouter, service: InterviewService, keys: Keys | None) -> None:
    common: dict[str, Any] = {
        "dependencies": require_role(keys, READERS),
        "responses": outcome_responses(400, 401, 403, 404, 409, 422, 429, 503),
    }

    @routes.get("/Questionnaire", summary="Search for questionnaires", **common)
    def search(
        request: Request,
        ids: Annotated[Values, Query(alias="_id")] = "",
        url: Values = "",
        version: Values = "",
        name: Values = "",
        title: Values = "",
        title_contains: Annotated[Values, Query(alias="title:contains")] = "",
        status: Values = "",
        experimental: Values = "",
        count: Annotated[int, Query(alias="_count", ge=0, le=10**6)] = MAX_PAGE,
        offset: Annotated[int, Query(alias="_offset", ge=0, le=10**6)] = 0,
    ) -> Resource:
        _check_parameters(request)
        criteria = Search(ids, url, version, name, title, title_contains, status, experimental)
        base_url = _base_url(request)
        resources = [describe_questionnaire(item, base_url) for item in service.catalogue.all()]
        found = [resource for resource in resources if criteria.matches(resource)]
        address, query = f"{base_url}/Questionnaire", dict(request.query_params)
        return build_bundle(found, address, query, count=min(count, MAX_PAGE), offset=offset)

    @routes.get("/Questionnaire/{identifier}", summary="Read a questionnaire", **common)
    def read(request: Request, identifier: str) -> Resource:
        questionnaire = find_questionnaire(service.catalogue, identifier)
        return describe_questionnaire(questionnaire, _base_url(request))


def outcome_responses(*statuses: int) -> dict[int | str, dict[str, Any]]:
    """Return the OpenAPI description of the outcomes that a route may respond with."""
    content = {MEDIA_TYPE: {"schema": OUTCOME}}
    return {status: {"description": "OperationOutcome", "content": content} for status in statuses}


def _base_url(request: Request) -> str:
    return f"{str(request.base_url).rstrip('/')}{PATH}"


def _check_parameters(request: Request) -> None:
    """Refuse unknown search parameters if the client asks for it; by default they are ignored."""
    if "handling=strict" not in request.headers.get("prefer", "").replace(" ", ""):
        return
    known = {*SEARCH_PARAMETERS, *OTHER_PARAMETERS}
    for name in request.query_params:
        if name not in known:
            raise HTTPException(
                400, f"there is no search parameter {name[:40]!r}. Use {', '.join(sorted(known))}."
            )


def _describe_validation_error(error: RequestValidationError) -> MalformedResourceError:
    details = error.errors()[0]
    source, *path = details["loc"]
    is_body = source == "body" and details["type"] != "json_invalid"
    shown = path[:MAX_PATH]
    expression = "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in shown)
    codes = {"missing": "required", "json_invalid": "structure", "extra_forbidden": "structure"}
    return MalformedResourceError(
        explain_validation_error(error),
        code=codes.get(details["type"], "value"),
        expression=expression.lstrip(".") if is_body else "",
    )
