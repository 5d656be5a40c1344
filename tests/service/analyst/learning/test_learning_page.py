"""The page on which a questionnaire learns: runs, candidates, and when they start by themselves."""

import re
from collections.abc import Iterator
from typing import Any

import pytest
from fastapi.testclient import TestClient

from eddi.service.analyst.learning.triggers import read_triggers
from eddi.service.app import assemble
from eddi.service.interviews.interview_service import InterviewService
from eddi.service.settings import Settings

from .conftest import make_comparison

ADDRESS = "/analyst/questionnaires/people/learning"


@pytest.fixture
def site(copied_workshop: Any) -> Iterator[TestClient]:
    service = InterviewService(copied_workshop.jobs.store, copied_workshop.catalogue)
    app = assemble(service, copied_workshop, Settings(rate=0.0))
    yield TestClient(app, base_url="http://localhost")  # without its lifespan: no job starts
    service.close()


def send(site: TestClient, action: str = ADDRESS, **fields: str) -> Any:
    token = re.search(r'name="csrf" value="([^"]+)"', site.get(ADDRESS).text)
    assert token is not None
    return site.post(action, data={"csrf": token[1], **fields})


def test_the_page_of_the_questionnaire_links_to_learning(site: TestClient) -> None:
    page = site.get("/analyst/questionnaires/people").text
    assert f'<a class="second" href="{ADDRESS}">Learn from answers</a>' in page


def test_a_run_is_started(site: TestClient, copied_workshop: Any) -> None:
    response = send(site, publish="yes")
    [job] = copied_workshop.jobs.all()
    assert str(response.url).endswith(f"/analyst/jobs/{job.key}")
    assert "Learning from the answers to people" in response.text
    assert job.spec["publish"] is True
    page = site.get(ADDRESS).text
    assert "It is learning now." in page
    assert 'name="publish" value="yes">\n' not in page.split("Candidates")[0]


def test_a_candidate_is_shown_with_its_comparison_and_published(
    site: TestClient, copied_workshop: Any, make_result: Any, finish: Any
) -> None:
    job = copied_workshop.learn("people")
    finish(job, make_result(make_comparison(-0.2, 0.1)))
    page = site.get(ADDRESS).text
    assert "No clear difference" in page
    assert "Learned from 45 rows, 45 of them interviews." in page
    assert "\u22120.1 (\u22120.2 to +0.1)" in page
    job_page = site.get(f"/analyst/jobs/{job.key}").text
    assert f'href="{ADDRESS}">Compare it with the current version' in job_page
    assert "on request" in job_page
    digest = copied_workshop.jobs.get(job.key).result["model"]
    send(site, f"{ADDRESS}/publish", model=digest)
    assert copied_workshop.publisher.get("people").current.model == digest
    assert "published as version 2" in site.get(ADDRESS).text


def test_triggers_are_saved(site: TestClient, copied_workshop: Any) -> None:
    page = send(site, f"{ADDRESS}/triggers", every_days="7", after_interviews=" 50 ", on_drift="yes")
    assert "Saved." in page.text
    triggers = read_triggers(copied_workshop.jobs.store, "people")
    assert (triggers.every_days, triggers.after_interviews) == (7, 50)
    assert (triggers.on_drift, triggers.publish) == (True, False)
    activity = site.get("/analyst/activity").text
    assert "changed when a model learns from the answers to" in activity


@pytest.mark.parametrize("text", ["-1", "x", "1.5", "99999", "³", "9" * 30])
def test_a_number_that_is_not_valid_is_refused(site: TestClient, text: str) -> None:
    response = send(site, f"{ADDRESS}/triggers", every_days=text)
    assert response.status_code == 422
    assert 'role="alert"' in response.text


def test_programs_start_a_run(site: TestClient) -> None:
    spec = {"kind": "learn", "questionnaire": "people"}
    response = site.post("/jobs", json=spec)
    assert (response.status_code, response.json()["kind"]) == (201, "learn")
    assert site.post("/jobs", json=spec).status_code == 409
