"""A server whose questionnaire has a survival target."""

import pytest


@pytest.fixture(scope="module")
def client(serving, survival_model, tmp_path_factory):
    """The client of a server for patients."""
    path = tmp_path_factory.mktemp("served") / "patients.eddi"
    survival_model.save(path)
    with serving(model=str(path), target="death") as client:
        yield client


def test_the_api_returns_risks_and_the_curve(client):
    started = client.post("/interviews", json={}).json()
    answer = {"question": "age", "values": {"age": 70}}
    step = client.post(f"/interviews/{started['id']}/answers", json=answer).json()
    prediction = step["prediction"]["death"]
    assert set(prediction["risk"]) == {"50", "150"}
    assert prediction["curve"]["survival"][0] == 1
    assert len(prediction["curve"]["time"]) == len(prediction["curve"]["low"])


def test_the_outcome_cannot_be_answered(client):
    started = client.post("/interviews", json={}).json()
    answer = {"question": "death", "values": {"death": 3}}
    assert client.post(f"/interviews/{started['id']}/answers", json=answer).status_code == 422


def test_pages_of_respondents_draw_the_curve(client):
    started = client.post("/interviews", json={}).json()
    answer = {"question": "age", "values": {"age": 70}}
    client.post(f"/interviews/{started['id']}/answers", json=answer)
    for page in ("", "/result"):
        text = client.get(f"/i/{started['id']}{page}", follow_redirects=True).text
        assert 'class="survival"' in text
        assert "have no event up to" in text


def test_stateless_requests_work(client):
    found = client.post("/ask", json={"answers": {"age": 70, "stage": "II"}}).json()
    assert found["question"]["name"] == "weight"
    assert 0 < found["prediction"]["death"]["risk"]["150"] < 1
