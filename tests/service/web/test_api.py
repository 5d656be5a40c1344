"""The HTTP API from the view of a client, on a real server."""

import json
from concurrent.futures import ThreadPoolExecutor

import pytest

from eddi import Interview
from eddi.interview.documents import describe, resume
from eddi.service.interviews.batcher import BusyError
from eddi.service.interviews.history import name_person
from eddi.store.base import StoreUnreachableError

PROBLEM_FIELDS = {"type", "title", "status", "detail", "instance"}


@pytest.fixture(scope="module", params=["memory", "sqlite"])
def stored(request, serving, tmp_path_factory):
    """A client of a server on each kind of store."""
    url = f"sqlite:///{tmp_path_factory.mktemp('store')}/answers.db"
    with serving(store="memory:" if request.param == "memory" else url) as client:
        yield client


def start(client, **body):
    response = client.post("/interviews", json=body)
    assert response.status_code == 201, response.text
    return response.json()


def answer(client, key, question, values, **headers):
    return client.post(
        f"/interviews/{key}/answers", json={"question": question, "values": values}, headers=headers
    )


def assert_problem(response, status, message):
    assert response.status_code == status, response.text
    assert response.headers["content-type"] == "application/problem+json"
    problem = response.json()
    assert set(problem) == PROBLEM_FIELDS
    assert problem["status"] == status
    assert message in problem["detail"]


def test_an_interview_from_start_to_end(stored):
    started = stored.post("/interviews")
    assert started.status_code == 201
    step = started.json()
    key, person = step["id"], step["person"]
    assert started.headers["location"] == f"/interviews/{key}"
    assert started.headers["etag"] == '"1"'
    assert {"name", "text", "cost", "reveals", "reward"} == set(step["question"])
    asked = []
    while step["question"] is not None:
        asked.append(step["question"]["name"])
        value = None if len(asked) % 2 else {"without": "declined"}
        answered = answer(stored, key, asked[-1], value)
        assert answered.status_code == 200
        step = answered.json()
    assert sorted(asked) == ["age", "colour", "pain", "smoker", "town", "visits", "weight"]
    assert set(step["prediction"]["stage"]) == {"value", "probabilities"}
    state = stored.get(f"/interviews/{key}").json()
    assert [given["question"] for given in state["answers"]] == asked
    assert state["id"] == key
    assert state["person"] == person == name_person(key)  # for its outcome
    assert state["target"] == ["stage"]
    assert {name: state[name] for name in step} == step


def test_undo_and_forget(stored):
    first = start(stored)
    path = f"/interviews/{first['id']}"
    assert answer(stored, first["id"], "town", "Bala").status_code == 200
    undone = stored.delete(f"{path}/answers/last")
    assert undone.status_code == 200
    assert undone.json() == {
        name: first[name] for name in ("question", "prediction", "rewards", "strategy")
    }
    assert_problem(stored.delete(f"{path}/answers/last"), 409, "there is no answer to undo")
    assert stored.delete(path).status_code == 204
    for response in (stored.get(path), stored.delete(path), answer(stored, first["id"], "age", 61)):
        assert_problem(response, 404, "there is no such interview")


def test_two_tabs_cannot_overwrite_each_other(stored):
    key = start(stored)["id"]
    tag = stored.get(f"/interviews/{key}").headers["etag"]
    assert answer(stored, key, "age", 61, **{"If-Match": tag}).headers["etag"] == '"2"'
    late = answer(stored, key, "smoker", "yes", **{"If-Match": tag})
    assert_problem(late, 412, "is at version 2, but this request is for version 1")
    assert_problem(answer(stored, key, "age", 62), 409, "'age' was already answered")
    assert answer(stored, key, "smoker", "yes", **{"If-Match": "*"}).status_code == 200
    assert_problem(
        stored.delete(f"/interviews/{key}/answers/last", headers={"If-Match": '"2"'}), 412, "3"
    )
    assert_problem(
        answer(stored, key, "town", None, **{"If-Match": "old"}), 422, "If-Match must be an ETag"
    )


