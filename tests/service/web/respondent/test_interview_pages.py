"""The respondent's pages over HTTP, as a browser without scripts shows them."""

import re
from contextlib import ExitStack
from dataclasses import replace
from html.parser import HTMLParser

import httpx
import numpy as np
import pandas as pd
import pytest

from eddi import PartialVAE, Schema, Variable
from eddi.model.recipe import DEFAULT

UNKNOWN_KEY = "0" * 32
PAGES = ("", "/why", "/answers", "/result", "/forget")


class Forms(HTMLParser):
    """The forms of a page: the action and the fields of each."""

    def __init__(self, text):
        super().__init__()
        self.forms, self.ids, self.described = [], set(), []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        attributes = dict(attrs)
        self.ids.add(attributes.get("id"))
        self.described += attributes.get("aria-describedby", "").split()
        if tag == "form":
            self.forms.append(
                {"action": attributes["action"], "hidden": {}, "boxes": [], "options": {}, "buttons": []}
            )
        elif tag == "button" and attributes.get("type") != "button":
            self.forms[-1]["buttons"].append((attributes.get("name"), attributes.get("value")))
        elif tag == "input" and attributes.get("type") == "hidden":
            self.forms[-1]["hidden"][attributes["name"]] = attributes["value"]
        elif tag == "input" and attributes.get("type") == "radio":
            self.forms[-1]["options"].setdefault(attributes["name"], []).append(attributes["value"])
        elif tag == "input" and attributes.get("type") == "text" and "name" in attributes:
            self.forms[-1]["boxes"].append(attributes["name"])


class Respondent:
    """A respondent with a browser."""

    def __init__(self, client):
        self.http = httpx.Client(base_url=client.base_url, timeout=30, follow_redirects=True)
        self.page = self.http.get("/")

    def form(self, ending=""):
        return next(form for form in Forms(self.page.text).forms if form["action"].endswith(ending))

    def send(self, form, **fields):
        self.page = self.http.post(form["action"], data={**form["hidden"], **fields})
        return self.page

    def begin(self):
        self.send(self.form("/start"))
        self.key = self.page.url.path.split("/")[2]
        return self

    def visit(self, ending=""):
        self.page = self.http.get(f"/i/{self.key}{ending}")
        return self.page

    def answer(self):
        """Give a valid answer, whatever is asked."""
        form = self.form()
        values = dict.fromkeys(form["boxes"], "50")
        values |= {name: options[0] for name, options in form["options"].items()}
        buttons = [(name, value) for name, value in form["buttons"] if name and name.startswith("v")]
        return self.send(form, **values, **dict(buttons[:1]))

    def question(self):
        return self.form()["hidden"]["question"]

    def defer_until(self, name):
        """Put questions off until this one is asked."""
        for _ in range(12):
            if self.question() == name:
                return self
            self.send(self.form(), act="later")
        raise AssertionError(f"{name} was never asked")

    def answers(self):
        answers = self.http.get(f"/interviews/{self.key}").json()["answers"]
        return {answer["question"]: answer for answer in answers}


@pytest.fixture(scope="module")
def site(tmp_path_factory, with_schema, people_schema, serving):
    """The questionnaire with a question of two variables, and one whose text contains markup."""
    schema = people_schema.with_question("body", reveals=["age", "weight"], text="Your body?", cost=3)
    schema = schema.with_question("town", text="<script>alert('town')</script> & where?")
    path = tmp_path_factory.mktemp("site") / "people.eddi"
    with_schema(schema).save(path)
    with serving(model=str(path)) as client:
        yield client


@pytest.fixture
def new_respondent(site):
    """Creates respondents, each with a browser."""
    with ExitStack() as stack:

        def create():
            respondent = Respondent(site)
            stack.callback(respondent.http.close)
            return respondent

        yield create


@pytest.fixture
def person(new_respondent):
    return new_respondent().begin()


def test_the_start_page_names_the_target_and_the_number_of_questions(site):
    page = httpx.get(f"{site.base_url}/")
    assert page.status_code == 200
    assert "A few questions about stage" in page.text
    assert "At most 6" in page.text


def test_the_start_page_can_have_its_own_texts(serving):
    with serving(title="Your <stage>", about="Asked by the clinic of Aber. Call 555 for help.") as site:
        page = site.get("/").text
    assert "<title>Your &lt;stage&gt;</title>" in page
    assert "<h1>Your &lt;stage&gt;</h1>" in page
    assert "Asked by the clinic of Aber. Call 555 for help." in page
    assert "A few questions about stage" not in page


