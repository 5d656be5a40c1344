"""Routes with few, simple parameters, which are read without resolving dependencies.

Answers are most of the requests to a server, and FastAPI spends more time on their parameters than on
anything else. These routes are described in OpenAPI like all others, and have the same errors.
"""

import inspect
import json
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Annotated, Any, get_args, get_origin, get_type_hints

from fastapi import Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.params import Header
from pydantic import TypeAdapter, ValidationError
from starlette.types import Receive, Scope, Send

from eddi.service.web.middleware.raw_headers import get_header
from eddi.service.web.requests.strict_json import JsonRoute, StrictRequest, check_media_type

Endpoint = Callable[..., Awaitable[Response]]


@dataclass(frozen=True)
class _HeaderParameter:
    """A header that a request may have."""

    name: str  # of the parameter
    header: str
    adapter: TypeAdapter[Any]

    def read(self, scope: Scope) -> str | None:
        text = get_header(scope, self.header.lower().encode())
        return None if text is None else _validate(self.adapter, text, "header", self.header)


class DirectRoute(JsonRoute):
    """A route to a coroutine that takes the request, parts of the path, optional headers and a body.

    If it has dependencies, such as the check of an API key, FastAPI serves it as any other route.
    """

    def __init__(self, path: str, endpoint: Endpoint, **options: Any) -> None:
        super().__init__(path, endpoint, **options)
        self._headers: list[_HeaderParameter] = []
        self._request_name = self._body_name = ""
        for name, hint in get_type_hints(endpoint, include_extras=True).items():
            self._add_parameter(name, hint)
        parameters = inspect.signature(endpoint).parameters
        self._is_body_optional = bool(self._body_name) and parameters[self._body_name].default is None

    def _add_parameter(self, name: str, hint: Any) -> None:
        if name == "return" or name in self.param_convertors:
            return
        header = _find_header(hint)
        if header is not None:
            header_name = header.alias or name.replace("_", "-")
            self._headers.append(_HeaderParameter(name, header_name, TypeAdapter(hint)))
        elif hint is Request:
            self._request_name = name
        else:
            self._body_name, self._body = name, TypeAdapter(hint)

    async def handle(self, scope: Scope, receive: Receive, send: Send) -> None:
        if self.dependencies or scope["method"] not in (self.methods or ()):
            return await super().handle(scope, receive, send)
        request = StrictRequest(scope, receive)
        await check_media_type(request, self.media_types)
        values = {**scope["path_params"], **{h.name: h.read(scope) for h in self._headers}}
        if self._request_name:
            values[self._request_name] = request
        if self._body_name:
            values[self._body_name] = await self._read_body(request)
        response: Response = await self.endpoint(**values)
        return await response(scope, receive, send)

    async def _read_body(self, request: StrictRequest) -> Any:
        if not await request.body():
            if self._is_body_optional:
                return None
            raise RequestValidationError(
                [{"type": "missing", "loc": ("body",), "msg": "Field required"}]
            )
        try:
            document = await request.json()
        except json.JSONDecodeError as error:
            details = {"type": "json_invalid", "loc": ("body", error.pos), "ctx": {"error": error.msg}}
            raise RequestValidationError([{**details, "msg": "JSON decode error"}]) from None
        return _validate(self._body, document, "body")


def _find_header(hint: Any) -> Header | None:
    """Return the description of a header in a type hint."""
    metadata = get_args(hint)[1:] if get_origin(hint) is Annotated else ()
    return next((item for item in metadata if isinstance(item, Header)), None)


def _validate(adapter: TypeAdapter[Any], value: Any, *location: str) -> Any:
    try:
        return adapter.validate_python(value, from_attributes=True)  # as FastAPI does
    except ValidationError as error:
        errors = error.errors(include_url=False)
        raise RequestValidationError(
            [{**details, "loc": (*location, *details["loc"])} for details in errors]
        ) from None
