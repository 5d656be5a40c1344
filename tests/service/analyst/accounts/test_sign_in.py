"""If the server needs keys, the analyst's pages require signing in with an analyst's key."""

import re

import pytest

from eddi.service.analyst.accounts import sign_in as signing
from eddi.service.web.api_keys import Keys, Role


def test_a_page_redirects_to_the_sign_in_form_and_back(browser, key):
    refused = browser.get("/analyst/tables")
    assert (refused.status_code, refused.headers["location"]) == (
        303,
        "/analyst/sign-in?next=/analyst/tables",
    )
    response = browser.sign_in(key(Role.ANALYST), "/analyst/tables")
    assert (response.status_code, response.headers["location"]) == (303, "/analyst/tables")
    cookie = response.headers["set-cookie"]
    assert "HttpOnly" in cookie
    assert "SameSite=strict" in cookie
    assert "Path=/analyst" in cookie
    assert browser.get("/analyst/tables").status_code == 200


def test_the_cookie_does_not_hold_the_key(browser, key):
    text = key(Role.ANALYST)
    browser.sign_in(text)
    cookie = browser.cookies[signing.COOKIE]
    name, secret = text.split("_", 2)[1:]
    assert cookie.startswith(f"{name}.")
    assert secret not in cookie


@pytest.mark.parametrize("role", [Role.RESPONDENT, Role.OPERATOR])
def test_other_keys_are_refused(browser, key, role):
    for text in (key(role), "eddi_nonsense", "", f"eddi_{'0' * 12}_{'x' * 43}"):
        page = browser.sign_in(text)
        assert page.status_code == 401
        assert "This is not a valid key of an analyst" in page.text
    assert browser.get("/analyst").status_code == 303


def test_a_revoked_key_signs_its_owner_out(browser, server, key):
    text = key(Role.ANALYST)
    browser.sign_in(text)
    assert browser.get("/analyst").status_code == 200
    Keys(server.app.state.service.store).revoke(text.split("_")[1])
    assert browser.get("/analyst").status_code == 303


def test_rotating_a_key_ends_all_its_sessions(browser, server, key):
    text = key(Role.ANALYST)
    browser.sign_in(text)
    new = Keys(server.app.state.service.store).rotate(text.split("_")[1])
    assert browser.get("/analyst").status_code == 303
    assert browser.sign_in(text).status_code == 401
    assert browser.sign_in(new).status_code == 303
    assert browser.get("/analyst").status_code == 200


def test_an_administrator_signs_in_like_an_analyst(browser, key):
    browser.sign_in(key(Role.ADMINISTRATOR))
    assert browser.get("/analyst").status_code == 200


def test_a_forged_or_expired_cookie_is_refused(browser, key, monkeypatch):
    name = key(Role.ANALYST).split("_")[1]
    for forged in (f"{name}.99999999999.{'0' * 64}", "x", f"{name}.1.", ""):
        browser.cookies.set(signing.COOKIE, forged, path="/analyst")
        assert browser.get("/analyst").status_code == 303
    browser.cookies.clear()
    monkeypatch.setattr(signing, "MAX_AGE_HOURS", -1)
    browser.sign_in(key(Role.ANALYST))
    assert browser.get("/analyst").status_code == 303


def test_signing_in_never_redirects_to_another_site(browser, key):
    response = browser.sign_in(key(Role.ANALYST), "https://elsewhere.example")
    assert response.headers["location"] == "/analyst"
    response = browser.sign_in(key(Role.ANALYST), "//elsewhere.example")
    assert response.headers["location"] == "/analyst"


def test_signing_out_deletes_the_cookie(browser, key):
    browser.sign_in(key(Role.ANALYST))
    page = browser.get("/analyst")
    token = re.search(r'name="csrf" value="([^"]+)"', page.text)[1]
    assert browser.post("/analyst/sign-out", data={"csrf": "other"}).status_code == 403
    signed_out = browser.post("/analyst/sign-out", data={"csrf": token})
    assert signed_out.headers["location"] == "/analyst/sign-in"
    assert browser.get("/analyst").status_code == 303


def test_an_upload_without_signing_in_is_refused(browser):
    refused = browser.post("/analyst/tables", files={"file": ("t.csv", b"a,b\n1,2\n")})
    assert refused.headers["location"].startswith("/analyst/sign-in")
    refused = browser.post("/tables", files={"file": ("t.csv", b"a,b\n1,2\n")})
    assert refused.status_code == 401


def test_a_local_server_needs_no_sign_in(client):
    assert client.get("/analyst").status_code == 200
    assert client.get("/analyst/sign-in").headers["location"] == "/analyst"
