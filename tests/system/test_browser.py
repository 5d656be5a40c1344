"""Respondents in a real browser, on a phone and a desktop, with and without scripts."""

import os
import re
import shutil
import subprocess
import time
from contextlib import contextmanager
from importlib.resources import files
from pathlib import Path

import pytest
from playwright.sync_api import Locator, Page, expect, sync_playwright

from eddi import Variable

from .conftest import COMMAND, ENVIRONMENT

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
PHONE, DESKTOP, NARROW = (390, 844), (1280, 860), (320, 640)
AXE = files("axe_playwright_python").joinpath("axe.min.js").read_text(encoding="utf-8")
RULES = ("wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice")
MIN_TARGET_SIZE = 24  # CSS pixels, WCAG 2.2 success criterion 2.5.8
SECONDS_TO_START = 60
SECONDS_TO_ANSWER = 20  # on a busy machine

pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="Chromium is not installed")


@pytest.fixture(scope="module")
def model_file(tmp_path_factory, with_schema, people_schema) -> Path:
    """A model of people with questions for every control: number, slider, choices, buttons, several."""
    schema = people_schema.with_variable(Variable("age", "real", low=18, high=95, unit="years"))
    schema = schema.with_question("age", text="How old are you?", always=True)
    schema = schema.with_question("smoker", text="Do you smoke?")
    schema = schema.with_question("pain", text="How strong is your pain?")
    schema = schema.with_question("body", reveals=["weight", "visits"], text="What about your body?")
    path = tmp_path_factory.mktemp("browser") / "people.eddi"
    with_schema(schema).save(path)
    return path


@contextmanager
def served(model_file: Path, *arguments: str, **settings: str):
    """Run `eddi serve` in a process with these environment variables, and yield its address."""
    log = model_file.with_suffix(".log")  # a pipe that is not read would fill up and block the server
    command = [COMMAND, "serve", str(model_file), "--port", "0", "--store", "memory:", *arguments]
    with log.open("w", encoding="utf-8") as stderr:
        environment = {**ENVIRONMENT, **settings}
        process = subprocess.Popen(command, cwd=model_file.parent, env=environment, stderr=stderr)
    try:
        yield _read_address(process, log)
    finally:
        process.terminate()
        process.wait(SECONDS_TO_START)


def _read_address(process: "subprocess.Popen[bytes]", log: Path) -> str:
    deadline = time.monotonic() + SECONDS_TO_START
    while time.monotonic() < deadline and process.poll() is None:
        if match := re.search(r"is served at (http://\S+)", log.read_text(encoding="utf-8")):
            return match[1]
        time.sleep(0.05)
    raise AssertionError(f"the server did not print its address: {log.read_text(encoding='utf-8')}")


@pytest.fixture(scope="module")
def site(model_file):
    with served(model_file, "--target", "stage") as address:
        yield address


@pytest.fixture(scope="module")
def browser():
    # Chromium's sandbox does not work as root.
    flags = ["--no-sandbox"] if hasattr(os, "geteuid") and os.geteuid() == 0 else []
    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=CHROMIUM, args=flags)
        yield chromium
        chromium.close()


@pytest.fixture
def visit(browser, site):
    """Opens the start page: `visit(PHONE, scheme="dark", scripts=False)`. Script errors fail the test."""
    contexts, script_errors = [], []

    def note_policy_violation(message):
        if "Security Policy" in message.text:
            script_errors.append(message.text)

    def open_page(size=PHONE, *, scheme="light", scripts=True) -> Page:
        context = browser.new_context(
            viewport={"width": size[0], "height": size[1]},
            color_scheme=scheme,
            java_script_enabled=scripts,
            base_url=site,
        )
        context.set_default_timeout(SECONDS_TO_ANSWER * 1000)
        contexts.append(context)
        page = context.new_page()
        page.on("pageerror", lambda error: script_errors.append(f"{error}"))
        page.on("console", note_policy_violation)
        page.goto("/")
        return page

    yield open_page
    for context in contexts:
        context.close()
    assert script_errors == []


def begin(page: Page) -> Page:
    page.get_by_role("button", name="Begin").click()
    expect(page.get_by_text("Question 1", exact=True)).to_be_visible()
    return page


def click(control: Locator) -> None:
    """Click a control that opens another page, and wait for it: a click alone does not wait."""
    with control.page.expect_navigation():
        control.click()


