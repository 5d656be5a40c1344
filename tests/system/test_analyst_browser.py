"""Analysts in a real browser: upload a table, correct its schema, train, publish and roll back."""

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

SECONDS_TO_TRAIN = 240  # on a busy machine; training has a low priority
pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="Chromium is not installed")


@contextmanager
def serve_workshop(folder: Path, **environment: str):
    """The address of an `eddi serve` process without a model."""
    log = folder / "server.log"
    command = [COMMAND, "serve", "--port", "0", "--store", "sqlite:///answers.db"]
    environment = {**ENVIRONMENT, "EDDI_RATE": "0", **environment}
    with log.open("w", encoding="utf-8") as out:
        process = subprocess.Popen(command, cwd=folder, env=environment, stderr=out)
    try:
        yield _read_address(process, log)
    finally:
        process.terminate()
        process.wait(SECONDS_TO_START)


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    with serve_workshop(tmp_path_factory.mktemp("workshop")) as address:
        yield address


@pytest.fixture(scope="module")
def people_file(tmp_path_factory) -> Path:
    """100 people with missing values, and a column that leaks their weight."""
    dice = random.Random(4)  # noqa: S311  # no secrets here
    lines = ["name,age,smoker,pain,visits,weight,pounds"]
    for number in range(100):
        weight = dice.gauss(75, 12)
        age = "" if dice.random() < 0.2 else f"{30 + 0.4 * weight + dice.gauss(0, 5):.1f}"
        levels = (dice.choice(["yes", "no"]), dice.choice(["none", "mild", "strong"]))
        visits = dice.choice([0, 0, 1, 1, 2, 3, 5, 9, 14])
        cells = (f"person {number}", age, *levels, visits, f"{weight:.1f}", f"{weight * 2.2046:.2f}")
        lines.append(",".join(map(str, cells)))
    path = tmp_path_factory.mktemp("upload") / "people.csv"
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


@pytest.fixture
def visit(browser, site):  # noqa: F811  # the fixture that was imported
    """Opens the workshop: `visit(PHONE, scheme="dark", scripts=False)`; fails on script errors."""
    contexts, errors = [], []

    def open_page(size=DESKTOP, *, scheme="light", scripts=True) -> Page:
        context = browser.new_context(
            viewport={"width": size[0], "height": size[1]},
            color_scheme=scheme,
            java_script_enabled=scripts,
            base_url=site,
        )
        context.set_default_timeout(SECONDS_TO_TRAIN * 1000)
        contexts.append(context)
        page = context.new_page()
        page.on("pageerror", lambda error: errors.append(f"{error}"))
        page.on(
            "console", lambda said: errors.append(said.text) if "Security Policy" in said.text else None
        )
        page.goto("/analyst")
        return page

    yield open_page
    for context in contexts:
        context.close()
    assert errors == []


def upload(page: Page, file: Path) -> Page:
    """Upload a table, and open its schema."""
    page.goto("/analyst/tables")
    page.get_by_label("A file").set_input_files(file)
    page.get_by_role("button", name="Upload").click()
    expect(page.get_by_role("heading", level=1, name="people.csv")).to_be_visible()
    page.get_by_role("link", name="Check the schema").click()
    return page


def unfold(page: Page, column: str):
    """All fields of a column."""
    row = page.get_by_role("group", name=column, exact=True)
    if not row.get_by_label("Asked together with").is_visible():
        row.locator("summary").click()
    return row


def train(page: Page, *, steps: int) -> Page:
    """Submit a training job from the schema page, without held-out rows and thus without an evaluation."""
    page.get_by_role("button", name="Save and continue to training").click()
    page.get_by_label("Rows held out").select_option("none")
    page.get_by_text("More options").click()
    page.get_by_label("Recipe").select_option("paper")
    page.get_by_label("Maximum number of steps").fill(f"{steps}")
    page.get_by_role("button", name="Start training").click()
    return page


def wait_for_heading(page: Page, text: str, *, scripts: bool = True) -> None:
    """Wait until a job has this heading; without scripts by reloading the page."""
    heading = page.get_by_role("heading", level=1, name=text, exact=True)
    if scripts:
        expect(heading).to_be_visible(timeout=SECONDS_TO_TRAIN * 1000)
        return
    for _ in range(SECONDS_TO_TRAIN * 2):
        if heading.count():
            return
        page.get_by_role("link", name="Reload").click()
        page.wait_for_timeout(500)
    raise AssertionError(f"the job never had the heading {text!r}")