def test_no_page_is_cached_or_allows_foreign_scripts(person):
    for ending in PAGES:
        page = person.visit(ending)
        assert page.status_code == 200
        assert page.headers["Cache-Control"] == "no-store"
        assert page.headers["Referrer-Policy"] == "no-referrer"
        assert "script-src 'self'" in page.headers["Content-Security-Policy"]
        assert "unsafe-inline" not in page.headers["Content-Security-Policy"]
        assert not re.search(r"<style|\sstyle=|<script(?! src=)|\son\w+=", page.text)


def test_every_referenced_description_exists(person):
    person.defer_until("body")
    person.send(person.form(), v0="old")
    read = Forms(person.page.text)
    assert read.described
    assert set(read.described) <= read.ids


def test_an_interview_leads_from_the_first_question_to_the_result(person):
    for _ in range(6):
        assert "/result" not in person.page.url.path
        person.answer()
    assert person.page.url.path == f"/i/{person.key}/result"
    assert "That was the last question, thank you" in person.page.text
    assert "What mattered" in person.page.text
    assert "Each effect is measured by leaving out that answer alone" in person.page.text
    assert f'/i/{person.key}" aria-label="Your private link"' in person.page.text
    assert len(person.answers()) == 6


def test_the_session_cookie_is_protected_from_scripts_and_other_sites(site):
    cookie = httpx.get(f"{site.base_url}/").headers["Set-Cookie"]
    assert "HttpOnly" in cookie
    assert "SameSite=strict" in cookie


@pytest.mark.parametrize("ending", ["/start", "/question/1", "/back", "/change/1", "/forget"])
def test_a_form_without_its_token_changes_nothing(person, ending):
    person.answer()
    form = person.form()
    before = person.answers()
    address = "/start" if ending == "/start" else f"/i/{person.key}{ending}"
    data = {**form["hidden"], "act": "unknown", "csrf": "0" * 64}
    assert person.http.post(address, data=data).status_code == 403
    del data["csrf"]
    assert "Please try that once more" in person.http.post(address, data=data).text
    assert person.answers() == before


def test_a_token_is_valid_only_in_its_own_browser(new_respondent, person):
    other = new_respondent()
    stolen = {**person.form()["hidden"], "act": "unknown"}
    assert other.http.post(f"/i/{person.key}/question/1", data=stolen).status_code == 403


def test_an_invalid_answer_stays_in_its_field_with_an_explanation(person):
    person.defer_until("body")
    form = person.form()
    page = person.send(form, v0="very old", v1="70")
    assert page.status_code == 422
    assert 'value="very old"' in page.text
    assert 'value="70"' in page.text
    assert "Enter a number, in years. You typed “very old”." in page.text
    assert 'id="v0-error"' in page.text
    assert 'aria-invalid="true"' in page.text
    assert person.answers() == {}


def test_several_invalid_fields_are_listed_first(person):
    person.defer_until("body")
    page = person.send(person.form())
    assert "2 things need another look" in page.text


def test_one_variable_of_a_question_can_be_unknown(person):
    person.defer_until("body")
    person.send(person.form(), **{"v0": "61", "v1-unknown": "1"})
    assert person.answers()["body"]["values"] == {"age": 61.0}
    assert person.answers()["body"]["without"] == {"weight": "unknown"}


@pytest.mark.parametrize("reason", ["unknown", "declined"])
def test_unknown_and_declined_are_answers(person, reason):
    name = person.question()
    person.send(person.form(), act=reason)
    assert set(person.answers()[name]["without"].values()) == {reason}
    assert person.question() != name


def test_a_deferred_question_is_asked_when_no_other_is_left(person):
    deferred = person.question()
    person.send(person.form(), act="later")
    assert person.question() != deferred
    for _ in range(5):
        assert person.question() != deferred
        person.answer()
    assert person.question() == deferred
    assert "No other question is left" in person.page.text
    assert ("act", "later") not in person.form()["buttons"]
    assert len(person.answers()) == 5


def test_markup_in_a_question_is_shown_as_text(person):
    person.defer_until("town")
    assert "&lt;script&gt;alert" in person.page.text
    assert "<script>alert" not in person.page.text
    assert "<script>alert" not in person.visit("/why").text


