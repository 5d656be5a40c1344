"""Browsers see errors as a page, other programs as problem details."""

import pytest

BROWSER = {"Accept": "text/html,application/xhtml+xml,*/*;q=0.8"}


def assert_page(response, status, heading):
    assert response.status_code == status
    assert response.headers["content-type"] == "text/html; charset=utf-8"
    assert f"<h1>{heading}</h1>" in response.text
    assert (response.headers["x-request-id"] in response.text) is (status >= 500)
    assert 'href="/"' in response.text
    assert int(response.headers["content-length"]) == len(response.content)


def test_a_refused_browser_gets_a_page(client):
    assert_page(client.get("/nowhere", headers=BROWSER), 404, "There is no page here")
    put = client.put("/", headers=BROWSER)
    assert_page(put, 405, "This page cannot be reached that way")
    assert put.headers["allow"] == "GET, HEAD"
    large = client.post("/start", content=b"x" * 70_000, headers=BROWSER)
    assert_page(large, 413, "That was too much at once")
    other_host = client.get("/", headers={**BROWSER, "Host": "evil.example"})
    assert_page(other_host, 421, "This server goes by another name")
    assert "evil" not in other_host.text
    not_json = client.post("/interviews", content=b"{", headers={**BROWSER, "Content-Type": "text/json"})
    assert_page(not_json, 415, "That could not be understood")


def test_the_page_of_a_table_that_is_too_large_names_the_limit(serving):
    with serving(max_upload=3_000_000) as client:
        refused = client.post("/analyst/tables", content=b"x" * 3_000_001, headers=BROWSER)
        assert refused.status_code == 413
        assert "<h1>The file is too large</h1>" in refused.text
        assert "accepts tables of up to 3 MB" in refused.text
        assert 'href="/analyst/tables"' in refused.text


def test_a_browser_that_sends_too_many_requests_gets_a_page(serving):
    with serving(rate=0.5, burst=1) as client:
        client.get("/", headers=BROWSER)
        refused = client.get("/", headers=BROWSER)
        assert_page(refused, 429, "That was a little fast")
        assert int(refused.headers["retry-after"]) in (1, 2)


def test_the_page_of_an_internal_error_does_not_reveal_the_error(serving, monkeypatch):
    with serving() as client:
        monkeypatch.setattr(
            "eddi.service.interviews.interview_analytics.max_questions_left", lambda _: 1 / 0
        )
        failed = client.get("/", headers=BROWSER)
        assert_page(failed, 500, "Something went wrong on our side")
        assert "Zero" not in failed.text


@pytest.mark.parametrize("accept", ["*/*", "application/json", ""])
def test_other_programs_get_problem_details(client, accept):
    refused = client.get("/nowhere", headers={"Accept": accept})
    assert refused.headers["content-type"] == "application/problem+json"