@pytest.mark.parametrize(
    ("size", "scripts"),
    [
        pytest.param(DESKTOP, True, id="desktop", marks=pytest.mark.slow),
        pytest.param(PHONE, False, id="phone without scripts", marks=pytest.mark.slow),
    ],
)
def test_a_table_becomes_a_questionnaire(visit, people_file, size, scripts):
    page = upload(visit(size, scripts=scripts), people_file)
    # The schema is corrected; an error is refused, and a leak leads to a warning.
    page.get_by_label("Role: weight").select_option("Target")
    page.get_by_label("Wording: smoker").fill("Do you smoke?")
    unfold(page, "age").get_by_label("Minimum").fill("old")
    page.get_by_role("button", name="Save", exact=True).click()
    expect(page.get_by_role("alert")).to_contain_text("Low of 'age' must be a number, got 'old'.")
    expect(page.get_by_label("Wording: smoker")).to_have_value("Do you smoke?")
    unfold(page, "age").get_by_label("Minimum").fill("18")
    unfold(page, "pain").get_by_label("Asked together with").fill("health")
    unfold(page, "visits").get_by_label("Asked together with").fill("health")
    page.get_by_label("Wording: pain").fill("How is your health?")
    page.get_by_role("button", name="Save", exact=True).click()
    expect(page.get_by_text("Explains 100% of 'weight' on its own.")).to_be_visible()
    page.get_by_label("Role: pounds").select_option("Leave out")
    # The model is trained and published.
    train(page, steps=300)
    wait_for_heading(page, "Trained", scripts=scripts)
    expect(page.locator("svg.chart polyline").first).to_be_visible()
    page.get_by_role("link", name="Publish it").click()
    name = f"weights at {size[0]}"
    page.get_by_label("Name", exact=True).fill(name)
    page.get_by_role("button", name="Publish").click()
    expect(page.get_by_text("current, used by new interviews")).to_be_visible()
    # A respondent answers it.
    page.get_by_role("link", name="Answer it").click()
    page.get_by_role("button", name="Begin").click()
    expect(page.get_by_text("Question 1", exact=True)).to_be_visible()
    answer(page)
    interview = page.url
    # A second version stops after one answer; the first interview stays on version 1.
    page.goto(f"/analyst/questionnaires/{name}")
    page.get_by_role("main").locator("code").first.click()
    page.goto(f"{page.url}/publish")
    page.get_by_label("Name", exact=True).fill(name)
    page.get_by_label("Stop after this number of answers").fill("1")
    page.get_by_role("button", name="Publish").click()
    expect(
        page.get_by_text("New interviews use version 2. Target: weight; stops after one answer")
    ).to_be_visible()
    page.goto(f"/q/{name}")
    page.get_by_role("button", name="Begin").click()
    answer(page)
    expect(page.get_by_role("heading", name="Our estimate now")).to_be_visible()
    page.goto(interview)
    expect(page.get_by_text("Question 2", exact=True)).to_be_visible()
    # Version 1 is made current again.
    page.goto(f"/analyst/questionnaires/{name}")
    page.get_by_role("button", name=re.compile("Make current.*version 1")).click()
    expect(
        page.get_by_text("New interviews use version 1. Target: weight; asks all questions")
    ).to_be_visible()
    page.goto(f"/q/{name}")
    page.get_by_role("button", name="Begin").click()
    answer(page)
    expect(page.get_by_text("Question 2", exact=True)).to_be_visible()


@pytest.mark.slow
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_training_curve_is_updated_and_training_can_be_cancelled_and_resumed(
    visit, people_file, scheme
):
    page = upload(visit(PHONE if scheme == "dark" else DESKTOP, scheme=scheme), people_file)
    page.get_by_label("Role: weight").select_option("target")
    violations = accessibility_violations(page)
    train(page, steps=100_000)
    line = page.locator("polyline.curve").first
    expect(line).to_be_visible(timeout=SECONDS_TO_TRAIN * 1000)
    first = line.get_attribute("points")
    page.evaluate("window.isSamePage = true")
    wait = SECONDS_TO_TRAIN * 1000
    expect(line).not_to_have_attribute("points", first, timeout=wait)  # updated in place
    assert page.evaluate("window.isSamePage")
    expect(page.locator("[data-part=left]")).to_contain_text(re.compile(r"\d+% done\. At most about"))
    violations += accessibility_violations(page)
    page.get_by_role("button", name="Cancel").click()
    expect(page.get_by_role("heading", level=1, name="Cancelled")).to_be_visible()
    violations += accessibility_violations(page)
    page.get_by_role("button", name="Resume").click()
    wait_for_heading(page, "Training")
    page.get_by_role("button", name="Cancel").click()
    expect(page.get_by_role("heading", level=1, name="Cancelled")).to_be_visible()
    assert violations == []


