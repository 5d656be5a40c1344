"""A route with simple parameters responds as FastAPI does, with less work."""

from typing import Annotated

import pytest
from fastapi import APIRouter, Depends, FastAPI, Header, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from fastapi.testclient import TestClient
from pydantic import BaseModel, ConfigDict

from eddi.service.web.problem_details import install_error_handlers
from eddi.service.web.requests.direct_route import DirectRoute
from eddi.service.web.requests.strict_json import JsonRoute

Tag = Annotated[str | None, Header(pattern=r"^[a-z]+$")]
Key = Annotated[str | None, Header(alias="Idempotency-Key", max_length=3)]


class Item(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)
    name: str
    count: int = 1


def build_client(route_class, *, dependencies=()):
    routes = APIRouter(route_class=route_class)

    @routes.post("/items/{key}", dependencies=list(dependencies))
    async def add(
        key: str, item: Item, request: Request, tag: Tag = None, name: Key = None
    ) -> JSONResponse:
        fields = {"key": key, "item": item.model_dump(), "tag": tag, "name": name}
        fields["method"] = request.method
        return JSONResponse(fields)

    @routes.post("/optional")
    async def add_optional(item: Item | None = None) -> JSONResponse:
        return JSONResponse(item and item.name)

    app = FastAPI()
    install_error_handlers(app)
    app.include_router(routes)
    return TestClient(app)


REQUESTS = {
    "valid": {"json": {"name": "a"}},
    "header": {"json": {"name": "a", "count": 3}, "headers": {"Tag": "b"}},
    "invalid header": {"json": {"name": "a"}, "headers": {"Tag": "B"}},
    "alias": {"json": {"name": "a"}, "headers": {"Idempotency-Key": "abc"}},
    "invalid alias": {"json": {"name": "a"}, "headers": {"Idempotency-Key": "abcd"}},
    "empty body": {},
    "no JSON": {"content": b"{", "headers": {"Content-Type": "application/json"}},
    "infinite": {"content": b'{"name": 1e999}', "headers": {"Content-Type": "application/json"}},
    "wrong type": {"json": {"name": 1}},
    "null": {"json": None},
    "list": {"json": [1]},
    "missing field": {"json": {"count": 1}},
    "unknown field": {"json": {"name": "a", "other": 1}},
    "other media type": {"content": b"name=a", "headers": {"Content-Type": "text/plain"}},
    "no media type": {"content": b"{}"},
    "charset": {
        "content": b'{"name": "a"}',
        "headers": {"Content-Type": "application/json; charset=utf-8"},
    },
}


@pytest.mark.parametrize("path", ["/items/x%2Fy", "/optional"])
@pytest.mark.parametrize("request_name", REQUESTS)
def test_responses_equal_those_of_fastapi(request_name, path):
    usual = build_client(JsonRoute).post(path, **REQUESTS[request_name])
    direct = build_client(DirectRoute).post(path, **REQUESTS[request_name])
    assert (direct.status_code, direct.json()) == (usual.status_code, usual.json())


def test_another_method_is_refused():
    assert build_client(DirectRoute).put("/optional").status_code == 405


def test_openapi_describes_the_route_like_any_other():
    descriptions = [build_client(kind).get("/openapi.json").json() for kind in (JsonRoute, DirectRoute)]
    assert descriptions[0] == descriptions[1]


def test_dependencies_are_checked():
    async def refuse():
        raise RequestValidationError([{"type": "missing", "loc": ("header", "key"), "msg": ""}])

    client = build_client(DirectRoute, dependencies=[Depends(refuse)])
    response = client.post("/items/x", json={"name": "a"})
    assert response.json()["detail"] == "'key' in the header is missing."
