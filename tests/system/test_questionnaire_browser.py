"""Publishers and respondents of a questionnaire in a real browser: settings, sharing, and the end."""

import re
import zlib

import pytest
from playwright.sync_api import Page, expect

from .test_browser import (
    CHROMIUM,
    DESKTOP,
    PHONE,
    accessibility_violations,
    answer,
    browser,  # noqa: F401  # a fixture
    click,
    interview_address,
    model_file,  # noqa: F401  # a fixture
    served,
    visit,  # noqa: F401  # a fixture
)

pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="Chromium is not installed")
MANAGE = "/analyst/questionnaires/people"
SIZES = [
    pytest.param(PHONE, True, id="phone-scripts"),
    pytest.param(DESKTOP, True, id="desktop-scripts", marks=pytest.mark.slow),
    pytest.param(PHONE, False, id="phone-no scripts", marks=pytest.mark.slow),
    pytest.param(DESKTOP, False, id="desktop-no scripts", marks=pytest.mark.slow),
]


@pytest.fixture(scope="module")
def site(model_file):  # noqa: F811  # the fixture that was imported
    with served(model_file, "--target", "stage", EDDI_RATE="0") as address:
        yield address


def word(page: Page, **fields: str) -> Page:
    """Fill in fields of the settings page by their names, and save them."""
    page.goto(f"{MANAGE}/settings")
    page.evaluate("document.querySelectorAll('details').forEach((part) => { part.open = true; })")
    for name, text in fields.items():
        page.locator(f"[name='{name}']").fill(text)
    click(page.get_by_role("button", name="Save", exact=True))
    expect(page.get_by_text("Saved.")).to_be_visible()
    return page


def begin(page: Page) -> Page:
    page.goto("/q/people")
    consent = page.get_by_label("I have read this and agree")
    if consent.count():
        consent.check()
    click(page.get_by_role("button", name=re.compile("Begin")))
    expect(page.get_by_text("Question 1", exact=True)).to_be_visible()
    return page


def defer_until_shown(page, element):
    """Put questions off until a page shows ``element``."""
    for _ in range(12):
        if element.count():
            return
        click(page.get_by_role("button", name="Later"))
    raise AssertionError(f"no question shows {element}")


@pytest.mark.slow
@pytest.mark.parametrize(("size", "scripts"), SIZES)
def test_a_respondent_reads_the_texts_of_the_publisher(visit, size, scripts):  # noqa: F811
    publisher = word(
        visit(DESKTOP),
        title="Your illness",
        introduction="The clinic asks.",
        consent="We store your answers.",
        **{"closing-all": "Please call us."},
    )
    publisher.get_by_label("Show the estimate while they answer").uncheck()
    click(publisher.get_by_role("button", name="Save", exact=True))
    page = visit(size, scripts=scripts)
    page.goto("/q/people")
    expect(page.get_by_role("heading", level=1)).to_have_text("Your illness")
    violations = accessibility_violations(page) if scripts else []
    begin(page)
    while "/result" not in page.url:
        expect(page.get_by_text("How sure we are now")).to_have_count(0)
        answer(page)
    expect(page.get_by_text("Please call us.")).to_be_visible()
    violations += accessibility_violations(page) if scripts else []
    assert violations == []
    page.goto("/q/people")
    expect(page.get_by_role("link", name="Continue where I left off")).to_be_visible()
    publisher.goto(f"{MANAGE}/settings")
    publisher.get_by_label("Show the estimate while they answer").check()
    click(publisher.get_by_role("button", name="Save", exact=True))


@pytest.mark.slow
def test_the_back_button_of_the_browser_goes_back_one_question(visit):  # noqa: F811
    page = begin(visit(PHONE))
    first = page.get_by_role("heading", level=1).inner_text()
    answer(page)
    second = page.get_by_role("heading", level=1).inner_text()
    answer(page)
    page.go_back()
    expect(page.get_by_role("heading", level=1)).to_have_text(second)
    page.go_back()
    expect(page.get_by_role("heading", level=1)).to_have_text(first)
    expect(page.get_by_text("Your answer 1 of 2")).to_be_visible()


@pytest.mark.slow
def test_a_number_can_be_typed_and_sent_at_once(visit):  # noqa: F811
    page = begin(visit(DESKTOP))
    defer_until_shown(page, page.locator("form.question input#v0[type=text]"))
    expect(page.locator("#v0")).to_be_focused()
    page.keyboard.type("61")
    with page.expect_navigation():
        page.keyboard.press("Enter")
    expect(page.get_by_text("Question 2", exact=True)).to_be_visible()


@pytest.mark.slow
def test_choosing_an_option_with_the_keyboard_does_not_send_it(visit):  # noqa: F811
    page = begin(visit(DESKTOP))
    defer_until_shown(page, page.locator("form[data-choose]"))
    page.locator("input[type=radio]").first.focus()
    page.keyboard.press("ArrowDown")
    expect(page.get_by_text("Question 1", exact=True)).to_be_visible()
    with page.expect_navigation():
        page.keyboard.press("Enter")
    expect(page.get_by_text("Question 2", exact=True)).to_be_visible()


