"""Where keys are needed, the analyst's pages open to who signed in with an analyst's key."""

import re

import httpx
import pytest

from eddi.service.analyst import sign_in as signing
from eddi.service.web.api_keys import Keys, Role


@pytest.fixture(scope="module")
def guarded(serving):
    with serving(keys="required", secret="s" * 32) as client:
        yield client


@pytest.fixture
def browser(guarded):
    """A browser of its own, without cookies."""
    with httpx.Client(base_url=guarded.base_url, timeout=30) as fresh:
        yield fresh


@pytest.fixture
def key(guarded):
    """Makes keys: `key(Role.ANALYST)`."""
    keys = Keys(guarded.app.state.service.store)
    return lambda role, days=1: keys.issue(role, days=days)


def sign_in(browser, key, where="/analyst"):
    page = browser.get(f"/analyst/sign-in?next={where}")
    found = dict(re.findall(r'name="(csrf|next)" value="([^"]*)"', page.text))
    return browser.post("/analyst/sign-in", data={**found, "key": key})


def test_pages_lead_to_the_door_and_back(browser, key):
    refused = browser.get("/analyst/tables")
    assert (refused.status_code, refused.headers["location"]) == (
        303,
        "/analyst/sign-in?next=/analyst/tables",
    )
    entered = sign_in(browser, key(Role.ANALYST), "/analyst/tables")
    assert (entered.status_code, entered.headers["location"]) == (303, "/analyst/tables")
    cookie = entered.headers["set-cookie"]
    assert "HttpOnly" in cookie
    assert "SameSite=strict" in cookie
    assert "Path=/analyst" in cookie
    assert browser.get("/analyst/tables").status_code == 200


def test_the_cookie_does_not_hold_the_key(browser, key):
    text = key(Role.ANALYST)
    sign_in(browser, text)
    kept = browser.cookies[signing.COOKIE]
    name, secret = text.split("_", 2)[1:]
    assert kept.startswith(f"{name}.")
    assert secret not in kept


@pytest.mark.parametrize("role", [Role.RESPONDENT, Role.OPERATOR])
def test_other_keys_do_not_open(browser, key, role):
    for text in (key(role), "eddi_nonsense", "", f"eddi_{'0' * 12}_{'x' * 43}"):
        page = sign_in(browser, text)
        assert page.status_code == 401
        assert "This is no key of an analyst that is still good" in page.text
    assert browser.get("/analyst").status_code == 303


def test_a_revoked_key_signs_its_owner_out(browser, guarded, key):
    text = key(Role.ANALYST)
    sign_in(browser, text)
    assert browser.get("/analyst").status_code == 200
    Keys(guarded.app.state.service.store).revoke(text.split("_")[1])
    assert browser.get("/analyst").status_code == 303


def test_a_cookie_that_was_made_up_or_is_too_old_opens_nothing(browser, key, monkeypatch):
    name = key(Role.ANALYST).split("_")[1]
    for made_up in (f"{name}.99999999999.{'0' * 64}", "x", f"{name}.1.", ""):
        browser.cookies.set(signing.COOKIE, made_up, path="/analyst")
        assert browser.get("/analyst").status_code == 303
    browser.cookies.clear()
    monkeypatch.setattr(signing, "HOURS", -1)
    sign_in(browser, key(Role.ANALYST))
    assert browser.get("/analyst").status_code == 303


def test_signing_in_leads_nowhere_else(browser, key):
    entered = sign_in(browser, key(Role.ANALYST), "https://elsewhere.example")
    assert entered.headers["location"] == "/analyst"
    entered = sign_in(browser, key(Role.ANALYST), "//elsewhere.example")
    assert entered.headers["location"] == "/analyst"


def test_signing_out_forgets_the_visit(browser, key):
    sign_in(browser, key(Role.ANALYST))
    page = browser.get("/analyst")
    token = re.search(r'name="csrf" value="(\w+)"', page.text)[1]
    assert browser.post("/analyst/sign-out", data={"csrf": "other"}).status_code == 403
    left = browser.post("/analyst/sign-out", data={"csrf": token})
    assert left.headers["location"] == "/analyst/sign-in"
    assert browser.get("/analyst").status_code == 303


def test_nothing_is_read_of_a_table_that_a_stranger_sends(browser):
    refused = browser.post("/analyst/tables", files={"file": ("t.csv", b"a,b\n1,2\n")})
    assert refused.headers["location"].startswith("/analyst/sign-in")
    refused = browser.post("/tables", files={"file": ("t.csv", b"a,b\n1,2\n")})
    assert refused.status_code == 401


def test_a_local_server_needs_no_signing_in(client):
    assert client.get("/analyst").status_code == 200
    assert client.get("/analyst/sign-in").headers["location"] == "/analyst"
