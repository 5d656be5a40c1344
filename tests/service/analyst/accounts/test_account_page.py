"""Analysts see who is signed in and since when, and replace their key."""

import re

import pytest

from eddi.service.web.api_keys import Role


@pytest.fixture
def text(key, request):
    """The key of an analyst whose name is that of the test."""
    return key(Role.ANALYST, holder=request.node.name[:60])


def test_pages_say_who_is_signed_in(browser, text, request):
    browser.sign_in(text)
    signed_in = f'Signed in as <a href="/analyst/account">{request.node.name[:60]}</a>'
    assert signed_in in browser.get("/analyst").text
    assert signed_in not in browser.get("/analyst/sign-in").text


def test_the_account_shows_the_role_and_the_last_sign_ins(browser, text):
    browser.sign_in(text)
    page = browser.get("/analyst/account").text
    assert "Analyst: trains models" in page
    assert re.search(r"<dt>Sign-in before</dt><dd>none</dd>", page)
    browser.sign_in(text)
    page = browser.get("/analyst/account").text
    assert re.search(r"<dt>Sign-in before</dt><dd>\d+ \w+ 20\d\d, \d\d:\d\d UTC</dd>", page)


def test_changing_the_key_shows_the_new_one_and_ends_other_sessions(browser, open_browser, text):
    other = open_browser()
    other.sign_in(text)
    browser.sign_in(text)
    page = browser.fill_in("/analyst/account", "/analyst/account/key", key=text)
    new_key = re.search(r'value="(eddi_[^"]+)"', page.text)[1]
    assert page.headers["cache-control"] == "no-store"
    assert browser.get("/analyst").status_code == 200
    assert other.get("/analyst").status_code == 303
    assert other.sign_in(text).status_code == 401
    assert other.sign_in(new_key).status_code == 303
    assert new_key not in browser.get("/analyst/account").text


def test_changing_the_key_needs_the_present_one(browser, key, text):
    browser.sign_in(text)
    for wrong in ("", "eddi_nonsense", key(Role.ANALYST)):
        page = browser.fill_in("/analyst/account", "/analyst/account/key", key=wrong)
        assert page.status_code == 422
        assert "This is not your present key." in page.text
    assert browser.get("/analyst").status_code == 200


def test_an_open_server_has_no_accounts(client):
    assert client.get("/analyst/account").headers["location"] == "/analyst"
    assert "Signed in" not in client.get("/analyst").text
