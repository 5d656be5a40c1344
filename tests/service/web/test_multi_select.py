"""A multi-select question is one list of checkboxes, and one list in the API."""

import os
import re
import shutil

import httpx
import pytest

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")


@pytest.fixture(scope="module")
def site(tmp_path_factory, tools_model, serving):
    path = tmp_path_factory.mktemp("site") / "tools.eddi"
    tools_model.save(path)
    with serving(model=str(path), target="risk", strategy="information") as client:
        yield client


@pytest.fixture
def browser(site):
    with httpx.Client(base_url=site.base_url, timeout=30, follow_redirects=True) as client:
        yield client


@pytest.fixture
def page(browser):
    """The page of the question "tools" in a new interview."""
    text = browser.get("/").text
    page = browser.post("/start", data=_hidden(text))
    if 'name="question" value="tools"' not in page.text:
        page = browser.post(page.url.path, data={**_hidden(page.text), "act": "later"})
    return page


def _hidden(text):
    return dict(re.findall(r'<input type="hidden" name="(\w+)" value="([^"]*)"', text))


def _send(browser, page, **fields):
    return browser.post(page.url.path, data={**_hidden(page.text), **fields})


def _answers(browser, page):
    answers = browser.get(f"/interviews/{page.url.path.split('/')[2]}").json()["answers"]
    return {answer["question"]: answer["values"] for answer in answers}


def test_the_question_is_one_list_of_checkboxes(page):
    boxes = re.findall(r'<input type="checkbox" id="[^"]*" name="(\w+)" value="yes"', page.text)
    assert boxes == ["v0", "v1", "v2", "none"]
    assert page.text.count("Choose all that apply.") == 1
    assert re.findall(r"<span>(Excel|R|Stata|None of these)</span>", page.text) == [
        *("Excel", "R", "Stata", "None of these")
    ]
    assert page.text.count("<fieldset") == 1
    assert "know any of these" not in page.text


def test_checked_options_are_the_answer(browser, page):
    after = _send(browser, page, v0="yes", v2="yes")
    assert _answers(browser, after)["tools"] == {
        "tools: Excel": "yes",
        "tools: R": "no",
        "tools: Stata": "yes",
    }
    key = after.url.path.split("/")[2]
    answers = browser.get(f"/i/{key}/answers").text
    assert ">Excel, Stata<" in answers
    change = browser.get(re.search(r'href="(/i/[^"]*change[^"]*)"', answers)[1]).text
    assert re.findall(r'name="(\w+)" value="yes" checked', change) == ["v0", "v2"]


def test_none_of_the_options_is_an_answer(browser, page):
    after = _send(browser, page, none="yes")
    assert set(_answers(browser, after)["tools"].values()) == {"no"}
    key = after.url.path.split("/")[2]
    assert "None of these" in browser.get(f"/i/{key}/answers").text


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({}, "Choose the options that apply, or “None of these”."),
        ({"v0": "yes", "none": "yes"}, "or “None of these”, but not both."),
    ],
)
def test_the_form_explains_what_is_missing(browser, page, fields, message):
    again = _send(browser, page, **fields)
    assert message in again.text
    assert re.findall(r'name="(\w+)" value="yes" checked', again.text) == [*fields][:1]
    assert _answers(browser, again) == {}


def test_the_respondent_may_not_know(browser, page):
    after = _send(browser, page, act="unknown")
    assert _answers(browser, after)["tools"] == {}


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        (["R", "stata"], ["no", "yes", "yes"]),
        (["R"], ["no", "yes", "no"]),
        ([], ["no", "no", "no"]),
        ("Excel; R", ["yes", "yes", "no"]),
        (["yes", "no", "no"], ["yes", "no", "no"]),
        ({"tools: R": "yes", "tools: Excel": "no", "tools: Stata": "no"}, ["no", "yes", "no"]),
    ],
)
def test_the_api_takes_the_list_of_options(site, values, expected):
    key = site.post("/interviews").json()["id"]
    response = site.post(f"/interviews/{key}/answers", json={"question": "tools", "values": values})
    assert response.status_code == 200, response.text
    [answer] = site.get(f"/interviews/{key}").json()["answers"]
    assert list(answer["values"].values()) == expected


def test_the_api_lists_the_options_and_refuses_others(site):
    asked = site.post("/ask", json={"answers": {"years": 3}}).json()["question"]
    assert asked["options"] == ["Excel", "R", "Stata"]
    response = site.post("/ask", json={"answers": {"tools": ["R", "Julia"]}})
    assert response.status_code == 422
    assert "has no option 'Julia'. Options are: Excel, R, Stata" in response.json()["detail"]


@pytest.mark.slow
@pytest.mark.skipif(CHROMIUM is None, reason="Chromium is not installed")
def test_none_of_these_and_the_options_exclude_each_other_in_a_browser(site):
    flags = ["--no-sandbox"] if os.geteuid() == 0 else []  # root may not use Chromium's own sandbox
    sync_api = pytest.importorskip("playwright.sync_api")
    with sync_api.sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=CHROMIUM, args=flags)
        shown = chromium.new_page(base_url=str(site.base_url))
        shown.goto("/")
        shown.locator("main button").first.click()
        if shown.locator("[data-options]").count() == 0:
            shown.get_by_role("button", name="Later").click()
        group = shown.get_by_role("group", name="tools")
        group.get_by_label("None of these").check()
        group.get_by_label("Stata").check()
        assert not group.get_by_label("None of these").is_checked()
        group.get_by_label("None of these").check()
        assert not group.get_by_label("Stata").is_checked()
        chromium.close()