def test_the_why_page_explains_the_question_in_sentences_and_percentages(person):
    page = person.visit("/why")
    assert "What could be asked now" in page.text
    assert re.search(r"\d+%", page.text)
    assert "bits" not in page.text


def test_an_answer_can_be_changed_and_the_others_stay(person):
    person.defer_until("body").send(person.form(), v0="61", v1="70")
    person.answer()
    before = person.answers()
    person.visit("/answers")
    assert "61 years" in person.page.text
    person.visit("/change/1")
    assert 'value="61"' in person.page.text
    person.send(person.form(), v0="62", v1="70")
    after = person.answers()
    assert after.pop("body")["values"] == {"age": 62.0, "weight": 70.0}
    before.pop("body")
    assert after == before


def test_an_invalid_change_is_not_saved(person):
    person.defer_until("body").send(person.form(), v0="61", v1="70")
    person.visit("/change/1")
    page = person.send(person.form(), v0="x", v1="70")
    assert page.status_code == 422
    assert person.answers()["body"]["values"]["age"] == 61.0


@pytest.mark.parametrize("place", ["0", "2", "99999999", "x", "-1"])
def test_an_answer_that_does_not_exist_cannot_be_changed(person, place):
    person.answer()
    assert person.visit(f"/change/{place}").url.path == f"/i/{person.key}/answers"


def test_the_last_answer_can_be_undone(person):
    name = person.question()
    person.answer()
    person.visit("/answers")
    person.send(person.form("/back"))
    assert person.answers() == {}
    person.visit()
    assert person.question() == name


def test_a_form_sent_twice_counts_once(person):
    form = person.form()
    values = dict([next(button for button in form["buttons"] if button[0] == "act")])
    first = person.send(form, **values)
    assert person.send(form, **values).url == first.url
    assert len(person.answers()) == 1


def test_an_old_page_does_not_overwrite_a_newer_answer(person):
    person.defer_until("body")
    old = person.form()
    person.send(old, v0="61", v1="70")
    page = person.send(old, v0="99", v1="70")
    assert page.status_code == 409
    assert "You answered this already: Age 61 years, Weight 70 kg" in page.text
    assert 'value="99"' in page.text
    assert person.answers()["body"]["values"]["age"] == 61.0
    person.send(person.form(), v0="99", v1="70")
    assert person.answers()["body"]["values"]["age"] == 99.0


def test_a_form_for_an_older_version_is_refused(person):
    old = person.form()
    person.send(old, act="later")
    person.answer()
    page = person.send(old, act="unknown")
    assert page.status_code == 409
    assert "This page was out of date" in page.text
    assert old["hidden"]["question"] not in person.answers()


def test_an_unknown_question_is_refused(person):
    form = person.form()
    assert person.send(form, question="nonsense", act="unknown").status_code == 409


@pytest.mark.parametrize("ending", [*PAGES, "/change/1"])
@pytest.mark.parametrize("key", [UNKNOWN_KEY, "short", "%00", "x" * 500])
def test_an_unknown_link_gets_a_friendly_page(site, key, ending):
    page = httpx.get(f"{site.base_url}/i/{key}{ending}")
    assert page.status_code == 404
    assert "There is no interview at this link" in page.text
    assert page.headers["Content-Type"].startswith("text/html")


def test_an_interview_can_be_resumed_by_its_link_in_another_browser(new_respondent, person):
    name = person.question()
    person.answer()
    other = new_respondent()
    other.send(other.form("/resume"), link=f" http://anywhere.example/i/{person.key}/answers ")
    assert other.page.url.path.startswith(f"/i/{person.key}/question/")
    assert other.question() != name
    assert "Question 2" in other.page.text


def test_an_unknown_link_is_reported_beside_its_field(new_respondent):
    other = new_respondent()
    page = other.send(other.form("/resume"), link=f"/i/{UNKNOWN_KEY}")
    assert page.status_code == 422
    assert "No interview has this link" in page.text
    assert UNKNOWN_KEY in page.text


def test_forgetting_asks_for_confirmation_and_is_permanent(person):
    person.answer()
    assert "One answer will be erased" in person.visit("/forget").text
    assert "Your answers are forgotten" in person.send(person.form("/forget")).text
    assert person.visit().status_code == 404