def test_a_repeated_answer_has_the_same_response_and_is_stored_once(stored):
    key = start(stored)["id"]
    first, repeated = (answer(stored, key, "age", 61, **{"Idempotency-Key": "a-1"}) for _ in range(2))
    assert first.json() == repeated.json()
    assert first.headers["etag"] == repeated.headers["etag"] == '"2"'
    assert len(stored.get(f"/interviews/{key}").json()["answers"]) == 1
    other = answer(stored, key, "age", 62, **{"Idempotency-Key": "a-1"})
    assert_problem(other, 409, "already used for another request")
    assert_problem(
        answer(stored, key, "town", None, **{"Idempotency-Key": "no spaces"}), 422, "idempotency"
    )


def test_the_start_of_an_interview_can_be_repeated(stored):
    headers = {"Idempotency-Key": "5c1b54f6-6b7c-4d0c-9f43-b3a3c2f7f1aa"}
    first, repeated = (stored.post("/interviews", json={}, headers=headers) for _ in range(2))
    assert (first.status_code, repeated.status_code) == (201, 201)
    assert first.json() == repeated.json()
    assert first.headers["location"] == repeated.headers["location"]
    other = stored.post("/interviews", json={"target": "weight"}, headers=headers)
    assert_problem(other, 409, "already used for another request")
    other_client = {**headers, "Authorization": "Bearer another"}  # idempotency keys are per API key
    assert stored.post("/interviews", headers=other_client).json()["id"] != first.json()["id"]
    stored.delete(first.headers["location"])
    assert stored.post("/interviews", json={}, headers=headers).status_code == 404


@pytest.mark.parametrize("key", ["1", "short", "with spaces in the key"])
def test_an_idempotency_key_that_can_be_guessed_is_refused(client, key):
    refused = client.post("/interviews", headers={"Idempotency-Key": key})
    assert_problem(refused, 422, "'Idempotency-Key' in the header is not valid")


def test_concurrent_interviews_are_independent(stored, model):
    """The answers of fifty respondents are interleaved by eight threads."""
    keys = [start(stored)["id"] for _ in range(50)]
    steps = [(respondent, number) for number in range(3) for respondent in range(50)]

    def values_of(respondent):
        return {"age": 30 + respondent, "visits": respondent, "weight": 50 + respondent / 2}

    def answer_one(step):
        respondent, number = step
        question, value = list(values_of(respondent).items())[number]
        return answer(stored, keys[respondent], question, value)

    with ThreadPoolExecutor(8) as threads:
        list(threads.map(answer_one, steps))
    for respondent in range(0, 50, 7):
        state = stored.get(f"/interviews/{keys[respondent]}").json()
        values = [given["values"] for given in state["answers"]]
        assert {name: value for given in values for name, value in given.items()} == values_of(
            respondent
        )
        interview = Interview(model, "stage")
        for given in state["answers"]:
            interview.tell(given["question"], given["values"])
        assert state["question"]["name"] == interview.ask().name


def test_a_single_step_is_that_of_eddi_ask(client, model):
    for answers in ({}, {"age": 61}, {"age": 61, "town": None, "pain": {"without": "declined"}}):
        step = client.post("/ask", json={"answers": answers}).json()
        expected = json.loads(json.dumps(describe(resume(model, {"answers": answers}, "stage"))))
        reward = step["question"].pop("reward")
        assert step["question"] == expected["question"]
        assert reward == pytest.approx(expected["rewards"][step["question"]["name"]], abs=1e-5)
        assert step["rewards"] == pytest.approx(expected["rewards"], abs=1e-5)
        probabilities = step["prediction"]["stage"]["probabilities"]
        assert probabilities == pytest.approx(expected["prediction"]["stage"]["probabilities"], abs=1e-5)


def test_a_record_can_be_continued_for_one_step(client, model):
    interview = Interview(model, "weight")
    interview.tell("age", 61)
    step = client.post("/ask", json=interview.record.to_document())
    assert step.status_code == 200, step.text
    assert set(step.json()["prediction"]["weight"]) == {"mean", "sd", "interval"}
    assert step.json()["question"]["name"] == interview.ask().name


