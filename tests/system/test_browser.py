"""Respondents at a real browser, on a telephone and on a desk, with and without scripts."""

import copy
import os
import re
import shutil
import subprocess
import time
from contextlib import contextmanager
from importlib.resources import files
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect, sync_playwright

from eddi import Variable

from .conftest import COMMAND, ENVIRONMENT

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
PHONE, DESK, NARROW = (390, 844), (1280, 860), (320, 640)
AXE = files("axe_playwright_python").joinpath("axe.min.js").read_text(encoding="utf-8")
RULES = ("wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice")
LEAST_TARGET = 24  # CSS pixels, WCAG 2.2 success criterion 2.5.8
SECONDS_TO_START = 60
SECONDS_TO_ANSWER = 20  # on a busy machine

pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="no Chromium here; apt-get install chromium")


@pytest.fixture(scope="module")
def model_file(tmp_path_factory, people_model) -> Path:
    """People asked in whole sentences: choices, yes or no, a range, a panel, a list of towns."""
    model = copy.copy(people_model())
    schema = model.schema_.with_variable(Variable("age", "real", low=18, high=95, unit="years"))
    schema = schema.with_question("age", text="How old are you?", always=True)
    schema = schema.with_question("smoker", text="Do you smoke?")
    schema = schema.with_question("pain", text="How strong is your pain?")
    schema = schema.with_question("body", reveals=["weight", "visits"], text="What about your body?")
    model.schema_ = schema
    path = tmp_path_factory.mktemp("browser") / "people.eddi"
    model.save(path)
    return path


@contextmanager
def served(model_file: Path, *words: str, **settings: str):
    """`eddi serve` in a process of its own, with settings of the environment; gives its address."""
    talk = model_file.with_suffix(".log")  # a pipe that nobody reads would fill up and halt the server
    command = [COMMAND, "serve", str(model_file), "--port", "0", "--store", "memory:", *words]
    with talk.open("w", encoding="utf-8") as out:
        environment = {**ENVIRONMENT, **settings}
        process = subprocess.Popen(command, cwd=model_file.parent, env=environment, stderr=out)
    try:
        yield _address(process, talk)
    finally:
        process.terminate()
        process.wait(SECONDS_TO_START)


def _address(process: "subprocess.Popen[bytes]", talk: Path) -> str:
    end = time.monotonic() + SECONDS_TO_START
    while time.monotonic() < end and process.poll() is None:
        if found := re.search(r"is served at (http://\S+)", talk.read_text(encoding="utf-8")):
            return found[1]
        time.sleep(0.05)
    raise AssertionError(f"the server did not say where it is: {talk.read_text(encoding='utf-8')}")


@pytest.fixture(scope="module")
def site(model_file):
    with served(model_file, "--target", "stage") as address:
        yield address


@pytest.fixture(scope="module")
def browser():
    # Root may not use Chromium's own sandbox.
    flags = ["--no-sandbox"] if hasattr(os, "geteuid") and os.geteuid() == 0 else []
    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=CHROMIUM, args=flags)
        yield chromium
        chromium.close()


@pytest.fixture
def visit(browser, site):
    """Opens pages: `visit(PHONE, scheme="dark", scripts=False)`; nothing may go wrong on them."""
    contexts, wrong = [], []

    def open_table(size=PHONE, *, scheme="light", scripts=True) -> Page:
        context = browser.new_context(
            viewport={"width": size[0], "height": size[1]},
            color_scheme=scheme,
            java_script_enabled=scripts,
            base_url=site,
        )
        context.set_default_timeout(SECONDS_TO_ANSWER * 1000)
        contexts.append(context)
        page = context.new_page()
        page.on("pageerror", lambda error: wrong.append(f"{error}"))
        page.on(
            "console", lambda said: wrong.append(said.text) if "Security Policy" in said.text else None
        )
        page.goto("/")
        return page

    yield opened
    for context in contexts:
        context.close()
    assert wrong == []