def test_the_result_can_be_seen_before_the_end(person):
    page = person.visit("/result")
    assert "The result so far" in page.text
    assert "Answer more questions" in page.text


def test_an_invalid_cookie_does_no_harm(person):
    for cookie in ("99.98", "a", "1..2", "9" * 4000):
        person.http.cookies.set("eddi_later", cookie, path=f"/i/{person.key}")
        assert person.visit().status_code == 200
        person.http.cookies.delete("eddi_later")


def test_static_files_are_cached_and_other_files_are_not_served(site):
    text = httpx.get(f"{site.base_url}/").text
    for address in re.findall(r'(?:href|src)="(/static/[^"]+)"', text):
        file = httpx.get(f"{site.base_url}{address}")
        assert file.status_code == 200
        assert "immutable" in file.headers["Cache-Control"]
    assert httpx.get(f"{site.base_url}/static/pages.py").status_code == 404
    assert httpx.get(f"{site.base_url}/static/..%2Fpages.py").status_code == 404


def test_the_pages_are_not_part_of_the_api(site):
    assert not any(path.startswith("/i/") for path in site.get("/openapi.json").json()["paths"])


def test_deferring_every_question_starts_over(person):
    first = person.question()
    asked = [first]
    for _ in range(6):
        person.send(person.form(), act="later")
        asked.append(person.question())
    assert len(set(asked[:6])) == 6
    assert asked[6] == first


def test_several_targets_are_shown_side_by_side(serving):
    with serving(target="stage,weight") as client:
        respondent = Respondent(client)
        respondent.begin().answer()
        for ending in ("", "/why", "/result"):
            page = respondent.visit(ending)
            assert page.status_code == 200
        respondent.http.close()
    assert "Stage and weight" in page.text
    assert "We are 90% sure that it is between" in page.text
    assert "The most likely of 3" in page.text


@pytest.fixture(scope="module")
def context_model(tmp_path_factory):
    """A model whose target is one of two bits; which of the two, the context says.

    The context carries no information about the target by itself.
    """
    random = np.random.default_rng(0)
    which, first, second = random.integers(2, size=(3, 3000))
    truth = np.where(which == 1, second, first)
    table = pd.DataFrame({"which": which, "first": first, "second": second, "truth": truth})
    schema = Schema(tuple(Variable(name, "binary", levels=(0, 1)) for name in table.columns))
    recipe = replace(DEFAULT, hidden=(64, 64), term=32, identity=16, offset=16, folds=0)
    path = tmp_path_factory.mktemp("context") / "context.eddi"
    PartialVAE(schema, "truth", recipe=recipe, max_steps=800, random_state=0).fit(table).save(path)
    return path


def test_the_why_page_of_a_lookahead_question_names_its_effect_on_the_next_question(
    context_model, serving
):
    with serving(model=str(context_model), target="truth") as client:
        respondent = Respondent(client).begin()
        assert respondent.question() == "which"
        why = respondent.visit("/why").text
        respondent.visit()
        respondent.answer()
        why_next = respondent.visit("/why").text
        respondent.http.close()
    decides_next = "Your answer decides which question is most informative next."
    assert decides_next in why
    assert "little more" not in why
    assert decides_next not in why_next
    assert "your answer is expected to tell us most about truth." in why_next


def test_a_value_far_out_of_range_is_saved_once_it_is_confirmed(person):
    person.defer_until("visits")
    page = person.send(person.form(), v0="99999")
    assert page.status_code == 422
    assert "If that is correct, confirm it below." in page.text
    assert "Yes, 99999 is correct" in page.text
    assert person.send(person.form(), v0="99999", **{"v0-confirm": "99999"}).status_code == 200
    assert "99999" in person.visit("/answers").text.replace(",", "")
    person.visit("/change/1")
    assert person.send(person.form("/change/1"), v0="88888").status_code == 422
    assert "Yes, 88888 is correct" in person.page.text


def test_a_deferred_question_is_asked_before_the_stopping_rule_ends_the_interview(serving):
    with serving(target="stage", after=2) as client:
        person = Respondent(client).begin()
        deferred = person.question()
        person.send(person.form(), act="later")
        person.answer()
        person.answer()
        assert person.question() == deferred
        assert "The last question" in person.page.text
        assert ("act", "later") not in person.form()["buttons"]
        person.answer()
        assert person.page.url.path.endswith("/result")
        person.http.close()