def test_the_target_can_be_chosen_for_each_interview(client):
    several = start(client, target=["weight", "stage"])
    assert list(several["prediction"]) == ["weight", "stage"]
    assert list(start(client, target="age")["prediction"]) == ["age"]
    assert_problem(client.post("/interviews", json={"target": "mood"}), 422, "the target 'mood' is not")


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ({}, "'question' in the body is missing. 'values' in the body is missing."),
        ({"question": "age"}, "'values' in the body is missing."),
        (
            {"question": "age", "values": 1, "extra": 2},
            "'extra' in the body is not expected. Leave it out.",
        ),
        (
            {"question": 3, "values": 1},
            "'question' in the body is not valid: input should be a valid string",
        ),
        ({"question": "x" * 501, "values": 1}, "at most 500 characters"),
        ([], "the body is not valid"),
        ({"question": "mood", "values": 1}, "there is no question 'mood'. Questions are: 'age'"),
        ({"question": "age", "values": "old"}, "'age' must be a number, got 'old'"),
        ({"question": "age", "values": [1, 2]}, "'age' takes 1 value(s) (age), got 2"),
        ({"question": "age", "values": {"weight": 3}}, "'age' reveals age, not 'weight'"),
        (
            {"question": "town", "values": "Paris"},
            "'town' must be one of Aber, Bala, Conwy, got 'Paris'",
        ),
        ({"question": "stage", "values": "late"}, "'stage' reveals the target of this interview"),
        (
            {"question": "age", "values": {"without": "lost"}},
            '"without" must be "unknown" or "declined"',
        ),
        ({"question": "age", "values": 1e300}, "'age' should be between"),
    ],
)
def test_an_invalid_answer_is_refused_with_an_explanation(client, body, message):
    key = start(client)["id"]
    assert_problem(client.post(f"/interviews/{key}/answers", json=body), 422, message)
    assert client.get(f"/interviews/{key}").json()["answers"] == []


def test_an_answer_out_of_range_is_accepted_with_a_confirmation(client):
    key = start(client)["id"]
    body = {"question": "age", "values": 1e300}
    refused = client.post(f"/interviews/{key}/answers", json=body)
    assert (refused.status_code, refused.json()["type"]) == (422, "urn:eddi:out-of-range")
    assert '"confirm": true' in refused.json()["detail"]
    accepted = client.post(f"/interviews/{key}/answers", json={**body, "confirm": True})
    assert accepted.status_code == 200
    assert client.get(f"/interviews/{key}").json()["answers"][0]["values"] == {"age": 1e300}
    stateless = {"answers": {"age": 1e300}}
    assert client.post("/ask", json=stateless).status_code == 422
    assert client.post("/ask", json={**stateless, "confirm": True}).status_code == 200


@pytest.mark.parametrize(
    "body",
    [
        b'{"answers": {"age": NaN}}',
        b'{"answers": {"age": Infinity}}',
        b'{"answers": {"age": 1e999}}',
        b'{"answers": {"age": ' + b"9" * 400 + b"}}",
        b'{"answers": {"town": "\\ud800"}}',
        b'{"answers": ' + b"[" * 20_000 + b"]" * 20_000 + b"}",
        b'{"answers": {"age": ' + b"9" * 5000 + b"}}",
    ],
)
def test_json_with_infinite_numbers_invalid_text_or_deep_nesting_is_refused(client, body):
    response = client.post("/ask", content=body, headers={"Content-Type": "application/json"})
    assert_problem(response, 422, "not plain JSON")


def test_a_body_that_is_not_json_is_refused(client):
    broken = client.post("/ask", content=b'{"answers"', headers={"Content-Type": "application/json"})
    assert_problem(broken, 422, "the body is not JSON")
    assert_problem(client.post("/ask", data={"answers": "1"}), 415, "must be application/json, got")
    assert_problem(client.post("/ask", content=b"{}"), 415, "got 'no Content-Type'")
    assert (
        client.post("/ask", content=b"\xff", headers={"Content-Type": "application/json"}).status_code
        == 422
    )


