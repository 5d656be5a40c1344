"""The capability statement: what the FHIR routes of the server can do."""

from typing import Any

from eddi import __version__
from eddi.service.fhir.vocabulary import (
    ADAPTIVE_RESPONSE,
    ADAPTIVE_SEARCH,
    FHIR_VERSION,
    GUIDE,
    MEDIA_TYPE,
    NEXT_QUESTION,
)

SEARCH_PARAMETERS = {
    "_id": "token",
    "url": "uri",
    "version": "token",
    "name": "string",
    "title": "string",
    "status": "token",
    "experimental": "token",
}
"""Types of the search parameters of Questionnaire, by name."""


def describe_capabilities(base_url: str, *, since: str, needs_keys: bool) -> dict[str, Any]:
    """Return the capability statement of a server.

    Args:
        base_url: its FHIR address.
        since: when it started (ISO 8601).
        needs_keys: whether requests need a key.
    """
    security = "Send an API key as a bearer token." if needs_keys else "No key is needed."
    return {
        "resourceType": "CapabilityStatement",
        "status": "active",
        "date": since,
        "kind": "instance",
        "software": {"name": "EDDI", "version": __version__},
        "implementation": {
            "description": "Adaptive questionnaires that ask the most informative next question",
            "url": base_url,
        },
        "fhirVersion": FHIR_VERSION,
        "format": [MEDIA_TYPE, "json"],
        "implementationGuide": [GUIDE],
        "rest": [
            {
                "mode": "server",
                "security": {"description": security},
                "resource": [_questionnaires(), _responses()],
            }
        ],
    }


def _questionnaires() -> dict[str, Any]:
    return {
        "type": "Questionnaire",
        "supportedProfile": [ADAPTIVE_SEARCH],
        "interaction": [{"code": "read"}, {"code": "search-type"}],
        "searchParam": [{"name": name, "type": kind} for name, kind in SEARCH_PARAMETERS.items()],
        "operation": [{"name": "next-question", "definition": NEXT_QUESTION}],
    }


def _responses() -> dict[str, Any]:
    return {
        "type": "QuestionnaireResponse",
        "supportedProfile": [ADAPTIVE_RESPONSE],
        "documentation": "Accepted and returned by the operation next-question; there are no interactions.",
    }
