"""The server never fails, whatever a client sends: requests generated from its OpenAPI description."""

import hypothesis
import pytest
import schemathesis
from hypothesis.strategies import sampled_from
from schemathesis import GenerationMode
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi.checks import content_type_conformance, response_schema_conformance

CHECKS = [not_a_server_error, content_type_conformance, response_schema_conformance]
QUESTIONS = [
    "",
    "age",
    "visits",
    "smoker",
    "pain",
    "town",
    "weight",
    "colour",
]  # "" for the generated text
ROUTES = [
    ("POST", "/interviews"),
    ("GET", "/interviews/{key}"),
    ("POST", "/interviews/{key}/answers"),
    ("DELETE", "/interviews/{key}/answers/last"),
    ("DELETE", "/interviews/{key}"),
    ("POST", "/ask"),
    ("GET", "/questionnaires"),
    ("GET", "/questionnaires/{name}"),
    ("POST", "/questionnaires/{name}/versions"),
    ("POST", "/questionnaires/{name}/rollback"),
    ("PUT", "/questionnaires/{name}/settings"),
    ("GET", "/questionnaires/{name}/answers"),
    ("PUT", "/questionnaires/{name}/access"),
    ("POST", "/questionnaires/{name}/outcomes"),
    ("PUT", "/questionnaires/{name}/outcomes/{person}"),
    ("DELETE", "/questionnaires/{name}/outcomes/{person}"),
    ("GET", "/activity"),
    ("GET", "/accounts"),
    ("DELETE", "/questionnaires/{name}"),
    ("GET", "/tables"),
    ("POST", "/tables"),
    ("GET", "/tables/{key}"),
    ("PUT", "/tables/{key}/schema"),
    ("POST", "/tables/{key}/codebook"),
    ("DELETE", "/tables/{key}"),
    ("GET", "/jobs"),
    ("POST", "/jobs"),
    ("GET", "/jobs/{key}"),
    ("DELETE", "/jobs/{key}"),
    ("POST", "/jobs/{key}/resume"),
    ("GET", "/models"),
    ("GET", "/models/{digest}"),
    ("GET", "/models/{digest}/evaluation"),
    ("GET", "/models/{digest}/file"),
    ("GET", "/fhir/Questionnaire"),
    ("GET", "/fhir/Questionnaire/{identifier}"),
    ("POST", "/fhir/Questionnaire/$next-question"),
    ("GET", "/fhir/metadata"),
    ("GET", "/healthz"),
    ("GET", "/readyz"),
    ("GET", "/metrics"),
]

WITHOUT_BODY = [("POST", "/jobs/{key}/resume")]
NEXT_QUESTION = ("POST", "/fhir/Questionnaire/$next-question")
N_FHIR = 4  # examples: resources take long to generate; `fhir/test_mutations.py` has many invalid ones


@pytest.fixture(scope="module")
def openapi(client):
    return schemathesis.openapi.from_url(str(client.base_url.join("/openapi.json")))


def send_requests(
    client, openapi, method, path, *, n_examples, to_interview=False, mode=GenerationMode.POSITIVE
):
    """Send generated requests to a route; with ``to_interview``, to an interview that exists."""

    @hypothesis.given(
        case=openapi[path][method].as_strategy(generation_mode=mode), question=sampled_from(QUESTIONS)
    )
    @hypothesis.settings(
        max_examples=n_examples,
        deadline=None,
        derandomize=True,
        database=None,
        suppress_health_check=list(hypothesis.HealthCheck),
    )
    def send(case, question):
        if to_interview:
            case.path_parameters = {"key": client.post("/interviews").json()["id"]}
            if question and isinstance(case.body, dict) and "question" in case.body:
                case.body["question"] = question
        case.call_and_validate(checks=CHECKS)

    send()


def test_all_routes_are_tested(openapi):
    operations = [operation.ok() for operation in openapi.get_all_operations()]
    assert {(operation.method.upper(), operation.path) for operation in operations} == set(ROUTES)


@pytest.mark.parametrize(
    ("method", "path"),
    [pytest.param(*route, marks=[pytest.mark.slow] * (route == NEXT_QUESTION)) for route in ROUTES],
)
def test_no_request_makes_the_server_fail(client, openapi, method, path):
    n_examples = 25 if method == "POST" else 10
    n_examples = N_FHIR if path.startswith("/fhir") else n_examples
    send_requests(client, openapi, method, path, n_examples=n_examples)


@pytest.mark.parametrize(
    ("method", "path"), [route for route in ROUTES if "/interviews/{key}" in route[1]]
)
def test_no_request_to_a_real_interview_makes_the_server_fail(client, openapi, method, path):
    send_requests(
        client, openapi, method, path, n_examples=60 if method == "POST" else 10, to_interview=True
    )


@pytest.mark.parametrize(
    ("method", "path"),
    [
        route
        for route in ROUTES
        if route[0] in ("POST", "PUT") and route not in (*WITHOUT_BODY, NEXT_QUESTION)
    ],
)
def test_no_invalid_request_makes_the_server_fail(client, openapi, method, path):
    send_requests(client, openapi, method, path, n_examples=25, mode=GenerationMode.NEGATIVE)
