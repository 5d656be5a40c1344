"""The FHIR routes over HTTP: media types, errors, keys and search."""

import pytest
from fhir.resources.R4B.bundle import Bundle

from eddi.service.web.api_keys import Keys, Role
from eddi_benchmarks.service.fhir_client import ADDRESS, begin, send

PEOPLE = "http://example.org/fhir/Questionnaire/people"


def assert_outcome(response, status, code, message=""):
    assert response.status_code == status, response.text
    assert response.headers["content-type"] == "application/fhir+json"
    assert int(response.headers["content-length"]) == len(response.content)
    [issue] = response.json()["issue"]
    assert issue["code"] == code
    assert message in issue["details"]["text"]
    return issue


def test_a_search_finds_the_questionnaire(client):
    response = client.get("/fhir/Questionnaire", params={"title:contains": "tage", "_count": 5})
    assert response.headers["content-type"] == "application/fhir+json"
    bundle = response.json()
    Bundle.model_validate(bundle)
    assert [entry["resource"]["id"] for entry in bundle["entry"]] == ["people"]
    assert client.get("/fhir/Questionnaire", params={"_id": "x"}).json()["total"] == 0


def test_a_questionnaire_is_read_by_its_id(client):
    [entry] = client.get("/fhir/Questionnaire").json()["entry"]
    assert client.get("/fhir/Questionnaire/people").json() == entry["resource"]
    assert_outcome(client.get("/fhir/Questionnaire/nobody"), 404, "not-found", "no questionnaire")


def test_unknown_search_parameters_are_ignored_unless_handling_is_strict(client):
    assert client.get("/fhir/Questionnaire", params={"colour": "red"}).status_code == 200
    strict = client.get(
        "/fhir/Questionnaire", params={"colour": "red"}, headers={"Prefer": "handling=strict"}
    )
    assert_outcome(strict, 400, "structure", "no search parameter 'colour'")


def test_the_capability_statement_is_served(client):
    statement = client.get("/fhir/metadata").json()
    assert statement["implementation"]["url"] == f"{client.base_url}/fhir"


@pytest.mark.parametrize("media_type", ["application/fhir+json", "application/json"])
def test_both_media_types_are_accepted(client, media_type):
    headers = {"Content-Type": f"{media_type}; charset=utf-8"}
    assert client.post(ADDRESS, json=begin(PEOPLE), headers=headers).status_code == 200


def test_another_media_type_is_refused(client):
    refused = client.post(ADDRESS, content=b"<a/>", headers={"Content-Type": "application/fhir+xml"})
    assert_outcome(refused, 415, "not-supported", "the body must be application/fhir+json")


@pytest.mark.parametrize(
    ("body", "status", "code", "message"),
    [
        (b"{", 400, "structure", "the body is not JSON"),
        (b"[]", 400, "value", ""),
        (b'{"resourceType": "Patient"}', 400, "value", ""),
        (b'{"resourceType": "Parameters", "parameter": []}', 400, "value", ""),
        (b'{"resourceType": "Parameters"}', 400, "required", "is missing"),
        (b'{"a": NaN}', 422, "business-rule", "numbers must be finite"),
    ],
)
def test_a_body_that_is_no_resource_is_refused(client, body, status, code, message):
    headers = {"Content-Type": "application/fhir+json"}
    assert_outcome(client.post(ADDRESS, content=body, headers=headers), status, code, message)


def test_the_outcome_names_the_element_that_is_wrong(client):
    issue = assert_outcome(send(client, {**begin(PEOPLE), "surprise": 1}), 400, "structure")
    assert issue["expression"] == ["QuestionnaireResponse.surprise"]


def test_a_browser_gets_an_outcome_too(client):
    refused = client.get("/fhir/Patient", headers={"Accept": "text/html"})
    assert_outcome(refused, 404, "not-found")


def test_another_method_is_refused(client):
    assert_outcome(client.put("/fhir/Questionnaire/people"), 405, "not-supported")


def test_a_request_to_another_host_is_refused(client):
    refused = client.get("/fhir/metadata", headers={"Host": "evil.example"})
    assert_outcome(refused, 421, "processing")


def test_a_resource_that_is_too_large_is_refused(client):
    headers = {"Content-Type": "application/fhir+json"}
    assert_outcome(client.post(ADDRESS, content=b"x" * 1_000_001, headers=headers), 413, "too-long")


def test_a_key_is_needed_where_the_api_needs_one(serving):
    with serving(keys="required") as client:
        assert client.get("/fhir/metadata").status_code == 200
        assert_outcome(send(client, begin(PEOPLE)), 401, "login")
        assert_outcome(client.get("/fhir/Questionnaire"), 401, "login")
        keys = Keys(client.app.state.service.store)
        operator, respondent = (keys.issue(role, days=1) for role in (Role.OPERATOR, Role.RESPONDENT))
        client.headers["Authorization"] = f"Bearer {operator}"
        assert_outcome(send(client, begin(PEOPLE)), 403, "forbidden")
        client.headers["Authorization"] = f"Bearer {respondent}"
        assert send(client, begin(PEOPLE)).status_code == 200


def test_a_client_that_sends_too_many_requests_is_refused(serving):
    with serving(rate=0.5, burst=1) as client:
        client.get("/fhir/metadata")
        refused = client.get("/fhir/metadata")
        assert_outcome(refused, 429, "throttled")
        assert "retry-after" in refused.headers


def test_an_unexpected_error_reveals_nothing(client, monkeypatch):
    monkeypatch.setattr("eddi.service.fhir.routes.find_questionnaire", lambda *_: 1 / 0)
    issue = assert_outcome(client.get("/fhir/Questionnaire/people"), 500, "exception")
    assert issue["severity"] == "fatal"
    assert "Zero" not in issue["details"]["text"]