@pytest.mark.parametrize(
    "size",
    [
        pytest.param(NARROW, id="narrow", marks=pytest.mark.slow),
        pytest.param(PHONE, id="phone", marks=pytest.mark.slow),
        pytest.param(DESKTOP, id="desktop", marks=pytest.mark.slow),
    ],
)
def test_pages_fit_the_screen_and_are_accessible(visit, people_file, size):
    page = upload(visit(size, scheme="dark" if size == PHONE else "light"), people_file)
    page.get_by_label("Role: weight").select_option("target")
    unfold(page, "age").get_by_label("Minimum").fill("old")
    page.get_by_role("button", name="Save", exact=True).click()
    expect(page.get_by_role("alert")).to_be_visible()
    violations = [*accessibility_violations(page), *find_misfits(page, size)]
    table = page.url.removesuffix("/schema")
    for address in ("", "/schema", "/fit", "/forget"):
        page.goto(table + address)
        violations += [*accessibility_violations(page), *find_misfits(page, size)]
    for address in ("/analyst", "/analyst/tables", "/analyst/jobs/000000000000"):
        page.goto(address)
        violations += [*accessibility_violations(page), *find_misfits(page, size)]
    assert violations == []


def find_misfits(page: Page, size: tuple[int, int]) -> list[str]:
    """Elements too small to press, together with the label around them, and pages wider than the screen."""
    small = page.evaluate(
        """least => [...document.querySelectorAll('button, nav a, .next, input, select, summary')]
        .filter(e => e.type !== 'hidden' && e.checkVisibility())
        .map(e => [e.outerHTML.slice(0, 80), (e.closest('label') ?? e).getBoundingClientRect()])
        .filter(([, r]) => r.width && Math.min(r.width, r.height) < least).map(([html]) => html)""",
        MIN_TARGET_SIZE,
    )
    wide = page.evaluate("document.documentElement.scrollWidth")
    return [*small, *([f"{page.url} is {wide} wide"] if wide > size[0] else [])]


@pytest.mark.slow
def test_the_error_of_an_upload_is_shown_at_the_file_field(visit, tmp_path):
    file = tmp_path / "notes.csv"
    file.write_text("a\n1\n1\n")
    page = visit(PHONE)
    page.goto("/analyst/tables")
    page.get_by_label("A file").set_input_files(file)
    page.get_by_role("button", name="Upload").click()
    expect(page.locator("#file-error")).to_contain_text("Nothing is left to model.")
    expect(page.get_by_label("A file")).to_be_focused()
    assert accessibility_violations(page) == []


@pytest.mark.slow
def test_the_schema_can_be_corrected_with_the_keyboard_alone(visit, people_file):
    page = upload(visit(DESKTOP), people_file)
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


@pytest.mark.slow
def test_analysts_sign_in_if_the_server_needs_keys(browser, tmp_path):  # noqa: F811
    issue = [COMMAND, "keys", "issue", "analyst", "--store", "sqlite:///answers.db"]
    issued = subprocess.run(
        issue, cwd=tmp_path, env=ENVIRONMENT, capture_output=True, text=True, check=True
    )
    with serve_workshop(tmp_path, EDDI_KEYS="required") as address:
        page = browser.new_page(base_url=address)
        page.set_default_timeout(SECONDS_TO_TRAIN * 1000)
        page.goto("/analyst/tables")
        expect(page.get_by_role("heading", name="Sign in to the workshop")).to_be_visible()
        violations = accessibility_violations(page)
        page.get_by_label("Your key").fill("eddi_wrong")
        page.get_by_role("button", name="Sign in").click()
        expect(page.locator("#key-error")).to_be_visible()
        violations += accessibility_violations(page)
        page.get_by_label("Your key").fill(issued.stdout.strip())
        page.get_by_role("button", name="Sign in").click()
        expect(page.get_by_role("heading", name="Upload a table")).to_be_visible()
        page.get_by_role("button", name="Sign out").click()
        expect(page.get_by_role("heading", name="Sign in to the workshop")).to_be_visible()
        page.goto("/analyst")
        expect(page.get_by_role("heading", name="Sign in to the workshop")).to_be_visible()
        page.close()
    assert violations == []
