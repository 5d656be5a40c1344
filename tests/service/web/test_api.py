"""The HTTP API as a client sees it, on a real server."""

import json
from concurrent.futures import ThreadPoolExecutor

import pytest

from eddi import Interview
from eddi.interview.documents import describe, resume
from eddi.service.interviews.batcher import BusyError
from eddi.store.base import StoreUnreachableError

PROBLEM = {"type", "title", "status", "detail", "instance"}


@pytest.fixture(scope="module", params=["memory", "sqlite"])
def stored(request, serving, tmp_path_factory):
    """A client of a server on each kind of store."""
    url = f"sqlite:///{tmp_path_factory.mktemp('store')}/answers.db"
    with serving(store="memory:" if request.param == "memory" else url) as client:
        yield client


def begun(client, **body):
    response = client.post("/interviews", json=body)
    assert response.status_code == 201, response.text
    return response.json()


def tell(client, key, question, values, **headers):
    return client.post(
        f"/interviews/{key}/answers", json={"question": question, "values": values}, headers=headers
    )


def assert_problem(response, status, words):
    assert response.status_code == status, response.text
    assert response.headers["content-type"] == "application/problem+json"
    problem = response.json()
    assert set(problem) == PROBLEM
    assert problem["status"] == status
    assert words in problem["detail"]


def test_an_interview_from_beginning_to_end(stored):
    opened = stored.post("/interviews")
    assert opened.status_code == 201
    turn = opened.json()
    key = turn["id"]
    assert opened.headers["location"] == f"/interviews/{key}"
    assert opened.headers["etag"] == '"1"'
    assert {"name", "text", "cost", "reveals", "reward"} == set(turn["question"])
    asked = []
    while turn["question"] is not None:
        asked.append(turn["question"]["name"])
        told = tell(stored, key, asked[-1], None if len(asked) % 2 else {"without": "declined"})
        assert told.status_code == 200
        turn = told.json()
    assert sorted(asked) == ["age", "colour", "pain", "smoker", "town", "visits", "weight"]
    assert set(turn["prediction"]["stage"]) == {"value", "probabilities"}
    state = stored.get(f"/interviews/{key}").json()
    assert [answer["question"] for answer in state["answers"]] == asked
    assert state["id"] == key
    assert state["target"] == ["stage"]
    assert {name: state[name] for name in turn} == turn


def test_undo_and_forget(stored):
    first = begun(stored)
    path = f"/interviews/{first['id']}"
    assert tell(stored, first["id"], "town", "Bala").status_code == 200
    back = stored.delete(f"{path}/answers/last")
    assert back.status_code == 200
    assert back.json() == {name: first[name] for name in ("question", "prediction", "rewards")}
    assert_problem(stored.delete(f"{path}/answers/last"), 409, "there is no answer to undo")
    assert stored.delete(path).status_code == 204
    for response in (stored.get(path), stored.delete(path), tell(stored, first["id"], "age", 61)):
        assert_problem(response, 404, "there is no such interview")


def test_two_tabs_cannot_overwrite_each_other(stored):
    key = begun(stored)["id"]
    tag = stored.get(f"/interviews/{key}").headers["etag"]
    assert tell(stored, key, "age", 61, **{"If-Match": tag}).headers["etag"] == '"2"'
    late = tell(stored, key, "smoker", "yes", **{"If-Match": tag})
    assert_problem(late, 412, "it is at version 2, and this was meant for version 1")
    assert_problem(tell(stored, key, "age", 62), 409, "'age' was answered already")
    assert tell(stored, key, "smoker", "yes", **{"If-Match": "*"}).status_code == 200
    assert_problem(
        stored.delete(f"/interviews/{key}/answers/last", headers={"If-Match": '"2"'}), 412, "3"
    )
    assert_problem(
        tell(stored, key, "town", None, **{"If-Match": "old"}), 422, "If-Match must be an ETag"
    )


def test_a_retry_is_answered_the_same_and_kept_once(stored):
    key = begun(stored)["id"]
    first, again = (tell(stored, key, "age", 61, **{"Idempotency-Key": "a-1"}) for _ in range(2))
    assert first.json() == again.json()
    assert first.headers["etag"] == again.headers["etag"] == '"2"'
    assert len(stored.get(f"/interviews/{key}").json()["answers"]) == 1
    other = tell(stored, key, "age", 62, **{"Idempotency-Key": "a-1"})
    assert_problem(other, 409, "used for another request already")
    assert_problem(
        tell(stored, key, "town", None, **{"Idempotency-Key": "no spaces"}), 422, "idempotency"
    )


