"""Analysts record outcomes and look at the dashboard in a real browser."""

import os
from pathlib import Path

import httpx
import pytest
from playwright.sync_api import Page, expect

from eddi.service.interviews.history import name_person

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
    pytest.mark.skipif(CHROMIUM is None, reason="Chromium is not installed"),
    pytest.mark.slow,
]
MANAGE = "/analyst/questionnaires/people"
SIZES = [
    pytest.param(size, scripts, id=f"{name}-{'scripts' if scripts else 'no scripts'}")
    for name, size in (("phone", PHONE), ("desktop", DESKTOP))
    for scripts in (True, False)
]
N_PEOPLE = 40


@pytest.fixture(scope="module")
def people() -> list[str]:
    """The names of the people who answered; `site` fills the list."""
    return []


@pytest.fixture(scope="module")
def site(model_file, people):  # noqa: F811  # the fixture that was imported
    with served(model_file, "--target", "stage", EDDI_RATE="0") as address:
        with httpx.Client(base_url=address, timeout=30) as client:
            people += [answer(client, number) for number in range(N_PEOPLE)]
        yield address


def answer(client: httpx.Client, number: int) -> str:
    step = client.post("/interviews").json()
    key = step["id"]
    while step["question"] is not None and (number % 4 or step["question"]["name"] == "age"):
        values = {v["name"]: choose(v, number) for v in step["question"]["reveals"]}
        body = {"question": step["question"]["name"], "values": values, "confirm": True}
        response = client.post(f"/interviews/{key}/answers", json=body)
        assert response.is_success, response.text
        step = response.json()
    return name_person(key)


def choose(variable: dict, number: int) -> object:
    """A value that differs from person to person."""
    levels = variable.get("levels") or {"visits": [0, 1, 2, 4]}.get(variable["name"], range(30, 80))
    return levels[7 * number % len(levels)]


def check(page: Page, name: str, *, scripts: bool) -> None:
    """Check the accessibility of a page and its width; keep a picture if a folder is named."""
    if scripts:
        assert accessibility_violations(page) == []
        width = page.evaluate("document.documentElement.scrollWidth - window.innerWidth")
        assert width <= 0, f"{name} is {width} pixels too wide"
    if folder := os.environ.get("EDDI_PICTURES"):
        width = page.viewport_size["width"] if page.viewport_size else 0
        page.screenshot(path=Path(folder) / f"{name}-{width}.png", full_page=True)


@pytest.mark.parametrize(("size", "scripts"), SIZES)
def test_outcomes_of_a_file_appear_on_the_dashboard(visit, people, size, scripts):  # noqa: F811
    page = visit(size, scripts=scripts)
    page.goto(f"{MANAGE}/outcomes")
    lines = [f"{name},{'early' if number % 3 else 'late'}" for number, name in enumerate(people)]
    text = "\n".join(["interview,value", *lines, "nobody,late"])
    page.set_input_files("#file", {"name": "lab.csv", "mimeType": "text/csv", "buffer": text.encode()})
    click(page.get_by_role("button", name="Import"))
    expect(page.get_by_text("Line 42: nobody called 'nobody'")).to_be_visible()
    check(page, "outcomes", scripts=scripts)
    page.goto(f"{MANAGE}/dashboard")
    expect(page.get_by_text(f"of {N_PEOPLE}, ")).to_be_visible()
    expect(page.get_by_text(f"{N_PEOPLE} interviews, {N_PEOPLE} outcomes")).to_be_visible()
    check(page, "dashboard", scripts=scripts)


@pytest.mark.parametrize(("size", "scripts"), SIZES)
def test_the_outcome_of_a_person_is_corrected_on_their_page(visit, people, size, scripts):  # noqa: F811
    page = visit(size, scripts=scripts)
    page.goto(f"{MANAGE}/answers")
    click(page.get_by_role("link", name=people[-1]))
    page.get_by_label("Stage").select_option("last")
    click(page.get_by_role("button", name="Save the outcome"))
    expect(page.get_by_label("Stage")).to_have_value("last")
    expect(page.get_by_text("Recorded")).to_be_visible()
    check(page, "person", scripts=scripts)
    page.goto(f"{MANAGE}/answers")
    expect(page.get_by_text("outcome: last")).to_be_visible()
    check(page, "answers", scripts=scripts)