def defer_until(page: Page, text: str) -> Page:
    """Put questions off until this one is asked."""
    for _ in range(12):
        if page.get_by_role("heading", level=1, name=text).count():
            return page
        click(page.get_by_role("button", name="Later"))
    raise AssertionError(f"{text} was never asked")


def answer(page: Page) -> None:
    """Give a valid answer, whatever is asked."""
    buttons = page.locator("button.answer")
    if buttons.count():
        click(buttons.first)
        return
    if page.locator("html.js form[data-choose]").count():
        click(page.locator(".choices label").nth(1))  # choosing an option sends the form
        return
    for choices in page.locator(".choices").all():
        choices.locator("label").nth(1).click()
    for box in page.locator("form.question .box input").all():
        box.fill("50")
    click(page.locator("button.next"))


def interview_address(page: Page) -> str:
    """The address of the interview that a page belongs to."""
    return "/".join(page.url.split("/")[:5])


def accessibility_violations(page: Page) -> list[str]:
    """Return the violations that axe finds on a page."""
    page.evaluate(AXE)
    report = page.evaluate("rules => axe.run(document, {runOnly: rules})", list(RULES))
    return [
        f"{page.url}: {violation['id']}: {violation['nodes'][0]['html']}"
        for violation in report["violations"]
    ]


@pytest.mark.parametrize(
    "scripts",
    [pytest.param(True, id="scripts"), pytest.param(False, id="no scripts", marks=pytest.mark.slow)],
)
@pytest.mark.parametrize(
    "size",
    [pytest.param(PHONE, id="phone"), pytest.param(DESKTOP, id="desktop", marks=pytest.mark.slow)],
)
def test_an_interview_leads_from_start_to_result(visit, size, scripts):
    page = begin(visit(size, scripts=scripts))
    n_asked = 0
    while "/result" not in page.url:
        assert page.locator("h1").count() == 1
        n_asked += 1
        answer(page)
    assert n_asked == 6
    expect(page.get_by_role("heading", name="Our estimate now")).to_be_visible()
    expect(page.get_by_role("heading", name="What mattered")).to_be_visible()
    assert page.locator("tbody tr").count() == 6


@pytest.mark.slow
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_no_page_violates_accessibility_rules(visit, scheme):
    page = visit(PHONE, scheme=scheme)
    violations = accessibility_violations(page)
    for question in ("Do you smoke?", "How strong is your pain?", "What about your body?"):
        page = defer_until(begin(page) if question == "Do you smoke?" else page, question)
        violations += accessibility_violations(page)
    page.get_by_role("button", name="Why this question?").click()
    expect(page.get_by_role("heading", name="What could be asked now")).to_be_visible()
    violations += accessibility_violations(page)
    page.get_by_role("button", name="Next").click()
    expect(page.get_by_text("2 things need another look")).to_be_visible()
    violations += accessibility_violations(page)
    while "/result" not in page.url:
        answer(page)
    interview = interview_address(page)
    for ending in ("/result", "/answers", "/change/1", "/change/4", "/forget", "/nothing/here"):
        page.goto(interview + ending if "nothing" not in ending else f"/i/{'0' * 32}")
        violations += accessibility_violations(page)
    assert violations == []


@pytest.mark.slow
def test_an_accessibility_violation_would_be_found(visit):
    page = visit()
    page.evaluate("document.body.insertAdjacentHTML('beforeend', '<img src=\"/static/icon.svg\">')")
    assert "image-alt" in " ".join(accessibility_violations(page))


@pytest.mark.slow
def test_the_pages_can_be_used_with_the_keyboard(visit):
    page = visit(DESKTOP)
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.textContent") == "Skip to the content"
    page.keyboard.press("Enter")
    page.keyboard.press("Tab")
    press(page, "Enter")  # Begin
    defer_until_by_keyboard(page, "How old are you?")
    focus_by_tab(page, "input#v0")
    page.keyboard.type("61")
    press(page, "Enter")
    defer_until_by_keyboard(page, "How strong is your pain?")
    focus_by_tab(page, "input[type=radio]")
    page.keyboard.press("ArrowDown")
    press(page, "Enter")
    defer_until_by_keyboard(page, "Do you smoke?")
    focus_by_tab(page, "button.answer")
    press(page, "Space")
    page.goto(interview_address(page) + "/answers")
    assert page.locator(".value").all_inner_texts() == ["61 years", "Mild", "Yes"]


def press(page: Page, key: str) -> None:
    """Press a key that opens another page, and wait for it."""
    with page.expect_navigation():
        page.keyboard.press(key)


