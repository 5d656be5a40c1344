"""The page and the route of the activity log filter it and divide it into pages."""

import pytest

from eddi.service.analyst.accounts import activity_page
from eddi.service.web.api_keys import Role


@pytest.fixture
def text(key, keys):
    yield (text := key(Role.ANALYST, holder="Ada"))
    keys.revoke(text.split("_")[1])


@pytest.fixture
def ada(browser, text):
    """A browser in which Ada is signed in."""
    browser.sign_in(text)
    browser.name = text.split("_")[1]
    return browser


def export(ada, n=1):
    for _ in range(n):
        assert ada.get("/analyst/questionnaires/people/answers.csv").status_code == 200


def test_an_export_is_in_the_log(ada):
    export(ada)
    page = ada.get(f"/analyst/activity?person={ada.name}").text
    assert "<strong>Ada</strong> exported answers to" in page
    assert '<a href="/analyst/questionnaires/people">people</a> (0 people, answers.csv)' in page


def test_the_log_is_filtered(ada):
    export(ada)
    assert "Nothing was done yet." in ada.get("/analyst/activity?person=nobody").text
    assert "Nothing was done yet." in ada.get("/analyst/activity?questionnaire=none").text
    page = ada.get("/analyst/activity?questionnaire=people").text
    assert "<option selected>people</option>" in page
    assert "issued a key" not in page


def test_entries_that_say_the_same_in_a_row_are_one(ada):
    export(ada, 3)
    page = ada.get(f"/analyst/activity?person={ada.name}").text
    assert page.count("exported answers to") == 1
    assert "(0 people, answers.csv), 3 times" in page


def test_the_log_has_pages(ada, monkeypatch):
    monkeypatch.setattr(activity_page, "PAGE_SIZE", 4)
    for _ in range(2):
        export(ada)
        assert ada.get("/analyst/questionnaires/people/answers.redcap.csv").status_code == 200
    export(ada)
    address = f"/analyst/activity?person={ada.name}"
    first, last = ada.get(address).text, ada.get(f"{address}&page=2").text
    assert first.count("exported answers to") == 4
    assert ("Older" in first, "Newer" in first) == (True, False)
    assert last.count("exported answers to") == 1
    assert ("Older" in last, "Newer" in last) == (False, True)
    for page in ("0", "-1", "x", "99999999999", "³"):
        assert ada.get(f"{address}&page={page}").status_code == 200


def test_programs_read_the_log(server, ada, text):
    export(ada)
    headers = {"Authorization": f"Bearer {text}"}
    log = server.get("/activity", params={"person": ada.name}, headers=headers).json()
    assert (log["total"], log["page"]) == (1, 1)
    [entry] = log["entries"]
    assert entry.pop("at")
    assert entry == {
        "by": ada.name,
        "name": "Ada",
        "action": "exported answers to",
        "subject": "people",
    }
    assert server.get("/activity").status_code == 401
    assert server.get("/activity?page=0", headers=headers).status_code == 422


def test_an_open_server_has_a_log_too(client):
    assert "<strong>The server</strong> published a version of" in client.get("/analyst/activity").text
