"""An operator in a real browser: health, metrics, and who may see them."""

import subprocess

import pytest
from playwright.sync_api import expect

from .conftest import COMMAND, ENVIRONMENT
from .test_browser import (
    CHROMIUM,
    DESK,
    PHONE,
    SECONDS_TO_ANSWER,
    begin,
    browser,
    faults,
    model_file,
    served,
)

__all__ = ["browser", "model_file"]  # fixtures

pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="Chromium is not installed")


@pytest.fixture(scope="module")
def site(model_file, tmp_path_factory):
    """The address of a server that needs keys, and a key for each role."""
    store = f"sqlite:///{tmp_path_factory.mktemp('operator') / 'answers.db'}"
    keys = {role: issue_key(role, store) for role in ("respondent", "operator")}
    options = ("--target", "stage", "--store", store)
    with served(model_file, *options, EDDI_KEYS="required") as address:
        yield address, keys


def issue_key(role, store):
    command = [COMMAND, "keys", "issue", role, "--store", store]
    issued = subprocess.run(command, env=ENVIRONMENT, capture_output=True, text=True, check=True)
    return issued.stdout.strip()


@pytest.fixture
def open_page(browser, site):
    """Opens a page that sends the key of a role: `open_page(role, PHONE, scripts=False)`."""
    address, keys = site
    contexts = []

    def open_as(role=None, size=DESK, *, scripts=True):
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

    yield open_as
    for context in contexts:
        context.close()


@pytest.mark.parametrize("scripts", [True, False])
def test_an_operator_sees_health_and_metrics(open_page, scripts):
    operator = open_page("operator", scripts=scripts)
    assert operator.goto("/healthz").ok
    assert operator.goto("/readyz").ok
    before = count_opened(operator)
    respondent = open_page("respondent", PHONE, scripts=scripts)
    respondent.goto("/")
    begin(respondent)
    assert count_opened(operator) == before + 1


def count_opened(page):
    """The number of opened interviews according to /metrics."""
    assert page.goto("/metrics").ok
    lines = page.locator("body").inner_text().splitlines()
    counts = [
        line.split()[-1] for line in lines if line.startswith('eddi_interviews_total{state="opened"')
    ]
    return float(counts[0]) if counts else 0.0


@pytest.mark.parametrize(("role", "status"), [(None, 401), ("respondent", 403)])
@pytest.mark.parametrize("size", [PHONE, DESK])
def test_others_get_a_readable_error_page(open_page, role, status, size):
    page = open_page(role, size)
    assert page.goto("/metrics").status == status
    expect(page.get_by_role("heading", level=1)).to_be_visible()
    assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
    assert faults(page) == []
