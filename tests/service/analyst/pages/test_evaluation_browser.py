"""Analysts at a real browser judge a model: on a telephone and on a desk, with and without scripts."""

import os
import shutil
from importlib.resources import files

import pytest
from playwright.sync_api import Page, expect, sync_playwright

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
PHONE, DESK, NARROW = (390, 844), (1280, 860), (320, 640)
AXE = files("axe_playwright_python").joinpath("axe.min.js").read_text(encoding="utf-8")
RULES = ("wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice")
LEAST_TARGET = 24  # CSS pixels, WCAG 2.2 success criterion 2.5.8
SECONDS_TO_ANSWER = 30  # on a busy machine

pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="no Chromium here; apt-get install chromium")


@pytest.fixture(scope="module")
def browser():
    # Root may not use Chromium's own sandbox.
    flags = ["--no-sandbox"] if hasattr(os, "geteuid") and os.geteuid() == 0 else []
    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=CHROMIUM, args=flags)
        yield chromium
        chromium.close()


@pytest.fixture
def visit(browser, gallery_site):
    """Opens pages: `visit(address, PHONE, scheme="dark", scripts=False)`; nothing may go wrong."""
    contexts, wrong = [], []

    def opened(address, size=DESK, *, scheme="light", scripts=True) -> Page:
        context = browser.new_context(
            viewport={"width": size[0], "height": size[1]},
            color_scheme=scheme,
            java_script_enabled=scripts,
            base_url=gallery_site,
        )
        context.set_default_timeout(SECONDS_TO_ANSWER * 1000)
        contexts.append(context)
        page = context.new_page()
        page.on("pageerror", lambda error: wrong.append(f"{error}"))
        page.on(
            "console", lambda said: wrong.append(said.text) if "Security Policy" in said.text else None
        )
        page.goto(address)
        return page

    yield opened
    for context in contexts:
        context.close()
    assert wrong == []


@pytest.fixture
def addresses(gallery):
    """Every page that judges, by what it is."""
    age, stage, twin = (gallery.seals[name] for name in ("age", "stage", "twin"))
    return {
        "card": f"/analyst/models/{stage}",
        "evaluation": f"/analyst/models/{age}/evaluation",
        "evaluation of levels": f"/analyst/models/{stage}/evaluation?metric=accuracy",
        "not judged": f"/analyst/models/{gallery.seals['new']}/evaluation",
        "decision": f"/analyst/models/{age}/decisions/7?step=1",
        "decision of levels": f"/analyst/models/{stage}/decisions/8?step=0",
        "end": f"/analyst/models/{age}/decisions/7?step=99",
        "what if": f"/analyst/models/{age}/decisions/7?step=2&change=1&act=unknown",
        "compare": f"/analyst/compare?a={age}&b={twin}",
        "nothing here": "/analyst/models/abc",
    }


def faults(page: Page, rules: tuple[str, ...] = RULES) -> list[str]:
    """What axe has to say of a page."""
    page.evaluate(AXE)
    found = page.evaluate("rules => axe.run(document, {runOnly: rules})", list(rules))
    return [f"{page.url}: {one['id']}: {one['nodes'][0]['html']}" for one in found["violations"]]


@pytest.mark.parametrize(
    ("scheme", "rules"), [("light", RULES), ("dark", ("color-contrast",))], ids=["light", "dark"]
)
def test_axe_finds_nothing_on_any_page(visit, addresses, scheme, rules):
    page = visit("/analyst/compare", PHONE if scheme == "dark" else DESK, scheme=scheme)
    found = faults(page, rules)
    for address in addresses.values():
        page.goto(address)
        for details in page.locator("details").all():
            details.locator("summary").click()
        found += faults(page, rules)
    assert found == []


@pytest.mark.parametrize("size", [NARROW, PHONE, DESK], ids=["narrow", "phone", "desk"])
def test_pages_fit_their_width_and_what_is_pressed_is_large_enough(visit, addresses, size):
    page = visit("/analyst/compare", size)
    for address in addresses.values():
        page.goto(address)
        assert page.evaluate("document.documentElement.scrollWidth") <= size[0], address
        small = page.evaluate(
            """least => [...document.querySelectorAll('button, nav a, .second, summary, input, select')]
            .filter(e => e.type !== 'hidden' && e.checkVisibility() && !e.closest('.choice, .silent'))
            .map(e => [e.outerHTML.slice(0, 80), e.getBoundingClientRect()])
            .filter(([, r]) => r.width && Math.min(r.width, r.height) < least).map(([html]) => html)""",
            LEAST_TARGET,
        )
        assert small == []


@pytest.mark.parametrize("scripts", [True, False], ids=["scripts", "no scripts"])
@pytest.mark.parametrize("size", [PHONE, DESK], ids=["phone", "desk"])
def test_a_model_is_judged_from_card_to_what_if(visit, addresses, size, scripts):
    page = visit(addresses["card"], size, scripts=scripts)
    page.get_by_role("link", name="The whole evaluation").click()
    expect(page.get_by_role("heading", level=1, name="How well it finds out stage")).to_be_visible()
    page.get_by_role("link", name="Accuracy").click()
    expect(page.locator(".chart-title").first).to_have_text("Accuracy")
    page.get_by_role("link", name="Watch it decide, row by row").click()
    expect(page.locator(".decided .eyebrow")).to_contain_text("Decision 1 of")
    page.get_by_role("navigation", name="Steps").get_by_role("link", name="2").first.click()
    expect(page.locator(".decided .eyebrow")).to_contain_text("Decision 2 of")
    page.get_by_role("link", name="What if").first.click()
    page.get_by_role("button", name="Not known").click()
    expect(page.get_by_role("heading", name="Had it said Not known instead of")).to_be_visible()
    expect(page.locator(".found")).to_contain_text("The next question would")


def test_the_scrubber_brings_steps_into_place(visit, addresses):
    page = visit(addresses["decision"])
    slider = page.get_by_role("slider", name="Step of the interview")
    expect(slider).to_have_value("1")
    page.evaluate("window.same = true")
    slider.focus()
    page.keyboard.press("ArrowRight")
    expect(page.locator(".decided .eyebrow")).to_contain_text("Decision 3 of")
    expect(slider).to_be_focused()
    assert page.url.endswith("?step=2")
    assert page.evaluate("window.same")  # the page is still the same one
    expect(page.locator(".scrubber [aria-current]")).to_contain_text("3")
    page.keyboard.press("End")
    expect(page.get_by_role("heading", name="Nothing is left to ask")).to_be_visible()


def test_without_scripts_there_is_no_slider_that_does_nothing(visit, addresses):
    page = visit(addresses["decision"], scripts=False)
    expect(page.get_by_role("slider")).to_have_count(0)


def test_axe_would_find_a_fault(visit, addresses):
    page = visit(addresses["card"])
    page.evaluate("document.body.insertAdjacentHTML('beforeend', '<img src=\"/static/icon.svg\">')")
    assert "image-alt" in " ".join(faults(page))
