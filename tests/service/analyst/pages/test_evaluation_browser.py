"""The pages about models in a real browser: on a phone and on a desktop, with and without scripts."""

import os
import shutil
from importlib.resources import files

import pytest
from playwright.sync_api import Page, expect, sync_playwright

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
PHONE, DESKTOP, NARROW = (390, 844), (1280, 860), (320, 640)
AXE = files("axe_playwright_python").joinpath("axe.min.js").read_text(encoding="utf-8")
RULES = ("wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice")
MIN_TARGET_PIXELS = 24  # CSS pixels, WCAG 2.2 success criterion 2.5.8
SECONDS_TO_RESPOND = 30  # on a busy machine

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(CHROMIUM is None, reason="Chromium is not installed"),
]


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
    """Opens pages: `visit(address, PHONE, scheme="dark", scripts=False)`; fails on script errors."""
    contexts, errors = [], []

    def open_page(address, size=DESKTOP, *, scheme="light", scripts=True) -> Page:
        context = browser.new_context(
            viewport={"width": size[0], "height": size[1]},
            color_scheme=scheme,
            java_script_enabled=scripts,
            base_url=gallery_site,
        )
        context.set_default_timeout(SECONDS_TO_RESPOND * 1000)
        contexts.append(context)
        page = context.new_page()
        page.on("pageerror", lambda error: errors.append(f"{error}"))
        page.on(
            "console", lambda said: errors.append(said.text) if "Security Policy" in said.text else None
        )
        page.goto(address)
        return page

    yield open_page
    for context in contexts:
        context.close()
    assert errors == []


@pytest.fixture
def addresses(gallery):
    """All pages about models, by name."""
    age, stage, twin = (gallery.digests[name] for name in ("age", "stage", "twin"))
    return {
        "card": f"/analyst/models/{stage}",
        "evaluation": f"/analyst/models/{age}/evaluation",
        "evaluation of levels": f"/analyst/models/{stage}/evaluation?metric=accuracy",
        "not evaluated": f"/analyst/models/{gallery.digests['new']}/evaluation",
        "decision": f"/analyst/models/{age}/decisions/7?step=1",
        "decision of levels": f"/analyst/models/{stage}/decisions/8?step=0",
        "end": f"/analyst/models/{age}/decisions/7?step=99",
        "what if": f"/analyst/models/{age}/decisions/7?step=2&change=1&act=unknown",
        "compare": f"/analyst/compare?a={age}&b={twin}",
        "not found": "/analyst/models/abc",
    }


def find_violations(page: Page, rules: tuple[str, ...] = RULES) -> list[str]:
    """Violations of accessibility rules that axe finds."""
    page.evaluate(AXE)
    found = page.evaluate("rules => axe.run(document, {runOnly: rules})", list(rules))
    return [f"{page.url}: {item['id']}: {item['nodes'][0]['html']}" for item in found["violations"]]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("scheme", "rules"), [("light", RULES), ("dark", ("color-contrast",))], ids=["light", "dark"]
)
def test_all_pages_are_accessible(visit, addresses, scheme, rules):
    page = visit("/analyst/compare", PHONE if scheme == "dark" else DESKTOP, scheme=scheme)
    violations = find_violations(page, rules)
    for address in addresses.values():
        page.goto(address)
        for details in page.locator("details").all():
            details.locator("summary").click()
        violations += find_violations(page, rules)
    assert violations == []


@pytest.mark.slow
@pytest.mark.parametrize("size", [NARROW, PHONE, DESKTOP], ids=["narrow", "phone", "desktop"])
def test_pages_fit_the_screen_and_controls_are_large_enough(visit, addresses, size):
    page = visit("/analyst/compare", size)
    for address in addresses.values():
        page.goto(address)
        assert page.evaluate("document.documentElement.scrollWidth") <= size[0], address
        small = page.evaluate(
            """least => [...document.querySelectorAll('button, nav a, .second, summary, input, select')]
            .filter(e => e.type !== 'hidden' && e.checkVisibility() && !e.closest('.choice, .silent'))
            .map(e => [e.outerHTML.slice(0, 80), e.getBoundingClientRect()])
            .filter(([, r]) => r.width && Math.min(r.width, r.height) < least).map(([html]) => html)""",
            MIN_TARGET_PIXELS,
        )
        assert small == []


@pytest.mark.parametrize(
    "scripts",
    [pytest.param(True, id="scripts"), pytest.param(False, id="no scripts", marks=pytest.mark.slow)],
)
@pytest.mark.parametrize(
    "size",
    [pytest.param(PHONE, id="phone"), pytest.param(DESKTOP, id="desktop", marks=pytest.mark.slow)],
)
def test_the_pages_lead_from_the_card_to_a_what_if_analysis(visit, addresses, size, scripts):
    page = visit(addresses["card"], size, scripts=scripts)
    page.get_by_role("link", name="Full evaluation").click()
    expect(page.get_by_role("heading", level=1, name="How well it predicts stage")).to_be_visible()
    page.get_by_role("link", name="Accuracy").click()
    expect(page.locator(".chart-title").first).to_have_text("Accuracy")
    page.get_by_role("link", name="Show decisions row by row").click()
    expect(page.locator(".decided .eyebrow")).to_contain_text("Decision 1 of")
    page.get_by_role("navigation", name="Steps").get_by_role("link", name="2").first.click()
    expect(page.locator(".decided .eyebrow")).to_contain_text("Decision 2 of")
    page.get_by_role("link", name="What if").first.click()
    page.get_by_role("button", name="Not known").click()
    expect(
        page.get_by_role("heading", name="If the answer had been Not known instead of")
    ).to_be_visible()
    expect(page.locator(".what-if-result")).to_contain_text("The next question would")


def test_the_slider_loads_steps_in_place(visit, addresses):
    page = visit(addresses["decision"])
    slider = page.get_by_role("slider", name="Step of the interview")
    expect(slider).to_have_value("1")
    page.evaluate("window.isSamePage = true")
    slider.focus()
    page.keyboard.press("ArrowRight")
    expect(page.locator(".decided .eyebrow")).to_contain_text("Decision 3 of")
    expect(slider).to_be_focused()
    assert page.url.endswith("?step=2")
    assert page.evaluate("window.isSamePage")
    expect(page.locator(".step-slider [aria-current]")).to_contain_text("3")
    page.keyboard.press("End")
    expect(page.get_by_role("heading", name="No questions are left")).to_be_visible()


@pytest.mark.slow
def test_without_scripts_there_is_no_slider(visit, addresses):
    page = visit(addresses["decision"], scripts=False)
    expect(page.get_by_role("slider")).to_have_count(0)


@pytest.mark.slow
def test_axe_finds_an_image_without_a_description(visit, addresses):
    page = visit(addresses["card"])
    page.evaluate("document.body.insertAdjacentHTML('beforeend', '<img src=\"/static/icon.svg\">')")
    assert "image-alt" in " ".join(find_violations(page))
