"""The dashboard of a questionnaire, on a real server."""

import re

import pytest

from eddi.service.analyst.dashboard import dashboard_page
from eddi.service.interviews.history import name_person


@pytest.fixture(scope="module")
def site(serving):
    """A client of a server with the questionnaire "people", 24 interviews, and their outcomes."""
    with serving() as client:
        client.follow_redirects = True
        client.app.state.workshop.supervisor.stop()
        client.keys = [answer(client, number) for number in range(24)]
        yield client


def answer(client, number):
    key = client.post("/interviews").json()["id"]
    for question, value in (("age", 30 + number), ("smoker", "yes" if number % 2 else "no")):
        client.post(f"/interviews/{key}/answers", json={"question": question, "values": value})
    return key


def read_page(client, query=""):
    response = client.get(f"/analyst/questionnaires/people/dashboard{query}")
    assert response.status_code == 200
    return re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", response.text))


def record(client, keys):
    for key in keys:
        path = f"/questionnaires/people/outcomes/{name_person(key)}"
        assert client.put(path, json={"value": "late"}).status_code == 200


def test_answers_are_compared_with_the_predictions_for_the_same_people(site):
    page = read_page(site)
    assert "Started 24" in page
    assert "24 after 2 answers" in page
    assert "24 answered, 0 not known, 0 declined" in page
    assert "what the model of version 1 predicted for the same people" in page
    assert re.search(r"Smoker Answers Expected No 50% \d+% Yes 50% \d+%", page)
    assert re.search(r"Age Answers Expected under \d+", page)


def test_calibration_waits_for_twenty_outcomes(site):
    record(site, site.keys[:19])
    assert "19 outcomes are known. Calibration is shown from 20 on." in read_page(site)
    record(site, site.keys[19:])
    page = read_page(site)
    assert re.search(r"The most likely level was right for \d+ of 24, \d+% \(95% interval", page)
    assert "predicted probability of the most likely level" in page


def test_versions_have_the_numbers_of_their_interviews(site):
    record(site, site.keys)
    page = read_page(site)
    assert re.search(
        r"Version 1 published current .* when the server started .* 24 interviews, 24 outcomes", page
    )


def test_filters_apply_to_the_dashboard(site):
    assert "No interview matches the filters." in read_page(site, "?until=2020-01-01")
    assert "Started 24" in read_page(site, "?version=1")


def test_many_interviews_are_sampled_and_the_page_says_so(site, monkeypatch):
    monkeypatch.setattr(dashboard_page, "MAX_PEOPLE", 10)
    page = read_page(site)
    assert "There are 24 interviews." in page
    assert "from a random sample of 10 of them" in page
    assert "Started 24" in page
    assert "10 after 2 answers" in page


def test_the_dashboard_has_no_private_link(site):
    text = site.get("/analyst/questionnaires/people/dashboard").text
    assert all(key not in text for key in site.keys)