def begin(page: Page) -> Page:
    page.get_by_role("button", name="Begin").click()
    expect(page.get_by_text("Question 1", exact=True)).to_be_visible()
    return page


def until(page: Page, text: str) -> Page:
    """Put questions off until this one comes."""
    for _ in range(12):
        if page.get_by_role("heading", level=1, name=text).count():
            return page
        page.get_by_role("button", name="Later").click()
    raise AssertionError(f"{text} never came")


def answer(page: Page) -> None:
    """Answer whatever is asked by its own control."""
    presses = page.locator("button.answer")
    if presses.count():
        presses.first.click()
        return
    for choices in page.locator(".choices").all():
        choices.locator("label").nth(1).click()
    for box in page.locator(".box input").all():
        box.fill("50")
    page.locator("button.next").click()


def faults(page: Page) -> list[str]:
    """What axe has to say of a page."""
    page.evaluate(AXE)
    found = page.evaluate("rules => axe.run(document, {runOnly: rules})", list(RULES))
    return [f"{page.url}: {one['id']}: {one['nodes'][0]['html']}" for one in found["violations"]]


@pytest.mark.parametrize("scripts", [True, False], ids=["scripts", "no scripts"])
@pytest.mark.parametrize("size", [PHONE, DESK], ids=["phone", "desk"])
def test_an_interview_is_held_from_start_to_result(visit, size, scripts):
    page = begin(visit(size, scripts=scripts))
    n_asked = 0
    while "/result" not in page.url:
        assert page.locator("h1").count() == 1
        n_asked += 1
        answer(page)
    assert n_asked == 6
    expect(page.get_by_role("heading", name="What we believe now")).to_be_visible()
    expect(page.get_by_role("heading", name="What mattered")).to_be_visible()
    assert page.locator("tbody tr").count() == 6


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing_on_any_page(visit, scheme):
    page = visit(PHONE, scheme=scheme)
    found = faults(page)
    for question in ("Do you smoke?", "How strong is your pain?", "What about your body?"):
        page = until(begin(page) if question == "Do you smoke?" else page, question)
        found += faults(page)
    page.get_by_role("button", name="Why this question?").click()
    expect(page.get_by_role("heading", name="What could be asked now")).to_be_visible()
    found += faults(page)
    page.get_by_role("button", name="Next").click()
    expect(page.get_by_text("2 things need another look")).to_be_visible()
    found += faults(page)
    while "/result" not in page.url:
        answer(page)
    interview = page.url.removesuffix("/result")
    for ending in ("/result", "/answers", "/change/1", "/change/4", "/forget", "/nothing/here"):
        page.goto(interview + ending if "nothing" not in ending else f"/i/{'0' * 32}")
        found += faults(page)
    assert found == []


def test_axe_would_find_a_fault(visit):
    page = visit()
    page.evaluate("document.body.insertAdjacentHTML('beforeend', '<img src=\"/static/icon.svg\">')")
    assert "image-alt" in " ".join(faults(page))


def test_the_keyboard_is_enough(visit):
    page = visit(DESK)
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.textContent") == "Skip to the content"
    page.keyboard.press("Enter")
    page.keyboard.press("Tab")
    press(page, "Enter")  # Begin
    until_typed(page, "How old are you?")
    reach(page, "input#v0")
    page.keyboard.type("61")
    press(page, "Enter")
    until_typed(page, "How strong is your pain?")
    reach(page, "input[type=radio]")
    page.keyboard.press("ArrowDown")
    press(page, "Enter")
    until_typed(page, "Do you smoke?")
    reach(page, "button.answer")
    press(page, "Space")
    page.goto(page.url + "/answers")
    assert page.locator(".value").all_inner_texts() == ["61 years", "Mild", "Yes"]


def press(page: Page, key: str) -> None:
    """Press what leads to another page, and wait for it."""
    with page.expect_navigation():
        page.keyboard.press(key)