def test_beginning_can_be_tried_again(stored):
    name = {"Idempotency-Key": "5c1b54f6-6b7c-4d0c-9f43-b3a3c2f7f1aa"}
    first, again = (stored.post("/interviews", json={}, headers=name) for _ in range(2))
    assert (first.status_code, again.status_code) == (201, 201)
    assert first.json() == again.json()
    assert first.headers["location"] == again.headers["location"]
    other = stored.post("/interviews", json={"target": "weight"}, headers=name)
    assert_problem(other, 409, "used for another request already")
    stranger = {**name, "Authorization": "Bearer another"}  # whose names are their own
    assert stored.post("/interviews", headers=stranger).json()["id"] != first.json()["id"]
    stored.delete(first.headers["location"])
    assert stored.post("/interviews", json={}, headers=name).status_code == 404


@pytest.mark.parametrize("name", ["1", "short", "with spaces in the name"])
def test_a_name_that_others_might_guess_is_refused(client, name):
    refused = client.post("/interviews", headers={"Idempotency-Key": name})
    assert_problem(refused, 422, "'Idempotency-Key' in the header does not fit")


def test_many_interviews_at_once_stay_unmixed(stored, model):
    """Fifty people, their answers interleaved at random by eight threads."""
    keys = [begun(stored)["id"] for _ in range(50)]
    steps = [(place, turn) for turn in range(3) for place in range(50)]

    def said(place):
        return {"age": 30 + place, "visits": place, "weight": 50 + place / 2}

    with ThreadPoolExecutor(8) as people:
        list(
            people.map(
                lambda step: tell(stored, keys[step[0]], *list(said(step[0]).items())[step[1]]), steps
            )
        )
    for place in range(0, 50, 7):
        state = stored.get(f"/interviews/{keys[place]}").json()
        kept = {name: value for answer in state["answers"] for name, value in answer["values"].items()}
        assert kept == said(place)
        alone = Interview(model, "stage")
        for answer in state["answers"]:
            alone.tell(answer["question"], answer["values"])
        assert state["question"]["name"] == alone.ask().name


def test_one_step_is_that_of_eddi_ask(client, model):
    for answers in ({}, {"age": 61}, {"age": 61, "town": None, "pain": {"without": "declined"}}):
        step = client.post("/ask", json={"answers": answers}).json()
        expected = json.loads(json.dumps(describe(resume(model, {"answers": answers}, "stage"))))
        reward = step["question"].pop("reward")
        assert step["question"] == expected["question"]
        assert reward == pytest.approx(expected["rewards"][step["question"]["name"]], abs=1e-5)
        assert step["rewards"] == pytest.approx(expected["rewards"], abs=1e-5)
        chances = step["prediction"]["stage"]["probabilities"]
        assert chances == pytest.approx(expected["prediction"]["stage"]["probabilities"], abs=1e-5)


def test_a_record_can_be_taken_a_step_further(client, model):
    interview = Interview(model, "weight")
    interview.tell("age", 61)
    step = client.post("/ask", json=interview.record.to_document())
    assert step.status_code == 200, step.text
    assert set(step.json()["prediction"]["weight"]) == {"mean", "sd", "interval"}
    assert step.json()["question"]["name"] == interview.ask().name


def test_a_target_is_chosen_for_each_interview(client):
    several = begun(client, target=["weight", "stage"])
    assert list(several["prediction"]) == ["weight", "stage"]
    assert list(begun(client, target="age")["prediction"]) == ["age"]
    assert_problem(client.post("/interviews", json={"target": "mood"}), 422, "the target 'mood' is not")


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ({}, "'question' in the body is missing. 'values' in the body is missing."),
        ({"question": "age"}, "'values' in the body is missing."),
        (
            {"question": "age", "values": 1, "extra": 2},
            "'extra' in the body is not expected. Leave it out.",
        ),
        (
            {"question": 3, "values": 1},
            "'question' in the body does not fit: input should be a valid string",
        ),
        ({"question": "x" * 501, "values": 1}, "at most 500 characters"),
        ([], "the body does not fit"),
        ({"question": "mood", "values": 1}, "there is no question 'mood'. Questions are: 'age'"),
        ({"question": "age", "values": "old"}, "'age' must be a number, got 'old'"),
        ({"question": "age", "values": [1, 2]}, "'age' takes 1 value(s) (age), got 2"),
        ({"question": "age", "values": {"weight": 3}}, "'age' reveals age, not 'weight'"),
        (
            {"question": "town", "values": "Paris"},
            "'town' must be one of Aber, Bala, Conwy, got 'Paris'",
        ),
        ({"question": "stage", "values": "late"}, "'stage' tells what this interview wants to know"),
        (
            {"question": "age", "values": {"without": "lost"}},
            '"without" must be "unknown" or "declined"',
        ),
        ({"question": "age", "values": 1e300}, "'age' is 1e+300, so far from all the model has learned"),
    ],
)
def test_what_does_not_fit_is_refused_in_our_words(client, body, words):
    key = begun(client)["id"]
    assert_problem(client.post(f"/interviews/{key}/answers", json=body), 422, words)
    assert client.get(f"/interviews/{key}").json()["answers"] == []


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
def test_json_that_is_not_finite_sound_and_shallow_is_refused(client, body):
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


