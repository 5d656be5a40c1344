"""Shows errors of FHIR routes as an OperationOutcome."""

import json

from starlette.datastructures import MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from eddi.service.fhir.operation_outcome import ISSUE_KEY, build_outcome, is_fhir_path
from eddi.service.fhir.vocabulary import MEDIA_TYPE
from eddi.service.web import problem_details


class FhirErrors:
    """Replaces problem details by an OperationOutcome at the addresses of FHIR."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or not is_fhir_path(scope["path"]):
            return await self.app(scope, receive, send)
        start: Message | None = None  # held back until the body is known

        async def send_outcome(message: Message) -> None:
            nonlocal start
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                if headers.get("content-type") == problem_details.CONTENT_TYPE:
                    start = message
                    return
            elif start is not None:  # problem details are sent as one body message
                body = outcome_body(message["body"], *scope.get(ISSUE_KEY, ()))
                headers = MutableHeaders(scope=start)
                headers["Content-Type"] = MEDIA_TYPE
                headers["Content-Length"] = f"{len(body)}"
                await send(start)
                message = {**message, "body": body}
            await send(message)

        return await self.app(scope, receive, send_outcome)


def outcome_body(problem: bytes, code: str = "", expression: str = "") -> bytes:
    """Return the body of an OperationOutcome for the body of a problem."""
    fields = json.loads(problem)
    outcome = build_outcome(
        fields["status"],
        fields["detail"],
        request=fields["instance"],
        code=code,
        expression=expression,
    )
    return json.dumps(outcome, ensure_ascii=False).encode()
