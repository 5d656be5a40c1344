"""Analysts with accounts in a real browser: sign in, share a questionnaire, read the log, change the key."""

import pytest
from playwright.sync_api import expect

from eddi.service.web.api_keys import Keys, Role
from eddi.store.factory import open_store

from .test_browser import (
    CHROMIUM,
    DESKTOP,
    PHONE,
    accessibility_violations,
    browser,  # noqa: F401  # a fixture
    click,
    model_file,  # noqa: F401  # a fixture
    served,
    visit,  # noqa: F401  # a fixture
)

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(CHROMIUM is None, reason="Chromium is not installed"),
]
PAGE = "/analyst/questionnaires/people"


@pytest.fixture(scope="module")
def store_url(tmp_path_factory):
    return f"sqlite:///{tmp_path_factory.mktemp('accounts')}/answers.db"


@pytest.fixture(scope="module")
def site(model_file, store_url):  # noqa: F811  # the fixture that was imported
    with served(
        *(model_file, "--target", "stage", "--store", store_url), EDDI_RATE="0", EDDI_KEYS="required"
    ) as address:
        yield address


def sign_in(page, key):
    page.goto("/analyst/account")
    page.get_by_label("Your key").fill(key)
    click(page.get_by_role("button", name="Sign in"))
    return page


@pytest.mark.parametrize(("size", "scripts"), [(PHONE, True), (DESKTOP, True), (PHONE, False)])
def test_an_analyst_shares_a_questionnaire_and_changes_the_key(visit, store_url, size, scripts):  # noqa: F811
    keys = Keys(open_store(store_url))
    ada, bob = (
        keys.issue(Role.ADMINISTRATOR, days=1, holder=f"{name} {size} {scripts}")
        for name in ("Ada", "Bob")
    )
    page, violations = sign_in(visit(size, scripts=scripts), ada), []

    def check():
        violations.extend(accessibility_violations(page) if scripts else [])
        if scripts:
            assert page.evaluate("document.documentElement.scrollWidth") <= size[0]

    expect(page.get_by_text("Signed in as Ada")).to_be_visible()
    check()
    page.goto(PAGE)
    page.get_by_text("Share it or give it to somebody else").click()
    page.get_by_label("Owner").select_option(label=f"Ada {size} {scripts}")
    page.get_by_label(f"Bob {size} {scripts}").check()
    check()
    click(page.get_by_role("button", name="Save access"))
    expect(page.get_by_text(f"Editors: Bob {size} {scripts}.")).to_be_visible()
    page.goto("/analyst/activity")
    expect(page.get_by_text("changed who has access to").first).to_be_visible()
    check()
    page.goto("/analyst/account")
    page.get_by_label("Your present key").fill(ada)
    click(page.get_by_role("button", name="Replace it"))
    new_key = page.get_by_label("Your new key").input_value()
    assert new_key != ada
    check()
    sign_in(visit(size, scripts=scripts), new_key)
    keys.revoke(bob.split("_")[1])
    assert violations == []
