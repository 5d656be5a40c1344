"""The capability statement."""

from fhir.resources.R4B.capabilitystatement import CapabilityStatement

from eddi.service.fhir.capability_statement import describe_capabilities


def test_it_is_a_valid_resource_of_r4():
    for needs_keys in (True, False):
        statement = describe_capabilities("http://x/fhir", since="2026-01-01", needs_keys=needs_keys)
        CapabilityStatement.model_validate(statement)


def test_it_lists_the_operation_and_the_search_parameters():
    statement = describe_capabilities("http://x/fhir", since="2026-01-01", needs_keys=True)
    questionnaires, responses = statement["rest"][0]["resource"]
    assert [operation["name"] for operation in questionnaires["operation"]] == ["next-question"]
    assert {"name": "title", "type": "string"} in questionnaires["searchParam"]
    assert "interaction" not in responses


def test_it_says_whether_a_key_is_needed():
    statement = describe_capabilities("http://x/fhir", since="2026-01-01", needs_keys=True)
    assert "API key" in statement["rest"][0]["security"]["description"]
