"""An operator at a real browser: is the service well, what goes on, and who may look."""

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

pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="no Chromium here; apt-get install chromium")


@pytest.fixture(scope="module")
def guarded(model_file, tmp_path_factory):
    """A server that asks for keys: its address, and a key of each role."""
    store = f"sqlite:///{tmp_path_factory.mktemp('operator') / 'answers.db'}"
    keys = {role: issued(role, store) for role in ("respondent", "operator")}
    words = ("--target", "stage", "--store", store)
    with served(model_file, *words, EDDI_KEYS="required") as address:
        yield address, keys


def issued(role, store):
    command = [COMMAND, "keys", "issue", role, "--store", store]
    made = subprocess.run(command, env=ENVIRONMENT, capture_output=True, text=True, check=True)
    return made.stdout.strip()


@pytest.fixture
def look(browser, guarded):
    """Opens a browser for who holds that key: `look(role, PHONE, scripts=False)`."""
    address, keys = guarded
    contexts = []

    def open_table(role=None, size=DESK, *, scripts=True):
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

    yield opened
    for context in contexts:
        context.close()


@pytest.mark.parametrize("scripts", [True, False])
def test_an_operator_sees_what_goes_on(look, scripts):
    operator = look("operator", scripts=scripts)
    assert operator.goto("/healthz").ok
    assert operator.goto("/readyz").ok
    before = opened_interviews(operator)
    respondent = look("respondent", PHONE, scripts=scripts)
    respondent.goto("/")
    begin(respondent)
    assert opened_interviews(operator) == before + 1


def opened_interviews(page):
    """How many interviews /metrics says were opened."""
    assert page.goto("/metrics").ok
    lines = page.locator("body").inner_text().splitlines()
    counts = [
        line.split()[-1] for line in lines if line.startswith('eddi_interviews_total{state="opened"')
    ]
    return float(counts[0]) if counts else 0.0


@pytest.mark.parametrize(("role", "status"), [(None, 401), ("respondent", 403)])
@pytest.mark.parametrize("size", [PHONE, DESK])
def test_others_are_told_in_words_that_they_may_not(look, role, status, size):
    page = look(role, size)
    assert page.goto("/metrics").status == status
    expect(page.get_by_role("heading", level=1)).to_be_visible()
    assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
    assert faults(page) == []