def defer_until_by_keyboard(page: Page, text: str) -> None:
    """Put questions off with the keyboard until this one is asked."""
    for _ in range(12):
        if page.get_by_role("heading", level=1, name=text).count():
            return
        focus_by_tab(page, "button[value=later]")
        press(page, "Enter")
    raise AssertionError(f"{text} was never asked")


def focus_by_tab(page: Page, selector: str) -> None:
    """Press Tab until an element has the focus, which must be visible on it or around it."""
    for _ in range(40):
        page.keyboard.press("Tab")
        if page.evaluate("selector => document.activeElement.matches(selector)", selector):
            assert page.evaluate(
                """() => [document.activeElement, document.activeElement.parentElement]
                .some(e => getComputedStyle(e).outlineStyle !== 'none')"""
            )
            return
    raise AssertionError(f"Tab never reached {selector}")


@pytest.mark.parametrize(
    "size",
    [
        pytest.param(NARROW, id="narrow", marks=pytest.mark.slow),
        pytest.param(PHONE, id="phone", marks=pytest.mark.slow),
        pytest.param(DESKTOP, id="desktop", marks=pytest.mark.slow),
    ],
)
def test_pages_fit_the_screen_and_controls_are_large_enough(visit, size):
    page = begin(visit(size))
    answer(page)
    key = interview_address(page)
    defer_until(page, "What about your body?")
    for address in ("/", key, f"{key}/why", f"{key}/answers", f"{key}/result", f"{key}/forget"):
        page.goto(address)
        assert page.evaluate("document.documentElement.scrollWidth") <= size[0]
        small = page.evaluate(
            """minimum => [...document.querySelectorAll('button, nav a, .second, .next, .choice, input')]
            .filter(e => e.type !== 'hidden' && e.checkVisibility() && !e.closest('.choice, .silent'))
            .map(e => [e.outerHTML.slice(0, 80), e.getBoundingClientRect()])
            .filter(([, r]) => r.width && Math.min(r.width, r.height) < minimum).map(([html]) => html)""",
            MIN_TARGET_SIZE,
        )
        assert small == []


@pytest.mark.slow
def test_the_layout_does_not_shift_while_a_page_loads(visit):
    page = defer_until(begin(visit(PHONE)), "How old are you?")
    page.reload()
    total_shift = page.evaluate(
        """() => new Promise(done => {
            let sum = 0;
            new PerformanceObserver(list => { for (const entry of list.getEntries()) sum += entry.value; })
                .observe({type: 'layout-shift', buffered: true});
            setTimeout(() => done(sum), 300);
        })"""
    )
    assert total_shift == 0


@pytest.mark.slow
def test_a_slider_and_its_box_have_the_same_value(visit):
    page = defer_until(begin(visit()), "How old are you?")
    box, slider = page.get_by_label("How old are you?", exact=True), page.get_by_role("slider")
    expect(box).to_have_value("")
    slider.press("ArrowRight")
    expect(box).to_have_value(slider.input_value())
    box.fill("42")
    expect(slider).to_have_value("42")


@pytest.mark.slow
def test_without_scripts_there_are_no_controls_that_need_them(visit):
    page = defer_until(begin(visit(scripts=False)), "How old are you?")
    expect(page.get_by_role("slider")).to_have_count(0)
    page.goto(f"{interview_address(page)}/result")
    expect(page.get_by_role("button", name="Copy")).to_have_count(0)


@pytest.mark.parametrize(
    "scripts",
    [pytest.param(True, id="scripts"), pytest.param(False, id="no scripts", marks=pytest.mark.slow)],
)
def test_an_invalid_answer_stays_in_its_box_with_an_explanation(visit, scripts):
    page = defer_until(begin(visit(scripts=scripts)), "How old are you?")
    page.locator("#v0").fill("abc")
    page.get_by_role("button", name="Next").click()
    expect(page.locator("#v0")).to_have_value("abc")
    expect(page.locator("#v0-error")).to_contain_text("Enter a number between 18 and 95, in years.")
    if scripts:
        expect(page.locator("#v0")).to_be_focused()
        page.locator("#v0").fill("50")
        page.get_by_role("button", name="Next").click()
        expect(page.get_by_text("Question 2", exact=True)).to_be_visible()
        page.go_back()  # to the question before; the form with the error is not sent again
        expect(page.get_by_text("Your answer 1 of 1")).to_be_visible()