def until_typed(page: Page, text: str) -> None:
    """Put questions off by the keyboard alone until this one comes."""
    for _ in range(12):
        if page.get_by_role("heading", level=1, name=text).count():
            return
        reach(page, "button[value=later]")
        press(page, "Enter")
    raise AssertionError(f"{text} never came")


def reach(page: Page, what: str) -> None:
    """Press Tab until ``what`` has the focus, which must be seen on it or around it."""
    for _ in range(40):
        page.keyboard.press("Tab")
        if page.evaluate("what => document.activeElement.matches(what)", what):
            assert page.evaluate(
                """() => [document.activeElement, document.activeElement.parentElement]
                .some(e => getComputedStyle(e).outlineStyle !== 'none')"""
            )
            return
    raise AssertionError(f"Tab never reached {what}")


@pytest.mark.parametrize("size", [NARROW, PHONE, DESK], ids=["narrow", "phone", "desk"])
def test_pages_fit_their_width_and_what_is_pressed_is_large_enough(visit, size):
    page = begin(visit(size))
    answer(page)
    key = page.url
    until(page, "What about your body?")
    for address in ("/", key, f"{key}/why", f"{key}/answers", f"{key}/result", f"{key}/forget"):
        page.goto(address)
        assert page.evaluate("document.documentElement.scrollWidth") <= size[0]
        small = page.evaluate(
            """least => [...document.querySelectorAll('button, nav a, .second, .next, .choice, input')]
            .filter(e => e.type !== 'hidden' && e.checkVisibility() && !e.closest('.choice, .silent'))
            .map(e => [e.outerHTML.slice(0, 80), e.getBoundingClientRect()])
            .filter(([, r]) => r.width && Math.min(r.width, r.height) < least).map(([html]) => html)""",
            LEAST_TARGET,
        )
        assert small == []


def test_nothing_jumps_while_a_page_loads(visit):
    page = until(begin(visit(PHONE)), "How old are you?")
    page.reload()
    moved = page.evaluate(
        """() => new Promise(done => {
            let sum = 0;
            new PerformanceObserver(list => { for (const one of list.getEntries()) sum += one.value; })
                .observe({type: 'layout-shift', buffered: true});
            setTimeout(() => done(sum), 300);
        })"""
    )
    assert moved == 0


def test_a_slider_and_its_box_say_the_same(visit):
    page = until(begin(visit()), "How old are you?")
    box, slider = page.get_by_label("How old are you?", exact=True), page.get_by_role("slider")
    expect(box).to_have_value("")
    slider.press("ArrowRight")
    expect(box).to_have_value(slider.input_value())
    box.fill("42")
    expect(slider).to_have_value("42")


def test_without_scripts_there_is_no_slider_and_no_button_that_does_nothing(visit):
    page = until(begin(visit(scripts=False)), "How old are you?")
    expect(page.get_by_role("slider")).to_have_count(0)
    page.goto(f"{page.url}/result")
    expect(page.get_by_role("button", name="Copy")).to_have_count(0)


@pytest.mark.parametrize("scripts", [True, False], ids=["scripts", "no scripts"])
def test_a_wrong_answer_stays_in_its_box_and_is_explained(visit, scripts):
    page = until(begin(visit(scripts=scripts)), "How old are you?")
    page.locator("#v0").fill("abc")
    page.get_by_role("button", name="Next").click()
    expect(page.locator("#v0")).to_have_value("abc")
    expect(page.locator("#v0-error")).to_contain_text("Enter a number between 18 and 95, in years.")
    if scripts:
        expect(page.locator("#v0")).to_be_focused()
        page.locator("#v0").fill("50")
        page.get_by_role("button", name="Next").click()
        expect(page.get_by_text("Question 2", exact=True)).to_be_visible()
        page.go_back()  # to the refused form, which is not sent again
        expect(page.get_by_text("Question 2", exact=True)).to_be_visible()


