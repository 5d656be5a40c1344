"""Limits the size of requests."""

import re

from fastapi import HTTPException
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from eddi.service.fhir.operation_outcome import is_fhir_path
from eddi.service.web.middleware.raw_headers import get_header
from eddi.service.web.middleware.request_id import SCOPE_KEY
from eddi.service.web.problem_details import problem_response

LIMIT_KEY = "eddi.body_limit"  # in the scope of a request: the maximum size of its body in bytes
UPLOAD_PATHS = ("/tables", "/analyst/tables")
# The schema of a table, and the texts of a questionnaire, for analysts who have signed in.
LARGE_FORMS = ("/analyst/tables/", "/analyst/questionnaires/")
OUTCOMES_PATH = re.compile(r"/questionnaires/[^/]+/outcomes")  # takes a CSV file
MAX_LARGE_FORM = 4_000_000  # bytes: a form with a hundred columns and long texts, or 100,000 outcomes
MAX_RESOURCE = 1_000_000  # bytes: a FHIR response contains all questions so far, with their options


class BodyLimit:
    """Refuses a request whose body is too large, by its declared length and while it is received.

    Args:
        app: the application.
        max_body: maximum size in bytes.
        max_upload: maximum size in bytes of an analyst's table.
    """

    def __init__(self, app: ASGIApp, *, max_body: int, max_upload: int) -> None:
        self.app, self.max_body, self.max_upload = app, max_body, max_upload

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            return await self.app(scope, receive, send)
        limit = self._limit(scope["path"])
        scope[LIMIT_KEY] = limit  # the error page names it
        if _declared_length(scope) > limit:
            refusal = problem_response(scope[SCOPE_KEY], 413, _explain(limit))
            return await refusal(scope, receive, send)
        n_bytes = 0

        async def receive_limited() -> Message:
            nonlocal n_bytes
            message = await receive()
            n_bytes += len(message.get("body", b""))
            if n_bytes > limit:
                raise HTTPException(413, _explain(limit))
            return message

        return await self.app(scope, receive_limited, send)

    def _limit(self, path: str) -> int:
        if path in UPLOAD_PATHS:
            return self.max_upload
        if is_fhir_path(path):
            return MAX_RESOURCE
        is_large = path.startswith(LARGE_FORMS) or OUTCOMES_PATH.fullmatch(path)
        return MAX_LARGE_FORM if is_large else self.max_body


def _declared_length(scope: Scope) -> int:
    text = get_header(scope, b"content-length") or "0"
    return int(text) if text.isdecimal() else 0


def _explain(limit: int) -> str:
    return (
        f"the request is larger than {limit:,} bytes, the maximum at this address "
        "(EDDI_MAX_BODY, EDDI_MAX_UPLOAD)."
    )
