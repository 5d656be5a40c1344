"""Responses that break a rule are refused with an OperationOutcome. `make bench` sends 1,000 of them."""

from eddi_benchmarks.faults.fhir_mutations import send_mutations


def test_no_mutated_resource_makes_the_server_fail(client):
    outcomes = send_mutations(client, "http://example.org/fhir/Questionnaire/people", 90, seed=1)
    assert outcomes.failures == []
    assert sum(outcomes.to_document()["counts"]["values"].values()) == 15
