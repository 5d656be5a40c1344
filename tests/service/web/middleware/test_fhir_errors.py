"""Problem details at FHIR addresses become an OperationOutcome."""

import json

from eddi.service.web.middleware.fhir_errors import outcome_body
from eddi.service.web.problem_details import problem_response


def test_a_problem_becomes_an_outcome():
    problem = problem_response("r1", 422, "'age' must be a number.")
    outcome = json.loads(outcome_body(bytes(problem.body), "value", "QuestionnaireResponse.item[0]"))
    assert outcome["issue"] == [
        {
            "severity": "error",
            "code": "value",
            "details": {"text": "'age' must be a number."},
            "diagnostics": "urn:eddi:request:r1",
            "expression": ["QuestionnaireResponse.item[0]"],
        }
    ]


def test_other_addresses_keep_problem_details(client):
    assert client.get("/fhirx").headers["content-type"] == "application/problem+json"


def test_responses_without_a_problem_are_unchanged(client):
    assert client.get("/fhir/metadata").json()["resourceType"] == "CapabilityStatement"
