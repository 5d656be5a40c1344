"""A new analyst: from an empty folder to a published questionnaire in two languages, in ten minutes."""

import random
import re
import time
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from .test_analyst_browser import SECONDS_TO_TRAIN, serve_workshop
from .test_browser import (
    CHROMIUM,
    DESKTOP,
    PHONE,
    browser,  # noqa: F401  # a fixture
)

MAX_SECONDS = 600
N_ROWS = 300
pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(CHROMIUM is None, reason="Chromium is not installed"),
]


def write_table(path: Path) -> Path:
    """A table as an analyst may have it: columns with short names, and codes instead of words."""
    dice = random.Random(1)  # noqa: S311  # no secrets here
    lines = ["id,age,sex,sleep,stress,tired"]
    for number in range(N_ROWS):
        age, sex, stress = dice.randint(18, 80), dice.choice([1, 2]), dice.randint(1, 5)
        sleep = round(dice.gauss(8.5 - 0.4 * stress, 0.8), 1)
        is_tired = 9 - sleep + 0.4 * stress + dice.gauss(0, 0.7) > 3.5
        cells = [number, age, sex, "" if dice.random() < 0.1 else sleep, stress]
        lines.append(",".join(map(str, [*cells, "yes" if is_tired else "no"])))
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def open_page(browser, site: str, size: tuple[int, int], **options) -> Page:  # noqa: F811
    viewport = {"width": size[0], "height": size[1]}
    context = browser.new_context(viewport=viewport, base_url=site, **options)
    context.set_default_timeout(SECONDS_TO_TRAIN * 1000)
    return context.new_page()


def upload_and_train(page: Page, table: Path) -> None:
    page.goto("/analyst")
    page.get_by_role("link", name="Upload a table").click()
    page.get_by_label("A file").set_input_files(table)
    page.get_by_role("button", name="Upload").click()
    page.get_by_role("link", name="Check the schema").click()
    page.get_by_role("group", name="tired", exact=True).get_by_label("Role").select_option("target")
    page.get_by_role("group", name="sex", exact=True).get_by_label("Kind").select_option("category")
    page.get_by_role("button", name="Save and continue to training").click()
    page.get_by_role("button", name="Start training").click()
    expect(page.get_by_role("heading", level=1, name="Trained")).to_be_visible(
        timeout=SECONDS_TO_TRAIN * 1000
    )


def publish(page: Page) -> None:
    page.get_by_role("link", name="Publish it").click()
    page.get_by_label("Name").fill("tiredness")
    page.get_by_label("Stop after this number of answers").fill("3")
    page.get_by_role("button", name="Publish").click()
    expect(page.get_by_role("heading", level=1, name="tiredness")).to_be_visible()


def word(page: Page) -> None:
    """Write the texts, the labels of the codes, and offer German."""
    page.get_by_role("link", name="Texts and settings").first.click()
    page.get_by_label("Title").fill("How rested are you?")
    page.get_by_label("Consent").fill("I agree that my answers are stored for research.")
    page.get_by_label("Deutsch").check()
    for summary in page.locator("details.entry > summary").all():
        summary.click()
    texts = {"age": "How old are you?", "sex": "What is your sex?", "sleep": "How long do you sleep?"}
    for name, text in texts.items():
        entry = page.locator("details.entry", has=page.locator(f"summary .column:text-is('{name}')"))
        entry.get_by_label("Question", exact=True).fill(text)
    page.get_by_label("Label of “1”").first.fill("Male")
    page.get_by_label("Label of “2”").first.fill("Female")
    page.get_by_label("Name of “tired”").fill("tiredness")
    page.get_by_role("button", name="Save", exact=True).click()
    expect(page.get_by_text("Saved.")).to_be_visible()


def translate(page: Page) -> None:
    page.get_by_role("link", name="Texts in Deutsch").click()
    page.get_by_label("How rested are you?").fill("Wie ausgeruht sind Sie?")
    page.get_by_label("I agree that my answers").fill("Meine Antworten dürfen gespeichert werden.")
    page.get_by_label("How old are you?").fill("Wie alt sind Sie?")
    page.get_by_label("What is your sex?").fill("Welches Geschlecht haben Sie?")
    page.get_by_label("How long do you sleep?").fill("Wie lange schlafen Sie?")
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_text("Saved.")).to_be_visible()


def test_a_questionnaire_is_published_within_ten_minutes(browser, tmp_path, record_property):  # noqa: F811
    table = write_table(tmp_path / "sleep.csv")
    folder = tmp_path / "empty"
    folder.mkdir()
    began = time.monotonic()
    with serve_workshop(folder) as site:
        page = open_page(browser, site, DESKTOP)
        upload_and_train(page, table)
        publish(page)
        word(page)
        translate(page)
        page.goto("/analyst/questionnaires/tiredness")
        expect(page.get_by_alt_text("QR code with the address of the questionnaire")).to_be_visible()
        address = page.get_by_label("Address of the questionnaire").input_value()
        seconds = time.monotonic() - began
        record_property("seconds", round(seconds))
        assert seconds < MAX_SECONDS
        respondent = open_page(browser, site, PHONE, locale="de-DE")
        respondent.goto(address)
        expect(respondent.get_by_role("heading", level=1)).to_have_text("Wie ausgeruht sind Sie?")
        respondent.get_by_role("checkbox").check()
        respondent.get_by_role("button", name=re.compile("Beginn")).click()
        expect(respondent.get_by_text("Frage 1", exact=True)).to_be_visible()
