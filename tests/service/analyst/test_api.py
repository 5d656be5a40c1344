"""The analyst's part of the HTTP API."""

import time

import pytest

from eddi.service.web.api_keys import PUBLISHERS, Keys, Role


@pytest.fixture(scope="module")
def site(serving):
    with serving() as client:
        yield client


@pytest.fixture
def table(site, people):
    content = people(60, seed=3).to_csv(index=False).encode()
    response = site.post("/tables", files={"file": ("people.csv", content)})
    assert response.status_code == 201
    assert response.headers["location"] == f"/tables/{response.json()['id']}"
    return response.json()["id"]


def detail(response, status):
    assert response.status_code == status, response.text
    assert response.headers["content-type"] == "application/problem+json"
    return response.json()["detail"]


def test_a_table_is_uploaded_read_corrected_and_deleted(site, table):
    assert table in [item["id"] for item in site.get("/tables").json()]
    response = site.get(f"/tables/{table}")
    found = response.json()
    assert (found["rows"], found["version"], response.headers["etag"]) == (60, 1, '"1"')
    assert found["schema"]["variables"]["smoker"] == {"kind": "binary", "levels": ["no", "yes"]}
    assert {name: found["cautions"][0][name] for name in ("column", "kind")} == {
        "column": None,
        "kind": "target",
    }
    schema = found["schema"] | {"targets": ["stage"]}
    response = site.put(f"/tables/{table}/schema", json=schema, headers={"If-Match": '"1"'})
    assert (response.json()["target"], response.json()["version"]) == (["stage"], 2)
    late = site.put(f"/tables/{table}/schema", json=schema, headers={"If-Match": '"1"'})
    assert "was changed in the meantime" in detail(late, 412)
    wrong = site.put(f"/tables/{table}/schema", json={"variables": {"age": {"kind": "odd"}}})
    assert "'age' has kind 'odd'" in detail(wrong, 422)
    unfit = schema | {"variables": {"town": {"kind": "real"}}, "targets": [], "questions": {}}
    refused = site.put(f"/tables/{table}/schema", json=unfit)
    assert "'town'" in detail(refused, 422)
    assert site.get(f"/tables/{table}").json()["version"] == 2
    assert site.delete(f"/tables/{table}").status_code == 204
    assert "there is no table" in detail(site.get(f"/tables/{table}"), 404)


def test_an_upload_that_is_not_a_table_is_refused(site):
    assert "part 'file'" in detail(site.post("/tables", files={"other": ("a.csv", b"a")}), 422)
    assert "not in a supported format" in detail(
        site.post("/tables", files={"file": ("a.doc", b"a")}), 422
    )
    assert "must be multipart/form-data" in detail(site.post("/tables", json={}), 415)


def test_a_model_is_trained_and_published(site, table):
    spec = {"kind": "fit", "table": table, "target": ["stage"], "recipe": "paper", "steps": 200}
    response = site.post("/jobs", json=spec)
    assert response.status_code == 201
    address = response.headers["location"]
    job = response.json()
    end = time.monotonic() + 120
    while job["state"] not in ("finished", "failed") and time.monotonic() < end:
        time.sleep(0.1)
        job = site.get(address).json()
    assert (job["state"], job["done"], job["words"]) == ("finished", 1.0, "")
    assert [entry["step"] for entry in job["history"]] == [100, 200]
    evaluations = []
    while not evaluations and time.monotonic() < end:  # it is submitted just after the job has finished
        evaluations = [item for item in site.get("/jobs").json() if item["kind"] == "evaluate"]
    [evaluation] = evaluations
    site.delete(f"/jobs/{evaluation['id']}")
    digest = job["model"]
    model = site.get(f"/models/{digest}").json()
    assert (model["rows"], model["held_out"], model["target"]) == (48, 12, "stage")
    assert site.get(f"/models/{digest}/file").content[:2] == b"PK"
    assert "has not been evaluated yet" in detail(site.get(f"/models/{digest}/evaluation"), 404)
    published = site.post("/questionnaires/people/versions", json={"model": digest, "after": 1})
    assert published.status_code == 201
    assert published.json()["version"] == 2
    interview = site.post("/interviews", json={"questionnaire": "people"}).json()
    assert interview["strategy"] == "information"
    answer = {"question": "age", "values": 50}
    last = site.post(f"/interviews/{interview['id']}/answers", json=answer)
    assert last.json()["question"] is None
    rolled_back = site.post("/questionnaires/people/rollback", json={"version": 1})
    assert [item["current"] for item in rolled_back.json()["versions"]] == [True, False]
    assert site.get("/questionnaires/people").json() == rolled_back.json()
    assert "cannot be cancelled" in detail(site.delete(address), 409)
    assert "cannot be resumed" in detail(site.post(f"{address}/resume"), 409)


