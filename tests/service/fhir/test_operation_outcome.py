"""Errors as OperationOutcome."""

import pytest
from fhir.resources.R4B.operationoutcome import OperationOutcome

from eddi.service.fhir.operation_outcome import CODES_BY_STATUS, build_outcome, is_fhir_path


@pytest.mark.parametrize("status", [*CODES_BY_STATUS, 418])
def test_every_status_has_a_valid_outcome(status):
    outcome = build_outcome(status, "wrong", request="urn:eddi:request:1")
    OperationOutcome.model_validate(outcome)
    assert outcome["issue"][0]["code"] == CODES_BY_STATUS.get(status, "processing")


def test_the_element_that_is_wrong_is_named():
    [issue] = build_outcome(422, "wrong", code="value", expression="Patient.name")["issue"]
    assert (issue["code"], issue["expression"]) == ("value", ["Patient.name"])


@pytest.mark.parametrize(
    ("path", "is_fhir"), [("/fhir", True), ("/fhir/metadata", True), ("/fhirx", False), ("/", False)]
)
def test_only_addresses_of_fhir_have_outcomes(path, is_fhir):
    assert is_fhir_path(path) is is_fhir
