"""Errors of FHIR routes as `OperationOutcome`."""

from typing import Any, ClassVar

from eddi.errors import EddiError
from eddi.service.fhir.vocabulary import PATH

ISSUE_KEY = "eddi.fhir.issue"  # in the scope of a request: the code and the element of its error
DEFAULT_CODE = "processing"
CODES_BY_STATUS = {
    400: "structure",
    401: "login",
    403: "forbidden",
    404: "not-found",
    405: "not-supported",
    406: "not-supported",
    409: "conflict",
    412: "conflict",
    413: "too-long",
    415: "not-supported",
    422: "business-rule",
    429: "throttled",
    500: "exception",
    503: "transient",
    507: "no-store",
}
"""Codes of the value set `issue-type`."""


class ResourceError(EddiError, ValueError):
    """A resource breaks a rule of its profile or of the questionnaire.

    Args:
        message: what is wrong, what is expected, and what to do.
        code: of the value set `issue-type`.
        expression: the FHIRPath of the element; empty for the whole resource.
    """

    status: ClassVar[int] = 422
    title: ClassVar[str] = "This resource cannot be used"

    def __init__(self, message: str, *, code: str = "business-rule", expression: str = "") -> None:
        super().__init__(message)
        self.code, self.expression = code, expression


class MalformedResourceError(ResourceError):
    """A body is not a resource that this address accepts."""

    status: ClassVar[int] = 400


def is_fhir_path(path: str) -> bool:
    """Whether an address of the server belongs to FHIR."""
    return path == PATH or path.startswith(f"{PATH}/")


def build_outcome(
    status: int, text: str, *, request: str = "", code: str = "", expression: str = ""
) -> dict[str, Any]:
    """Return an error as an OperationOutcome.

    Args:
        status: the HTTP status.
        text: what is wrong, what is expected, and what to do.
        request: the number of the request.
        code: of the value set `issue-type`; by default it follows from the status.
        expression: the FHIRPath of the element that is wrong.
    """
    issue: dict[str, Any] = {
        "severity": "fatal" if status == 500 else "error",
        "code": code or CODES_BY_STATUS.get(status, DEFAULT_CODE),
        "details": {"text": text},
    }
    if request:
        issue["diagnostics"] = request
    if expression:
        issue["expression"] = [expression]
    return {"resourceType": "OperationOutcome", "issue": [issue]}