def test_settings_are_replaced_and_a_questionnaire_is_deleted(serving):
    with serving() as client:
        digest = client.get("/models").json()[0]["sha256"]
        client.post("/questionnaires/sleep/versions", json={"model": digest})
        settings = {"title": "Sleep", "labels": {"smoker": {"yes": "I smoke"}}}
        changed = client.put("/questionnaires/sleep/settings", json=settings)
        assert changed.json()["settings"] == settings
        assert "<h1>Sleep</h1>" in client.get("/q/sleep").text
        other = {"model": digest, "target": ["age"]}
        assert "asks about stage" in detail(
            client.post("/questionnaires/sleep/versions", json=other), 409
        )
        other["replace_target"] = True
        assert client.post("/questionnaires/sleep/versions", json=other).status_code == 201
        assert client.delete("/questionnaires/sleep").status_code == 204
        assert client.get("/questionnaires/sleep").status_code == 404


@pytest.mark.parametrize(
    ("method", "path", "body", "status", "message"),
    [
        ("POST", "/jobs", {"kind": "fit", "table": "none"}, 404, "there is no table"),
        ("POST", "/jobs", {"kind": "evaluate", "model": "0"}, 404, "no job trained a model"),
        ("POST", "/jobs", {"kind": "bake"}, 422, "body"),
        ("POST", "/jobs", {"kind": "fit", "table": "x", "steps": 10**9}, 422, "steps"),
        ("GET", "/jobs/none", None, 404, "there is no job"),
        ("GET", "/models/none", None, 404, "there is no model"),
        ("GET", "/questionnaires/none", None, 404, "nothing is published as 'none'"),
        ("POST", "/questionnaires/people/versions", {"model": "0"}, 404, "there is no model"),
        ("POST", "/questionnaires/people/rollback", {"version": 99}, 422, "has no version 99"),
        ("POST", "/interviews", {"questionnaire": "none"}, 404, "nothing is published"),
        ("PUT", "/questionnaires/people/settings", {"heading": "x"}, 422, "there is no setting"),
        ("PUT", "/questionnaires/people/settings", {"embed_on": 5}, 422, "must be of the type tuple"),
        ("PUT", "/questionnaires/people/settings", {"embed_on": [5]}, 422, "a site must be a text"),
        ("DELETE", "/questionnaires/none", None, 404, "nothing is published as 'none'"),
    ],
)
def test_an_impossible_request_is_refused(site, method, path, body, status, message):
    assert message in detail(site.request(method, path, json=body), status)