@pytest.mark.slow
def test_an_implausible_value_is_confirmed_and_keeps_the_input(visit):  # noqa: F811
    page = begin(visit(PHONE))
    defer_until_shown(page, page.get_by_role("heading", name="How old are you?"))
    page.locator("#v0").fill("104")
    click(page.get_by_role("button", name="Next"))
    expect(page.locator("#v0")).to_have_value("104")
    page.get_by_label("Yes, 104 is correct").check()
    click(page.get_by_role("button", name="Next"))
    expect(page.get_by_text("Question 2", exact=True)).to_be_visible()


@pytest.mark.slow
def test_only_skipped_questions_do_not_give_a_result(visit):  # noqa: F811
    page = begin(visit(PHONE))
    while "/result" not in page.url:
        click(page.locator("button[value=unknown]"))
    expect(page.get_by_text("We cannot say anything about you yet")).to_be_visible()
    expect(page.get_by_text("That is enough")).to_have_count(0)


@pytest.mark.slow
def test_a_printed_result_does_not_contain_the_private_link(visit):  # noqa: F811
    page = begin(visit(DESKTOP))
    answer(page)
    key = interview_address(page).rsplit("/", 1)[1]
    page.goto(f"/i/{key}/result")
    content = page.pdf()
    streams = re.findall(rb"stream\r?\n(.*?)\r?\nendstream", content, re.DOTALL)
    plain = [zlib.decompressobj().decompress(part) for part in streams if part[:1] == b"\x78"]
    assert key.encode() not in content + b"".join(plain)


@pytest.mark.slow
@pytest.mark.parametrize("size", [PHONE, DESKTOP], ids=["phone", "desktop"])
def test_the_pages_of_publishers_are_accessible_and_fit_the_screen(visit, size):  # noqa: F811
    page, violations = visit(size), []
    for ending in ("", "/settings", "/preview", "/delete"):
        page.goto(f"{MANAGE}{ending}")
        page.evaluate("document.querySelectorAll('details').forEach((part) => { part.open = true; })")
        violations += accessibility_violations(page)
        assert page.evaluate("document.documentElement.scrollWidth") <= size[0]
    assert violations == []


@pytest.mark.slow
@pytest.mark.parametrize("scripts", [True, False], ids=["scripts", "no scripts"])
def test_a_questionnaire_is_shared_by_link_qr_code_and_invitations(visit, scripts):  # noqa: F811
    page = visit(PHONE, scripts=scripts)
    page.goto(MANAGE)
    expect(page.get_by_label("Address of the questionnaire")).to_have_value(re.compile("/q/people$"))
    picture = page.get_by_alt_text("QR code with the address of the questionnaire")
    expect(picture).to_be_visible()
    page.get_by_label("Number of invitations").fill("2")
    with page.expect_download() as download:
        page.get_by_role("button", name="Download links as CSV").click()
    links = download.value.path().read_text(encoding="utf-8").split()[1:]
    assert len(links) == 2
    assert all("/q/people?invitation=" in link for link in links)


@pytest.mark.slow
@pytest.mark.parametrize("scripts", [True, False], ids=["scripts", "no scripts"])
def test_a_questionnaire_is_closed_renamed_and_opened_again(visit, scripts):  # noqa: F811
    page = visit(DESKTOP, scripts=scripts)
    page.goto(MANAGE)
    click(page.get_by_role("button", name="Close: no new interviews"))
    page.goto("/q/people")
    expect(page.get_by_role("heading", name="This questionnaire is closed")).to_be_visible()
    page.goto(MANAGE)
    click(page.get_by_role("button", name="Open again"))
    page.get_by_label("Name", exact=True).fill("patients")
    click(page.get_by_role("button", name="Rename"))
    page.goto("/q/people")
    assert page.url.endswith("/q/patients")
    page.goto("/analyst/questionnaires/patients")
    page.get_by_label("Name", exact=True).fill("people")
    click(page.get_by_role("button", name="Rename"))


@pytest.mark.slow
@pytest.mark.parametrize(("size", "scripts"), SIZES)
def test_a_respondent_answers_in_german(visit, size, scripts):  # noqa: F811
    publisher = visit(DESKTOP)
    publisher.goto(f"{MANAGE}/settings")
    publisher.get_by_label("Deutsch").check()
    click(publisher.get_by_role("button", name="Save", exact=True))
    publisher.goto(f"{MANAGE}/translations/de")
    publisher.get_by_label("Do you smoke?").fill("Rauchen Sie?")
    violations = accessibility_violations(publisher)
    click(publisher.get_by_role("button", name="Save", exact=True))
    page = visit(size, scripts=scripts)
    page.goto("/q/people")
    click(page.get_by_role("link", name="Deutsch"))
    violations += accessibility_violations(page) if scripts else []
    if page.locator("#consent").count():
        page.locator("#consent").check()
    click(page.get_by_role("button", name=re.compile("beginnen", re.IGNORECASE)))
    expect(page.get_by_text("Frage 1", exact=True)).to_be_visible()
    expect(page.locator("html")).to_have_attribute("lang", "de")
    violations += accessibility_violations(page) if scripts else []
    while "/result" not in page.url:
        answer(page)
    expect(page.get_by_text("Unsere Schätzung jetzt")).to_be_visible()
    violations += accessibility_violations(page) if scripts else []
    assert violations == []
    click(page.get_by_role("link", name="English"))
    expect(page.get_by_text("Our estimate now")).to_be_visible()
