"""Analysts at a real browser: bring a table, correct it, train, publish and roll back."""

import random
import re
import subprocess
from contextlib import contextmanager
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from .conftest import COMMAND, ENVIRONMENT
from .test_browser import (
    CHROMIUM,
    DESKTOP,
    MIN_TARGET_SIZE,
    NARROW,
    PHONE,
    SECONDS_TO_START,
    _read_address,
    accessibility_violations,
    answer,
    browser,  # noqa: F401  # a fixture
)

SECONDS_TO_TRAIN = 240  # on a busy machine, where people who are interviewed go first
pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="no Chromium here; apt-get install chromium")


@contextmanager
def workshop_at(folder: Path, **environment: str):
    """`eddi serve` without a model, in a process of its own; gives its address."""
    talk = folder / "talk.log"
    command = [COMMAND, "serve", "--port", "0", "--store", "sqlite:///answers.db"]
    environment = {**ENVIRONMENT, "EDDI_RATE": "0", **environment}
    with talk.open("w", encoding="utf-8") as out:
        process = subprocess.Popen(command, cwd=folder, env=environment, stderr=out)
    try:
        yield _read_address(process, talk)
    finally:
        process.terminate()
        process.wait(SECONDS_TO_START)


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    with workshop_at(tmp_path_factory.mktemp("workshop")) as address:
        yield address


@pytest.fixture(scope="module")
def people_file(tmp_path_factory) -> Path:
    """100 people with holes, and a column that gives their weight away."""
    dice = random.Random(4)  # noqa: S311  # no secrets here
    lines = ["name,age,smoker,pain,visits,weight,pounds"]
    for number in range(100):
        weight = dice.gauss(75, 12)
        age = "" if dice.random() < 0.2 else f"{30 + 0.4 * weight + dice.gauss(0, 5):.1f}"
        words = (dice.choice(["yes", "no"]), dice.choice(["none", "mild", "strong"]))
        visits = dice.choice([0, 0, 1, 1, 2, 3, 5, 9, 14])
        cells = (f"person {number}", age, *words, visits, f"{weight:.1f}", f"{weight * 2.2046:.2f}")
        lines.append(",".join(map(str, cells)))
    path = tmp_path_factory.mktemp("brought") / "people.csv"
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


@pytest.fixture
def visit(browser, site):  # noqa: F811  # the fixture that was imported
    """Opens pages: `visit(PHONE, scheme="dark", scripts=False)`; nothing may go wrong on them."""
    contexts, wrong = [], []

    def open_table(size=DESKTOP, *, scheme="light", scripts=True) -> Page:
        context = browser.new_context(
            viewport={"width": size[0], "height": size[1]},
            color_scheme=scheme,
            java_script_enabled=scripts,
            base_url=site,
        )
        context.set_default_timeout(SECONDS_TO_TRAIN * 1000)
        contexts.append(context)
        page = context.new_page()
        page.on("pageerror", lambda error: wrong.append(f"{error}"))
        page.on(
            "console", lambda said: wrong.append(said.text) if "Security Policy" in said.text else None
        )
        page.goto("/analyst")
        return page

    yield open_table
    for context in contexts:
        context.close()
    assert wrong == []


def bring(page: Page, file: Path) -> Page:
    """Upload a table, and look its schema over."""
    page.goto("/analyst/tables")
    page.get_by_label("A file").set_input_files(file)
    page.get_by_role("button", name="Upload").click()
    expect(page.get_by_role("heading", level=1, name="people.csv")).to_be_visible()
    page.get_by_role("link", name="Look over the schema").click()
    return page


def more(page: Page, column: str):
    """The line of a column, unfolded."""
    line = page.get_by_role("group", name=column, exact=True)
    if not line.get_by_label("Asked together with").is_visible():
        line.locator("summary").click()
    return line


def train(page: Page, *, steps: int) -> Page:
    """From the schema to a job that was asked for; nothing is held out, so that nothing is judged."""
    page.get_by_role("button", name="Save and go on to training").click()
    page.get_by_label("Rows held out").select_option("none")
    page.get_by_text("More choices").click()
    page.get_by_label("Recipe").select_option("paper")
    page.get_by_label("Steps at most").fill(f"{steps}")
    page.get_by_role("button", name="Start training").click()
    return page


def seen(page: Page, words: str, *, scripts: bool = True) -> None:
    """Wait until a job says this; without scripts by looking again."""
    heading = page.get_by_role("heading", level=1, name=words, exact=True)
    if scripts:
        expect(heading).to_be_visible(timeout=SECONDS_TO_TRAIN * 1000)
        return
    for _ in range(SECONDS_TO_TRAIN * 2):
        if heading.count():
            return
        page.get_by_role("link", name="Look again").click()
        page.wait_for_timeout(500)
    raise AssertionError(f"the job never said {words!r}")


