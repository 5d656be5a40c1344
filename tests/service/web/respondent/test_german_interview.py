"""An interview in German over HTTP, as a browser without scripts shows it."""

import html
import re

import httpx
import pytest

from eddi.service.interviews.questionnaire_settings import QuestionnaireSettings

SETTINGS = QuestionnaireSettings(
    title="Your illness",
    consent="We store your answers.",
    languages=("en", "de"),
    translations={
        "de": {
            "title": "Ihre Krankheit",
            "consent": "Wir speichern Ihre Antworten.",
            "names": {"stage": "Stadium"},
            "questions": {"weight": "Wie viel wiegen Sie?"},
            "labels": {"smoker": {"no": "Nein", "yes": "Ja"}},
        }
    },
)


@pytest.fixture(scope="module")
def site(serving):
    with serving() as client:
        client.app.state.workshop.publisher.change_settings("people", SETTINGS)
        yield client


@pytest.fixture
def browser(site):
    """A browser that asks for German pages."""
    headers = {"Accept-Language": "de-DE,de;q=0.9,en;q=0.5", "Accept": "text/html"}
    with httpx.Client(
        base_url=site.base_url, timeout=30, follow_redirects=True, headers=headers
    ) as client:
        yield client


def text_of(page):
    return html.unescape(re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", page.text)))


def hidden_fields(page, action):
    """The hidden fields of the form with this action."""
    form = re.search(rf'<form[^>]*action="{action}".*?</form>', page.text, re.DOTALL)[0]
    return dict(re.findall(r'type="hidden" name="(\w+)" value="([^"]*)"', form))


def begin(browser):
    start = browser.get("/q/people")
    return browser.post("/start", data={**hidden_fields(start, "/start"), "consent": "yes"})


def send(browser, page, **fields):
    """Send the form of a question."""
    action = page.url.path
    return browser.post(action, data={**hidden_fields(page, action), **fields})


def defer_until(browser, page, name):
    """Put questions off until this one is asked."""
    for _ in range(12):
        if hidden_fields(page, page.url.path)["question"] == name:
            return page
        page = send(browser, page, act="later")
    raise AssertionError(f"{name} was never asked")


def test_the_start_page_is_in_the_language_of_the_browser(browser):
    page = browser.get("/q/people")
    assert '<html lang="de">' in page.text
    text = text_of(page)
    assert "Ihre Krankheit" in text
    assert "Wir speichern Ihre Antworten." in text
    assert "Ich habe das gelesen und stimme zu" in text


def test_every_page_of_an_interview_is_german(browser):
    page = begin(browser)
    assert "Frage 1" in text_of(page)
    key = page.url.path.split("/")[2]
    expected = {
        "/why": "Was jetzt gefragt werden könnte",
        "/answers": "Ihre bisherigen Antworten",
        "/forget": "Ihre Antworten löschen?",
    }
    for ending, text in expected.items():
        other = browser.get(f"/i/{key}{ending}")
        assert '<html lang="de">' in other.text
        assert text in text_of(other)
    while "/result" not in page.url.path:
        page = send(browser, page, act="declined")
    assert "Das war die letzte Frage" in text_of(page)


def test_the_result_is_german(browser):
    page = defer_until(browser, begin(browser), "pain")
    page = send(browser, page, v0="worst")
    page = browser.get(f"/i/{page.url.path.split('/')[2]}/result")
    assert "Ihre Antwort hat die Wahrscheinlichkeit" in text_of(page)
    assert "aus einer Antwort." in text_of(page)
    assert re.search(r"\d\u00a0%", page.text)
    assert not re.search(r"\d%", page.text)


def test_a_german_number_is_accepted_and_shown_with_a_comma(site, browser):
    page = defer_until(browser, begin(browser), "weight")
    assert "Wie viel wiegen Sie?" in text_of(page)
    page = send(browser, page, v0="70,5")
    key = page.url.path.split("/")[2]
    assert site.get(f"/interviews/{key}").json()["answers"][-1]["values"] == {"weight": 70.5}
    assert "70,5 kg" in text_of(browser.get(f"/i/{key}/answers"))
    assert 'value="70,5"' in browser.get(f"/i/{key}/change/1").text


def test_an_invalid_answer_is_explained_in_german(browser):
    page = send(browser, defer_until(browser, begin(browser), "weight"), v0="viel")
    assert page.status_code == 422
    assert "Geben Sie eine Zahl ein" in text_of(page).replace(", in kg", "")
    assert "<title>Fehler:" in page.text


def test_switching_the_language_keeps_the_answers(browser):
    page = send(browser, defer_until(browser, begin(browser), "smoker"), v0="yes")
    key = page.url.path.split("/")[2]
    assert "Ja" in text_of(browser.get(f"/i/{key}/answers"))
    english = browser.get(f"/i/{key}/answers?lang=en")
    assert '<html lang="en">' in english.text
    assert "Yes" in text_of(english)
    assert "Question 2" in text_of(browser.get(f"/i/{key}"))  # the choice is remembered
    assert "Frage 2" in text_of(browser.get(f"/i/{key}?lang=de"))
    assert "Frage 2" in text_of(browser.get(f"/i/{key}"))


def test_the_missing_consent_is_asked_for_in_german_with_a_way_to_switch(browser):
    refused = browser.post("/start", data=hidden_fields(browser.get("/q/people"), "/start"))
    assert "Bitte stimmen Sie zuerst zu" in text_of(refused)
    assert 'href="/q/people?lang=en"' in refused.text


def test_error_pages_are_german(browser):
    assert "Unter diesem Link gibt es keine Befragung" in text_of(browser.get(f"/i/{'0' * 32}"))
    assert "Hier gibt es keine Seite" in text_of(browser.get("/nowhere"))


def test_errors_of_the_api_stay_english(site, browser):
    address = f"/interviews/{'0' * 32}"
    response = browser.get(address, headers={"Accept": "application/json"})
    assert response.json()["detail"] == site.get(address).json()["detail"]


def test_a_questionnaire_in_one_language_has_no_switch(site, browser):
    publisher = site.app.state.workshop.publisher
    publisher.change_settings("people", QuestionnaireSettings())
    page = browser.get("/q/people?lang=de")
    publisher.change_settings("people", SETTINGS)
    assert '<html lang="en">' in page.text
    assert 'class="languages' not in page.text