def test_only_analysts_may_change_anything(serving):
    with serving(keys="required") as client:
        keys = Keys(client.app.state.service.store)
        bearer = {role: {"Authorization": f"Bearer {keys.issue(role, days=1)}"} for role in Role}
        requests = {
            ("POST", "/jobs"): {"kind": "fit", "table": "none"},
            ("DELETE", "/tables/none"): None,
            ("DELETE", "/jobs/none"): None,
        }
        for (method, path), body in requests.items():
            statuses = {
                role: client.request(method, path, json=body, headers=bearer[role]).status_code
                for role in Role
            }
            assert statuses == {role: 404 if role in PUBLISHERS else 403 for role in Role}
        publish = {"/questionnaires/people/rollback": {"version": 9}}
        publish["/questionnaires/people/versions"] = {"model": "0" * 64}
        for (path, body), allowed in zip(publish.items(), (422, 404), strict=True):
            statuses = [client.post(path, json=body, headers=bearer[role]).status_code for role in Role]
            assert statuses == [allowed if role in PUBLISHERS else 403 for role in Role]


def test_owners_share_questionnaires_and_others_are_refused(serving):
    with serving(keys="required") as client:
        keys = Keys(client.app.state.service.store)
        ada, bob = (keys.issue(Role.ANALYST, days=1, holder=holder) for holder in ("Ada", "Bob"))
        names = {text: text.split("_")[1] for text in (ada, bob)}

        def send(text, method, path, body=None):
            headers = {"Authorization": f"Bearer {text}"}
            return client.request(method, path, json=body, headers=headers)

        [model] = send(ada, "GET", "/models").json()
        version = {"model": model["sha256"]}
        created = send(ada, "POST", "/questionnaires/sleep/versions", version).json()
        assert created["owner"] == {"key": names[ada], "name": "Ada"}
        owners = {item["name"]: item["owner"] for item in send(bob, "GET", "/questionnaires").json()}
        assert owners == {"people": "", "sleep": names[ada]}
        requests = [
            ("POST", "/questionnaires/sleep/versions", version),
            ("PUT", "/questionnaires/sleep/settings", {"title": "x"}),
            ("PUT", "/questionnaires/sleep/access", {"owner": names[bob]}),
            ("DELETE", "/questionnaires/sleep", None),
        ]
        for request in requests:
            assert "'sleep' belongs to Ada." in detail(send(bob, *request), 403)
        accounts = send(bob, "GET", "/accounts").json()
        assert [(item["name"], item["role"]) for item in accounts] == [
            ("Ada", "analyst"),
            ("Bob", "analyst"),
        ]
        access = {"owner": names[ada], "editors": [names[bob]]}
        shared = send(ada, "PUT", "/questionnaires/sleep/access", access).json()
        assert shared["editors"] == [{"key": names[bob], "name": "Bob"}]
        assert send(bob, *requests[1]).status_code == 200
        unknown = {"owner": "nobody"}
        refused = send(ada, "PUT", "/questionnaires/sleep/access", unknown)
        assert "no analyst has a valid key 'nobody'" in detail(refused, 422)


def test_events_record_the_name_of_the_key(serving, people_csv):
    with serving(keys="required") as client:
        store = client.app.state.service.store
        text = Keys(store).issue(Role.ANALYST, days=1)
        client.headers["Authorization"] = f"Bearer {text}"
        files = {"file": ("people.csv", people_csv.read_bytes())}
        table = client.post("/tables", files=files).json()["id"]
        job = client.post("/jobs", json={"kind": "fit", "table": table, "target": ["stage"]}).json()[
            "id"
        ]
        client.delete(f"/jobs/{job}")
        [model] = client.get("/models").json()
        client.post("/questionnaires/people/versions", json={"model": model["sha256"]})
        client.post("/questionnaires/people/rollback", json={"version": 1})
        client.delete(f"/tables/{table}")
        published = client.get("/questionnaires/people").json()
        assert [version["by"] for version in published["versions"]] == ["server", name_of(text)]
        last = {
            prefix: store.read(next(store.streams(prefix)))[-1] for prefix in ("job/", "table/", "q")
        }
        assert {event.kind for event in last.values()} == {"forgotten", "rolled-back"}
        assert {event.facts["by"] for event in last.values()} == {name_of(text)}


def name_of(text):
    return text.split("_")[1]