@pytest.mark.parametrize(
    ("size", "scripts"), [(DESKTOP, True), (PHONE, False)], ids=["desk", "phone without scripts"]
)
def test_a_table_becomes_a_questionnaire(visit, people_file, size, scripts):
    page = bring(visit(size, scripts=scripts), people_file)
    # The grid is corrected, refused where it must be, and warns of what gives the target away.
    page.get_by_label("Role of weight").select_option("Find out (target)")
    page.get_by_label("Wording of smoker").fill("Do you smoke?")
    more(page, "age").get_by_label("Least").fill("old")
    page.get_by_role("button", name="Save", exact=True).click()
    expect(page.get_by_role("alert")).to_contain_text("Low of 'age' must be a number, got 'old'.")
    expect(page.get_by_label("Wording of smoker")).to_have_value("Do you smoke?")
    more(page, "age").get_by_label("Least").fill("18")
    more(page, "pain").get_by_label("Asked together with").fill("health")
    more(page, "visits").get_by_label("Asked together with").fill("health")
    page.get_by_label("Wording of pain").fill("How is your health?")
    page.get_by_role("button", name="Save", exact=True).click()
    expect(page.get_by_text("Tells 100% of 'weight' by itself.")).to_be_visible()
    page.get_by_label("Role of pounds").select_option("Leave out")
    # It is trained, and published.
    train(page, steps=300)
    seen(page, "Trained", scripts=scripts)
    expect(page.locator("svg.chart polyline").first).to_be_visible()
    page.get_by_role("link", name="Publish it").click()
    name = f"weights at {size[0]}"
    page.get_by_label("Name", exact=True).fill(name)
    page.get_by_role("button", name="Publish").click()
    expect(page.get_by_text("new interviews take this one")).to_be_visible()
    # A person answers it.
    page.get_by_role("link", name="Answer it").click()
    page.get_by_role("button", name="Begin").click()
    expect(page.get_by_text("Question 1", exact=True)).to_be_visible()
    answer(page)
    interview = page.url
    # A second version ends after one answer; who began with the first goes on with it.
    page.goto(f"/analyst/questionnaires/{name}")
    page.get_by_role("main").locator("code").first.click()
    page.goto(f"{page.url}/publish")
    page.get_by_label("Name", exact=True).fill(name)
    page.get_by_label("Stop after this many answers").fill("1")
    page.get_by_role("button", name="Publish").click()
    expect(page.get_by_text("by version 2; stops after 1 answers")).to_be_visible()
    page.goto(f"/q/{name}")
    page.get_by_role("button", name="Begin").click()
    answer(page)
    expect(page.get_by_role("heading", name="Our estimate now")).to_be_visible()
    page.goto(interview)
    expect(page.get_by_text("Question 2", exact=True)).to_be_visible()
    # And back to the first.
    page.goto(f"/analyst/questionnaires/{name}")
    page.get_by_role("button", name=re.compile("Go back to this one.*version 1")).click()
    expect(page.get_by_text("by version 1; asks everything it may")).to_be_visible()
    page.goto(f"/q/{name}")
    page.get_by_role("button", name="Begin").click()
    answer(page)
    expect(page.get_by_text("Question 2", exact=True)).to_be_visible()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_curve_grows_while_it_trains_and_training_is_cancelled_and_resumed(visit, people_file, scheme):
    page = bring(visit(PHONE if scheme == "dark" else DESKTOP, scheme=scheme), people_file)
    page.get_by_label("Role of weight").select_option("target")
    found = accessibility_violations(page)
    train(page, steps=100_000)
    line = page.locator("polyline.curve").first
    expect(line).to_be_visible(timeout=SECONDS_TO_TRAIN * 1000)
    first = line.get_attribute("points")
    page.evaluate("window.same = true")
    wait = SECONDS_TO_TRAIN * 1000
    expect(line).not_to_have_attribute("points", first, timeout=wait)  # by itself, on the same page
    assert page.evaluate("window.same")
    expect(page.locator("[data-part=left]")).to_contain_text(re.compile(r"\d+% done\. About"))
    found += accessibility_violations(page)
    page.get_by_role("button", name="Cancel").click()
    expect(page.get_by_role("heading", level=1, name="Cancelled")).to_be_visible()
    found += accessibility_violations(page)
    page.get_by_role("button", name="Go on with it").click()
    seen(page, "Training")
    page.get_by_role("button", name="Cancel").click()
    expect(page.get_by_role("heading", level=1, name="Cancelled")).to_be_visible()
    assert found == []