def test_why_unfolds_in_place_and_keeps_what_was_typed(visit):
    page = until(begin(visit(DESK)), "How old are you?")
    page.locator("#v0").fill("61")
    why = page.get_by_role("button", name="Why this question?")
    why.click()
    expect(page.get_by_role("heading", name="What could be asked now")).to_be_visible()
    expect(why).to_have_attribute("aria-expanded", "true")
    expect(page.locator("#v0")).to_have_value("61")
    why.click()
    expect(page.get_by_role("heading", name="What could be asked now")).to_be_hidden()


def test_without_scripts_why_is_a_page_of_its_own(visit):
    page = begin(visit(scripts=False))
    asked = page.get_by_role("heading", level=1).inner_text()
    page.get_by_role("link", name="Why this question?").click()
    expect(page.get_by_role("heading", level=1)).to_have_text(asked)
    page.get_by_role("link", name="Back to the question").click()
    expect(page.get_by_text("Question 1", exact=True)).to_be_visible()


@pytest.mark.parametrize("scripts", [True, False], ids=["scripts", "no scripts"])
def test_back_shows_the_last_answer_to_be_changed_or_left(visit, scripts):
    page = until(begin(visit(scripts=scripts)), "How old are you?")
    page.locator("#v0").fill("61")
    page.get_by_role("button", name="Next").click()
    page.get_by_role("link", name="Back").click()
    expect(page.locator("#v0")).to_have_value("61")
    page.locator("#v0").fill("62")
    page.get_by_role("button", name="Save the change").click()
    expect(page.get_by_text("Question 2", exact=True)).to_be_visible()
    page.get_by_role("navigation").get_by_role("link", name="Answers").click()
    expect(page.locator(".value")).to_have_text("62 years")
    page.get_by_role("button", name="Take back the last answer").click()
    expect(page.get_by_text("Nothing yet.")).to_be_visible()


def test_an_interview_goes_on_in_another_browser_by_its_link(visit):
    page = begin(visit(PHONE))
    answer(page)
    page.get_by_role("navigation").get_by_role("link", name="Result").click()
    link = page.get_by_label("Your private link").input_value()
    other = visit(DESK)
    other.get_by_text("I have a link already").click()
    other.get_by_label("Your link").fill(link)
    other.get_by_role("button", name="Go on where I was").click()
    expect(other.get_by_text("Question 2", exact=True)).to_be_visible()


def test_a_double_click_answers_once(visit):
    page = until(begin(visit()), "Do you smoke?")
    page.get_by_role("button", name="Yes").dblclick()
    expect(page.get_by_text("Question 2", exact=True)).to_be_visible()
    page.get_by_role("navigation").get_by_role("link", name="Answers").click()
    expect(page.locator(".answers li")).to_have_count(1)


def test_two_tabs_cannot_overwrite_each_other(visit):
    page = until(begin(visit()), "How old are you?")
    tab = page.context.new_page()
    tab.goto(page.url)
    page.locator("#v0").fill("61")
    page.get_by_role("button", name="Next").click()
    until(tab, "How old are you?")  # as it was shown before
    tab.locator("#v0").fill("30")
    tab.get_by_role("button", name="Next").click()
    expect(tab.get_by_text("You answered this already: 61 years.")).to_be_visible()
    page.get_by_role("navigation").get_by_role("link", name="Answers").click()
    expect(page.locator(".value")).to_have_text("61 years")


def test_answers_are_forgotten_after_asking_once_more(visit):
    page = begin(visit())
    answer(page)
    key = page.url
    page.get_by_role("link", name="Forget my answers").click()
    page.get_by_role("button", name="Forget them for good").click()
    expect(page.get_by_role("heading", name="Your answers are forgotten")).to_be_visible()
    page.goto(key)
    expect(page.get_by_role("heading", name="There is no interview at this link")).to_be_visible()


def test_a_printed_result_leaves_out_what_paper_cannot_do(visit):
    page = begin(visit(DESK))
    answer(page)
    page.get_by_role("navigation").get_by_role("link", name="Result").click()
    page.emulate_media(media="print")
    expect(page.get_by_role("navigation")).to_have_count(0)
    expect(page.get_by_role("heading", name="What we believe now")).to_be_visible()