def test_unknown_addresses_are_problems_too(client):
    assert_problem(client.get("/nowhere"), 404, "described at /openapi.json")
    assert_problem(client.put("/ask"), 405, "does not accept this method")
    assert_problem(client.get("/interviews/0"), 404, "no such interview")


def test_an_internal_error_does_not_reveal_its_message(serving, monkeypatch):
    with serving() as client:
        key = start(client)["id"]
        monkeypatch.setattr("eddi.service.web.api.schemas.describe_next_step", lambda _: 1 / 0)
        response = answer(client, key, "town", "Bala")
        assert_problem(response, 500, "Something went wrong on our side.")
        assert "Zero" not in response.text
        assert response.headers["x-request-id"] in response.json()["instance"]
        assert client.get("/healthz").status_code == 200


def test_questionnaires_and_models_are_listed(client, questionnaire):
    [listed] = client.get("/questionnaires").json()
    assert listed == {
        "name": "people",
        "version": 1,
        "model": questionnaire.model_sha256,
        "target": ["stage"],
        "strategy": "information",
        "questions": 7,
        "owner": "",
    }
    [listed] = client.get("/models").json()
    assert (listed["sha256"], listed["target"]) == (questionnaire.model_sha256, "stage")
    model = client.get(f"/models/{listed['sha256']}").json()
    assert model["rows"] == 300
    assert model["variables"][2] == {"name": "smoker", "kind": "binary", "levels": ["no", "yes"]}


def test_the_service_reports_whether_it_is_alive_and_ready(client):
    assert client.get("/healthz").json() == {"status": "alive"}
    assert client.get("/readyz").json() == {"status": "ready"}


def test_a_server_without_its_store_is_alive_but_not_ready(serving):
    with serving() as client:
        client.app.state.service.store.check_write = _unreachable
        assert client.get("/healthz").status_code == 200
        response = client.get("/readyz")
        assert_problem(response, 503, "the store of answers does not respond")
        assert response.headers["retry-after"] == "1"


def test_a_busy_server_says_when_to_try_again(serving, monkeypatch):
    def refuse(*_):
        raise BusyError("the server is busy.")

    with serving() as client:
        monkeypatch.setattr(client.app.state.service.changes, "submit", refuse)
        response = client.post("/interviews")
        assert_problem(response, 503, "the server is busy")
        assert response.headers["retry-after"] == "1"
        assert list(client.app.state.service.store.streams("interview/")) == []


def _unreachable(*_, **__):
    raise StoreUnreachableError("the store is away.")


def test_openapi_describes_every_route_with_examples(client):
    document = client.get("/openapi.json").json()
    routes = {(method.upper(), path) for path, item in document["paths"].items() for method in item}
    assert routes == {
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
        ("DELETE", "/questionnaires/{name}"),
        ("PUT", "/questionnaires/{name}/access"),
        ("POST", "/questionnaires/{name}/outcomes"),
        ("PUT", "/questionnaires/{name}/outcomes/{person}"),
        ("DELETE", "/questionnaires/{name}/outcomes/{person}"),
        ("GET", "/accounts"),
        ("GET", "/activity"),
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
        ("GET", "/fhir/Questionnaire"),
        ("GET", "/fhir/Questionnaire/{identifier}"),
        ("POST", "/fhir/Questionnaire/$next-question"),
        ("GET", "/fhir/metadata"),
        ("GET", "/models"),
        ("GET", "/models/{digest}"),
        ("GET", "/models/{digest}/evaluation"),
        ("GET", "/models/{digest}/file"),
        ("GET", "/healthz"),
        ("GET", "/readyz"),
        ("GET", "/metrics"),
    }
    answers = document["paths"]["/interviews/{key}/answers"]["post"]
    assert set(answers["responses"]["422"]["content"]) == {"application/problem+json"}
    assert document["components"]["schemas"]["AnswerIn"]["properties"]["values"]["examples"]
    assert {"title", "detail"} <= set(document["components"]["schemas"]["Problem"]["properties"])
