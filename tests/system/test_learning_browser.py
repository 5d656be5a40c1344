"""Analysts let a questionnaire learn from its answers, in a real browser."""

import pytest
from playwright.sync_api import expect

from .test_browser import (
    CHROMIUM,
    DESKTOP,
    browser,  # noqa: F401  # a fixture
    click,
    model_file,  # noqa: F401  # a fixture
    visit,  # noqa: F401  # a fixture
)
from .test_dashboard_browser import (
    MANAGE,
    SIZES,
    check,
    people,  # noqa: F401  # a fixture
    site,  # noqa: F401  # a fixture
)

SECONDS_TO_LEARN = 240  # on a busy machine
pytestmark = [
    pytest.mark.skipif(CHROMIUM is None, reason="Chromium is not installed"),
    pytest.mark.slow,
]


@pytest.mark.parametrize(("size", "scripts"), SIZES)
def test_triggers_are_set(visit, size, scripts):  # noqa: F811  # the fixture that was imported
    page = visit(size, scripts=scripts)
    page.goto(MANAGE)
    click(page.get_by_role("link", name="Learn from answers"))
    check(page, "learning", scripts=scripts)
    page.get_by_label("New interviews since the last run").fill("5000")
    page.locator("#on_drift").check()
    click(page.get_by_role("button", name="Save"))
    expect(page.get_by_text("Saved.")).to_be_visible()
    expect(page.get_by_label("New interviews since the last run")).to_have_value("5000")


def test_a_questionnaire_learns_from_answers(visit):  # noqa: F811  # the fixture that was imported
    page = visit(DESKTOP)
    page.goto(f"{MANAGE}/learning")
    click(page.get_by_role("button", name="Learn from answers"))
    expect(page.get_by_role("heading", level=1, name="Learned")).to_be_visible(
        timeout=1000 * SECONDS_TO_LEARN
    )
    check(page, "learned", scripts=True)
    click(page.get_by_role("link", name="Compare it with the current version"))
    expect(page.get_by_text("Learned from")).to_be_visible()
    check(page, "candidate", scripts=True)
    click(page.get_by_role("button", name="Publish it"))
    expect(page.get_by_text("New interviews use version 2")).to_be_visible()
