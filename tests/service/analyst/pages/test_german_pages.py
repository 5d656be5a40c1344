"""Analysts read the workshop in the language of their browser, or the one they chose."""

import re

import httpx
import pytest

GERMAN = {"Accept-Language": "de"}


@pytest.fixture
def client(gallery_site):
    with httpx.Client(base_url=gallery_site, timeout=60) as client:
        yield client


def read_text(page):
    """The text of a page without its markup."""
    return " ".join(re.sub(r"<[^>]+>", " ", page).split())


@pytest.mark.parametrize(
    ("address", "heading"),
    [
        ("/analyst", "Werkstatt"),
        ("/analyst/tables", "Eine Tabelle hochladen"),
        ("/analyst/activity", "Verlauf"),
        ("/analyst/compare", "Zwei Modelle vergleichen"),
        ("/analyst/jobs", "Aufträge"),
    ],
)
def test_a_page_is_in_the_language_of_the_browser(client, address, heading):
    page = client.get(address, headers=GERMAN).text
    assert '<html lang="de">' in page
    assert f"<h1>{heading}</h1>" in page


def test_a_browser_in_another_language_reads_english(client):
    assert "<h1>Workshop</h1>" in client.get("/analyst", headers={"Accept-Language": "fr"}).text


def test_a_link_changes_the_language_and_a_cookie_keeps_it(client):
    page = client.get("/analyst?lang=de")
    assert "<h1>Werkstatt</h1>" in page.text
    assert "/analyst?lang=en" in page.text
    assert "<h1>Werkstatt</h1>" in client.get("/analyst").text


def test_an_error_has_a_title_in_the_language(client):
    page = client.get("/analyst/tables/none", headers=GERMAN)
    assert page.status_code == 404
    text = read_text(page.text)
    assert "Diese Tabelle gibt es nicht" in text
    assert "Die Werkstatt listet alle Tabellen." in text


def test_charts_and_numbers_are_in_the_language(client, gallery):
    page = client.get(f"/analyst/models/{gallery.digests['age']}/evaluation", headers=GERMAN).text
    assert "gestellte Fragen" in page
    assert re.search(r"\d,\d", read_text(page))
    assert "questions asked" not in page


def test_the_card_of_a_model_is_in_the_language(client, gallery):
    text = read_text(client.get(f"/analyst/models/{gallery.digests['stage']}", headers=GERMAN).text)
    assert "Modellkarte" in text
    assert "Eigenschaften" in text
    assert "Training rows" not in text