def test_why_opens_in_place_and_keeps_the_input(visit):
    page = defer_until(begin(visit(DESKTOP)), "How old are you?")
    page.locator("#v0").fill("61")
    why = page.get_by_role("button", name="Why this question?")
    why.click()
    expect(page.get_by_role("heading", name="What could be asked now")).to_be_visible()
    expect(why).to_have_attribute("aria-expanded", "true")
    expect(page.locator("#v0")).to_have_value("61")
    why.click()
    expect(page.get_by_role("heading", name="What could be asked now")).to_be_hidden()


@pytest.mark.slow
def test_without_scripts_why_is_a_separate_page(visit):
    page = begin(visit(scripts=False))
    question = page.get_by_role("heading", level=1).inner_text()
    page.get_by_role("link", name="Why this question?").click()
    expect(page.get_by_role("heading", level=1)).to_have_text(question)
    page.get_by_role("link", name="Back to the question").click()
    expect(page.get_by_text("Question 1", exact=True)).to_be_visible()


@pytest.mark.slow
@pytest.mark.parametrize(
    "scripts",
    [pytest.param(True, id="scripts"), pytest.param(False, id="no scripts")],
)
def test_back_shows_the_last_answer_for_a_change(visit, scripts):
    page = defer_until(begin(visit(scripts=scripts)), "How old are you?")
    page.locator("#v0").fill("61")
    page.get_by_role("button", name="Next").click()
    page.get_by_role("link", name="Back").click()
    expect(page.locator("#v0")).to_have_value("61")
    page.locator("#v0").fill("62")
    page.get_by_role("button", name="Save the change").click()
    expect(page.get_by_text("Question 2", exact=True)).to_be_visible()
    page.get_by_role("navigation").get_by_role("link", name="Answers").click()
    expect(page.locator(".value")).to_have_text("62 years")
    page.get_by_role("button", name="Undo the last answer").click()
    expect(page.get_by_text("Nothing yet.")).to_be_visible()


@pytest.mark.slow
def test_an_interview_can_be_continued_in_another_browser_by_its_link(visit):
    page = begin(visit(PHONE))
    answer(page)
    page.get_by_role("navigation").get_by_role("link", name="Result").click()
    link = page.get_by_label("Your private link").input_value()
    other = visit(DESKTOP)
    other.get_by_text("I already have a link").click()
    other.get_by_label("Your link").fill(link)
    other.get_by_role("button", name="Continue where I left off").click()
    expect(other.get_by_text("Question 2", exact=True)).to_be_visible()


@pytest.mark.slow
def test_a_double_click_answers_once(visit):
    page = defer_until(begin(visit()), "Do you smoke?")
    page.get_by_role("button", name="Yes").dblclick()
    expect(page.get_by_text("Question 2", exact=True)).to_be_visible()
    page.get_by_role("navigation").get_by_role("link", name="Answers").click()
    expect(page.locator(".answers li")).to_have_count(1)


@pytest.mark.slow
def test_two_tabs_cannot_overwrite_each_other(visit):
    page = defer_until(begin(visit()), "How old are you?")
    tab = page.context.new_page()
    tab.goto(page.url)
    page.locator("#v0").fill("61")
    page.get_by_role("button", name="Next").click()
    defer_until(tab, "How old are you?")  # on the old page
    tab.locator("#v0").fill("30")
    tab.get_by_role("button", name="Next").click()
    expect(tab.get_by_text("You answered this already: 61 years.")).to_be_visible()
    page.get_by_role("navigation").get_by_role("link", name="Answers").click()
    expect(page.locator(".value")).to_have_text("61 years")


@pytest.mark.slow
def test_answers_are_forgotten_after_confirmation(visit):
    page = begin(visit())
    answer(page)
    key = page.url
    page.get_by_text("Your private link", exact=True).click()
    page.get_by_role("link", name="Forget my answers").click()
    page.get_by_role("button", name="Forget them permanently").click()
    expect(page.get_by_role("heading", name="Your answers are forgotten")).to_be_visible()
    page.goto(key)
    expect(page.get_by_role("heading", name="There is no interview at this link")).to_be_visible()


@pytest.mark.slow
def test_a_printed_result_has_no_navigation(visit):
    page = begin(visit(DESKTOP))
    answer(page)
    page.get_by_role("navigation").get_by_role("link", name="Result").click()
    page.emulate_media(media="print")
    expect(page.get_by_role("navigation")).to_have_count(0)
    expect(page.get_by_label("Your private link")).to_be_hidden()
    expect(page.get_by_role("heading", name="Our estimate now")).to_be_visible()