@pytest.mark.parametrize("size", [NARROW, PHONE, DESKTOP], ids=["narrow", "phone", "desk"])
def test_pages_fit_their_width_and_axe_finds_nothing(visit, people_file, size):
    page = bring(visit(size, scheme="dark" if size == PHONE else "light"), people_file)
    page.get_by_label("Role of weight").select_option("target")
    more(page, "age").get_by_label("Least").fill("old")
    page.get_by_role("button", name="Save", exact=True).click()
    expect(page.get_by_role("alert")).to_be_visible()
    found = [*accessibility_violations(page), *misfits(page, size)]
    table = page.url.removesuffix("/schema")
    for where in ("", "/schema", "/fit", "/forget"):
        page.goto(table + where)
        found += [*accessibility_violations(page), *misfits(page, size)]
    for where in ("/analyst", "/analyst/tables", "/analyst/jobs/000000000000"):
        page.goto(where)
        found += [*accessibility_violations(page), *misfits(page, size)]
    assert found == []


def misfits(page: Page, size: tuple[int, int]) -> list[str]:
    """What is wider than the page, or too small to be pressed."""
    small = page.evaluate(
        """least => [...document.querySelectorAll('button, nav a, .next, input, select, summary')]
        .filter(e => e.type !== 'hidden' && e.checkVisibility())
        .map(e => [e.outerHTML.slice(0, 80), e.getBoundingClientRect()])
        .filter(([, r]) => r.width && Math.min(r.width, r.height) < least).map(([html]) => html)""",
        MIN_TARGET_SIZE,
    )
    wide = page.evaluate("document.documentElement.scrollWidth")
    return [*small, *([f"{page.url} is {wide} wide"] if wide > size[0] else [])]


def test_a_table_that_is_none_is_explained_where_it_was_chosen(visit, tmp_path):
    file = tmp_path / "notes.csv"
    file.write_text("a\n1\n1\n")
    page = visit(PHONE)
    page.goto("/analyst/tables")
    page.get_by_label("A file").set_input_files(file)
    page.get_by_role("button", name="Upload").click()
    expect(page.locator("#file-error")).to_contain_text("Nothing is left to model.")
    expect(page.get_by_label("A file")).to_be_focused()
    assert accessibility_violations(page) == []


def test_the_keyboard_is_enough_to_correct_a_line(visit, people_file):
    page = bring(visit(DESKTOP), people_file)
    for _ in range(60):
        page.keyboard.press("Tab")
        if page.evaluate("document.activeElement.id.startsWith('role-')"):
            break
    page.keyboard.press("Tab")
    page.keyboard.press("Tab")
    page.keyboard.type("Who are you?")
    wording = page.evaluate("document.activeElement.value")
    assert wording == "Who are you?"
    page.keyboard.press("Tab")
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.tagName") == "SUMMARY"
    with page.expect_navigation():
        page.get_by_role("button", name="Save", exact=True).press("Enter")


def test_analysts_sign_in_where_keys_are_needed(browser, tmp_path):  # noqa: F811
    issue = [COMMAND, "keys", "issue", "analyst", "--store", "sqlite:///answers.db"]
    said = subprocess.run(
        issue, cwd=tmp_path, env=ENVIRONMENT, capture_output=True, text=True, check=True
    )
    with workshop_at(tmp_path, EDDI_KEYS="required") as address:
        page = browser.new_page(base_url=address)
        page.set_default_timeout(SECONDS_TO_TRAIN * 1000)
        page.goto("/analyst/tables")
        expect(page.get_by_role("heading", name="Sign in to the workshop")).to_be_visible()
        found = accessibility_violations(page)
        page.get_by_label("Your key").fill("eddi_wrong")
        page.get_by_role("button", name="Sign in").click()
        expect(page.locator("#key-error")).to_be_visible()
        found += accessibility_violations(page)
        page.get_by_label("Your key").fill(said.stdout.strip())
        page.get_by_role("button", name="Sign in").click()
        expect(page.get_by_role("heading", name="Bring a table")).to_be_visible()
        page.get_by_role("button", name="Sign out").click()
        expect(page.get_by_role("heading", name="Sign in to the workshop")).to_be_visible()
        page.goto("/analyst")
        expect(page.get_by_role("heading", name="Sign in to the workshop")).to_be_visible()
        page.close()
    assert found == []
