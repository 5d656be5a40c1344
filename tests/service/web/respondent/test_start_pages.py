"""The start page: continuing, embedding, the colour, and texts of the server."""

import re
from dataclasses import replace

import httpx
import pytest

from eddi.service.interviews.questionnaire_settings import QuestionnaireSettings, contrast
from eddi.service.web.respondent.theme import DARK_CARD, find_logo_type, lighten, make_style


@pytest.fixture(scope="module")
def site(serving):
    with serving(title="Of the server") as client:
        client.follow_redirects = True
        yield client


@pytest.fixture
def change(site):
    """Changes the settings of the questionnaire for one test."""
    publisher = site.app.state.workshop.publisher

    def change_settings(**settings):
        publisher.change_settings("people", QuestionnaireSettings(**settings))

    yield change_settings
    publisher.change_settings("people", QuestionnaireSettings())


def begin(browser, **fields):
    start = browser.get("/q/people").text
    hidden = dict(re.findall(r'type="hidden" name="(\w+)" value="([^"]*)"', start))
    return browser.post("/start", data={**hidden, **fields})


def test_the_title_of_the_questionnaire_replaces_that_of_the_server(site, change):
    assert "<h1>Of the server</h1>" in site.get("/").text
    change(title="Of the publisher")
    assert "<h1>Of the publisher</h1>" in site.get("/").text


def test_the_start_page_offers_to_continue_what_this_browser_began(site):
    with httpx.Client(base_url=site.base_url, follow_redirects=True) as browser:
        key = begin(browser).url.path.split("/")[2]
        assert f'href="/i/{key}"' in browser.get("/q/people").text
    with httpx.Client(base_url=site.base_url) as other:
        assert "You have already begun" not in other.get("/q/people").text


def test_only_allowed_sites_may_embed_the_pages(site, change):
    assert "frame-ancestors 'none'" in site.get("/q/people").headers["content-security-policy"]
    change(embed_on=("https://example.org",))
    start, question = site.get("/q/people"), begin(site)
    for page in (start, question):
        assert "frame-ancestors https://example.org;" in page.headers["content-security-policy"]
    assert "frame-ancestors 'none'" in site.get("/analyst").headers["content-security-policy"]


def test_an_interview_without_a_shown_result_ends_with_thanks(site, change):
    change(show_estimate=False, show_result=False, redirect="https://example.org/thanks")
    page = begin(site)
    assert ">Result<" not in page.text
    key = page.url.path.split("/")[2]
    assert "/question/1" in site.get(f"/i/{key}/result").url.path  # not before the end
    for _ in range(8):
        if page.url.path.endswith("/result"):
            break
        hidden = dict(re.findall(r'type="hidden" name="(\w+)" value="([^"]*)"', page.text))
        page = site.post(page.url.path, data={**hidden, "act": "declined"})
    assert "Our estimate now" not in page.text
    assert 'href="https://example.org/thanks"' in page.text


def test_a_colour_is_a_style_sheet_and_nothing_else_is(site):
    style = site.get("/theme/7a1f5c.css")
    assert style.headers["content-type"].startswith("text/css")
    assert "--accent: #7a1f5c" in style.text
    assert site.get("/theme/red;}body{x.css").status_code == 404


@pytest.mark.parametrize("colour", ["#000000", "#7a1f5c", "#0000ff"])
def test_a_dark_colour_is_lighter_on_dark_screens(colour):
    assert contrast(lighten(colour), DARK_CARD) >= 4.5
    assert lighten(colour) in make_style(colour)


def test_a_logo_is_recognised_by_its_content():
    assert find_logo_type(b"\xff\xd8\xff\xe0") == "image/jpeg"
    assert find_logo_type(b"RIFF0000WEBP") == "image/webp"
    assert find_logo_type(b"<svg>") is None


def test_an_old_closing_date_closes_the_start_page(site, change):
    change(closes_on="2020-01-01")
    closed = site.get("/q/people")
    assert (closed.status_code, "This questionnaire is closed" in closed.text) == (410, True)


def test_labels_of_the_schema_are_shown(with_schema, people_schema, serving, tmp_path):
    smoker = replace(people_schema["smoker"], labels=("I do not", "I do"), title="smoking")
    with_schema(people_schema.with_variable(smoker)).save(tmp_path / "labelled.eddi")
    with serving(model=str(tmp_path / "labelled.eddi")) as client:
        key = client.post("/interviews").json()["id"]
        client.post(f"/interviews/{key}/answers", json={"question": "smoker", "values": "yes"})
        assert "I do<" in client.get(f"/i/{key}/answers").text