def test_what_is_not_there_is_a_problem_too(client):
    assert_problem(client.get("/nowhere"), 404, "described at /openapi.json")
    assert_problem(client.put("/ask"), 405, "does not take this method")
    assert_problem(client.get("/interviews/0"), 404, "no such interview")


def test_what_goes_wrong_on_our_side_says_nothing_of_it(serving, monkeypatch):
    with serving() as client:
        key = begun(client)["id"]
        monkeypatch.setattr("eddi.service.web.api.wire.turn", lambda _: 1 / 0)
        response = tell(client, key, "town", "Bala")
        assert_problem(response, 500, "Something went wrong on our side.")
        assert "Zero" not in response.text
        assert response.headers["x-request-id"] in response.json()["instance"]
        assert client.get("/healthz").status_code == 200


def test_questionnaires_and_models_are_listed(client, questionnaire):
    [listed] = client.get("/questionnaires").json()
    assert listed == {
        "name": "people",
        "version": 1,
        "model": questionnaire.seal,
        "target": ["stage"],
        "questions": 7,
    }
    [listed] = client.get("/models").json()
    assert (listed["sha256"], listed["target"]) == (questionnaire.seal, "stage")
    model = client.get(f"/models/{listed['sha256']}").json()
    assert model["rows"] == 300
    assert model["variables"][2] == {"name": "smoker", "kind": "binary", "levels": ["no", "yes"]}


def test_the_service_says_whether_it_lives_and_is_ready(client):
    assert client.get("/healthz").json() == {"status": "alive"}
    assert client.get("/readyz").json() == {"status": "ready"}


def test_a_server_without_its_store_lives_but_is_not_ready(serving):
    with serving() as client:
        client.app.state.desk.store.read = _unreachable
        assert client.get("/healthz").status_code == 200
        response = client.get("/readyz")
        assert_problem(response, 503, "the store is away")
        assert response.headers["retry-after"] == "1"


def test_a_server_that_is_too_busy_says_when_to_come_again(serving, monkeypatch):
    def full(*_):
        raise BusyError("too many people are being interviewed just now.")

    with serving() as client:
        monkeypatch.setattr(client.app.state.desk.batcher, "standing", full)
        response = client.post("/interviews")
        assert_problem(response, 503, "too many people")
        assert response.headers["retry-after"] == "1"
        assert list(client.app.state.desk.store.streams("interview/")) == []


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
        ("GET", "/tables"),
        ("POST", "/tables"),
        ("GET", "/tables/{key}"),
        ("PUT", "/tables/{key}/schema"),
        ("DELETE", "/tables/{key}"),
        ("GET", "/jobs"),
        ("POST", "/jobs"),
        ("GET", "/jobs/{key}"),
        ("DELETE", "/jobs/{key}"),
        ("POST", "/jobs/{key}/resume"),
        ("GET", "/models"),
        ("GET", "/models/{seal}"),
        ("GET", "/models/{seal}/evaluation"),
        ("GET", "/models/{seal}/file"),
        ("GET", "/healthz"),
        ("GET", "/readyz"),
        ("GET", "/metrics"),
    }
    answers = document["paths"]["/interviews/{key}/answers"]["post"]
    assert set(answers["responses"]["422"]["content"]) == {"application/problem+json"}
    assert document["components"]["schemas"]["AnswerIn"]["properties"]["values"]["examples"]
    assert {"title", "detail"} <= set(document["components"]["schemas"]["Problem"]["properties"])
