"""An operator in a real browser: health, metrics, and who may see them."""

import subprocess

import pytest
from playwright.sync_api import expect

from .conftest import COMMAND, ENVIRONMENT
from .test_browser import (
    CHROMIUM,
    DESKTOP,
    PHONE,
    SECONDS_TO_ANSWER,
    accessibility_violations,
    begin,
    browser,
    model_file,
    served,
)

__all__ = ["browser", "model_file"]  # fixtures

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(CHROMIUM is None, reason="Chromium is not installed"),
]


@pytest.fixture(scope="module")
def protected_site(model_file, tmp_path_factory):
    """A server that requires keys: its address, and a key for each role."""
    store = f"sqlite:///{tmp_path_factory.mktemp('operator') / 'answers.db'}"
    keys = {role: issue_key(role, store) for role in ("respondent", "operator")}
    arguments = ("--target", "stage", "--store", store)
    with served(model_file, *arguments, EDDI_KEYS="required") as address:
        yield address, keys


def issue_key(role, store):
    command = [COMMAND, "keys", "issue", role, "--store", store]
    result = subprocess.run(command, env=ENVIRONMENT, capture_output=True, text=True, check=True)
    return result.stdout.strip()


@pytest.fixture
def open_as(browser, protected_site):
    """Opens a browser with the key of a role: `open_as(role, PHONE, scripts=False)`."""
    address, keys = protected_site
    contexts = []

    def open_page(role=None, size=DESKTOP, *, scripts=True):
        headers = {"Authorization": f"Bearer {keys[role]}"} if role else {}
        context = browser.new_context(
            viewport={"width": size[0], "height": size[1]},
            java_script_enabled=scripts,
            base_url=address,
            extra_http_headers=headers,
        )
        context.set_default_timeout(SECONDS_TO_ANSWER * 1000)
        contexts.append(context)
        return context.new_page()

    yield open_page
    for context in contexts:
        context.close()


@pytest.mark.parametrize("scripts", [True, pytest.param(False, marks=pytest.mark.slow)])
def test_an_operator_sees_the_number_of_interviews(open_as, scripts):
    operator = open_as("operator", scripts=scripts)
    assert operator.goto("/healthz").ok
    assert operator.goto("/readyz").ok
    before = count_interviews(operator)
    respondent = open_as("respondent", PHONE, scripts=scripts)
    respondent.goto("/")
    begin(respondent)
    assert count_interviews(operator) == before + 1


def count_interviews(page):
    """Return the number of started interviews from /metrics."""
    assert page.goto("/metrics").ok
    lines = page.locator("body").inner_text().splitlines()
    counts = [
        line.split()[-1] for line in lines if line.startswith('eddi_interviews_total{state="opened"')
    ]
    return float(counts[0]) if counts else 0.0


@pytest.mark.parametrize(("role", "status"), [(None, 401), ("respondent", 403)])
@pytest.mark.parametrize("size", [PHONE, pytest.param(DESKTOP, marks=pytest.mark.slow)])
def test_other_roles_see_a_page_that_refuses_them(open_as, role, status, size):
    page = open_as(role, size)
    assert page.goto("/metrics").status == status
    expect(page.get_by_role("heading", level=1)).to_be_visible()
    assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
    assert accessibility_violations(page) == []
