"""The respondent's pages over HTTP, as a browser without scripts sees them."""

import re
from contextlib import ExitStack
from html.parser import HTMLParser

import httpx
import pytest

from eddi.model.files.archive import load

NOWHERE = "0" * 32
PAGES = ("", "/why", "/answers", "/result", "/forget")


class Forms(HTMLParser):
    """The forms of a page: where each goes, and what it would send."""

    def __init__(self, text):
        super().__init__()
        self.forms, self.ids, self.described = [], set(), []
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        facts = dict(attributes)
        self.ids.add(facts.get("id"))
        self.described += facts.get("aria-describedby", "").split()
        if tag == "form":
            self.forms.append(
                {"action": facts["action"], "sent": {}, "boxes": [], "options": {}, "acts": []}
            )
        elif tag == "button" and facts.get("type") != "button":
            self.forms[-1]["acts"].append((facts.get("name"), facts.get("value")))
        elif tag == "input" and facts.get("type") == "hidden":
            self.forms[-1]["sent"][facts["name"]] = facts["value"]
        elif tag == "input" and facts.get("type") == "radio":
            self.forms[-1]["options"].setdefault(facts["name"], []).append(facts["value"])
        elif tag == "input" and facts.get("type") == "text" and "name" in facts:
            self.forms[-1]["boxes"].append(facts["name"])


class Respondent:
    """Somebody at a browser of their own."""

    def __init__(self, client):
        self.http = httpx.Client(base_url=client.base_url, timeout=30, follow_redirects=True)
        self.page = self.http.get("/")

    def form(self, ending=""):
        return next(form for form in Forms(self.page.text).forms if form["action"].endswith(ending))

    def send(self, form, **more):
        self.page = self.http.post(form["action"], data={**form["sent"], **more})
        return self.page

    def begin(self):
        self.send(self.form("/start"))
        self.key = self.page.url.path.removeprefix("/i/")
        return self

    def see(self, ending=""):
        self.page = self.http.get(f"/i/{self.key}{ending}")
        return self.page

    def answer(self):
        """Something that fits, whatever is asked."""
        form = self.form()
        values = dict.fromkeys(form["boxes"], "50")
        values |= {name: options[0] for name, options in form["options"].items()}
        presses = [(name, value) for name, value in form["acts"] if name and name.startswith("v")]
        return self.send(form, **values, **dict(presses[:1]))

    def asked(self):
        return self.form()["sent"]["question"]

    def until(self, name):
        """Put questions off until this one comes."""
        for _ in range(12):
            if self.asked() == name:
                return self
            self.send(self.form(), act="later")
        raise AssertionError(f"{name} never came")

    def told(self):
        return {
            each["question"]: each for each in self.http.get(f"/interviews/{self.key}").json()["answers"]
        }


@pytest.fixture(scope="module")
def site(tmp_path_factory, model_file, serving):
    """The people's questionnaire with wording of its own, a panel, and a question full of markup."""
    model = load(model_file)
    schema = model.schema_.with_question("body", reveals=["age", "weight"], text="Your body?", cost=3)
    model.schema_ = schema.with_question("town", text="<script>alert('town')</script> & where?")
    path = tmp_path_factory.mktemp("worded") / "worded.eddi"
    model.save(path)
    with serving(model=str(path)) as client:
        yield client


@pytest.fixture
def arriving(site):
    """Lets respondents arrive, each with a browser of their own."""
    with ExitStack() as leaving:

        def arrive():
            somebody = Respondent(site)
            leaving.callback(somebody.http.close)
            return somebody

        yield arrive


@pytest.fixture
def person(arriving):
    return arriving().begin()


def test_the_start_page_says_what_it_is_about_and_how_long_it_takes(site):
    page = httpx.get(f"{site.base_url}/")
    assert page.status_code == 200
    assert "A few questions about stage" in page.text
    assert "At most 6" in page.text


def test_the_start_page_may_have_words_of_its_own(serving):
    with serving(title="Your <stage>", about="Asked by the clinic of Aber. Call 555 for help.") as site:
        page = site.get("/").text
    assert "<title>Your &lt;stage&gt;</title>" in page
    assert "<h1>Your &lt;stage&gt;</h1>" in page
    assert "Asked by the clinic of Aber. Call 555 for help." in page
    assert "A few questions about stage" not in page


def test_no_page_is_kept_on_the_way_or_lets_in_foreign_scripts(person):
    for ending in PAGES:
        page = person.see(ending)
        assert page.status_code == 200
        assert page.headers["Cache-Control"] == "no-store"
        assert page.headers["Referrer-Policy"] == "no-referrer"
        assert "script-src 'self'" in page.headers["Content-Security-Policy"]
        assert "unsafe-inline" not in page.headers["Content-Security-Policy"]
        assert not re.search(r"<style|\sstyle=|<script(?! src=)|\son\w+=", page.text)


def test_every_description_that_is_pointed_to_is_there(person):
    person.until("body")
    person.send(person.form(), v0="old")
    read = Forms(person.page.text)
    assert read.described
    assert set(read.described) <= read.ids


def test_an_interview_goes_from_question_to_question_to_the_result(person):
    for _ in range(6):
        assert "/result" not in person.page.url.path
        person.answer()
    assert person.page.url.path == f"/i/{person.key}/result"
    assert "That is enough, thank you" in person.page.text
    assert "What mattered" in person.page.text
    assert f'/i/{person.key}" aria-label="Your private link"' in person.page.text
    assert len(person.told()) == 6


def test_the_cookie_of_the_forms_is_out_of_reach_of_scripts_and_other_sites(site):
    cookie = httpx.get(f"{site.base_url}/").headers["Set-Cookie"]
    assert "HttpOnly" in cookie
    assert "SameSite=strict" in cookie


@pytest.mark.parametrize("ending", ["/start", "", "/back", "/change/1", "/forget"])
def test_a_form_without_our_token_changes_nothing(person, ending):
    person.answer()
    form = person.form()
    before = person.told()
    address = "/start" if ending == "/start" else f"/i/{person.key}{ending}"
    data = {**form["sent"], "act": "unknown", "csrf": "0" * 64}
    assert person.http.post(address, data=data).status_code == 403
    del data["csrf"]
    assert "Please try that once more" in person.http.post(address, data=data).text
    assert person.told() == before


def test_a_token_serves_only_the_browser_it_was_given_to(arriving, person):
    other = arriving()
    stolen = {**person.form()["sent"], "act": "unknown"}
    assert other.http.post(f"/i/{person.key}", data=stolen).status_code == 403


def test_a_wrong_answer_is_kept_and_explained_beside_its_field(person):
    person.until("body")
    form = person.form()
    page = person.send(form, v0="very old", v1="70")
    assert page.status_code == 422
    assert 'value="very old"' in page.text
    assert 'value="70"' in page.text
    assert "Enter a number, in years. You typed “very old”." in page.text
    assert 'id="v0-error"' in page.text
    assert 'aria-invalid="true"' in page.text
    assert person.told() == {}


def test_several_wrong_fields_are_listed_first(person):
    person.until("body")
    page = person.send(person.form())
    assert "2 things need another look" in page.text


def test_one_part_of_a_panel_may_be_unknown(person):
    person.until("body")
    person.send(person.form(), **{"v0": "61", "v1-unknown": "1"})
    assert person.told()["body"]["values"] == {"age": 61.0}
    assert person.told()["body"]["without"] == {"weight": "unknown"}


@pytest.mark.parametrize("silence", ["unknown", "declined"])
def test_not_knowing_and_not_saying_are_answers(person, silence):
    name = person.asked()
    person.send(person.form(), act=silence)
    assert set(person.told()[name]["without"].values()) == {silence}
    assert person.asked() != name


def test_later_comes_when_nothing_else_is_left(person):
    put_off = person.asked()
    person.send(person.form(), act="later")
    assert person.asked() != put_off
    for _ in range(5):
        assert person.asked() != put_off
        person.answer()
    assert person.asked() == put_off
    assert "nothing else is left" in person.page.text
    assert ("act", "later") not in person.form()["acts"]
    assert len(person.told()) == 5


def test_markup_in_a_question_is_text(person):
    person.until("town")
    assert "&lt;script&gt;alert" in person.page.text
    assert "<script>alert" not in person.page.text
    assert "<script>alert" not in person.see("/why").text


def test_why_this_question_is_told_in_words_and_nats(person):
    page = person.see("/why")
    assert "What could be asked now" in page.text
    assert re.search(r"\d\.\d\d nats", page.text)


def test_an_answer_can_be_changed_and_the_others_stay(person):
    person.until("body").send(person.form(), v0="61", v1="70")
    person.answer()
    before = person.told()
    person.see("/answers")
    assert "61 years" in person.page.text
    person.see("/change/1")
    assert 'value="61"' in person.page.text
    person.send(person.form(), v0="62", v1="70")
    after = person.told()
    assert after.pop("body")["values"] == {"age": 62.0, "weight": 70.0}
    before.pop("body")
    assert after == before


def test_a_wrong_change_is_not_kept(person):
    person.until("body").send(person.form(), v0="61", v1="70")
    person.see("/change/1")
    page = person.send(person.form(), v0="x", v1="70")
    assert page.status_code == 422
    assert person.told()["body"]["values"]["age"] == 61.0


@pytest.mark.parametrize("place", ["0", "2", "99999999", "x", "-1"])
def test_an_answer_that_is_not_there_cannot_be_changed(person, place):
    person.answer()
    assert person.see(f"/change/{place}").url.path == f"/i/{person.key}/answers"


def test_the_last_answer_can_be_taken_back(person):
    name = person.asked()
    person.answer()
    person.see("/answers")
    person.send(person.form("/back"))
    assert person.told() == {}
    person.see()
    assert person.asked() == name


def test_a_form_sent_twice_counts_once(person):
    form = person.form()
    values = dict(next((act,) for act in form["acts"] if act[0] == "act"))
    first = person.send(form, **values)
    assert person.send(form, **values).url == first.url
    assert len(person.told()) == 1


def test_an_old_page_does_not_overwrite_what_was_said_since(person):
    person.until("body")
    old = person.form()
    person.send(old, v0="61", v1="70")
    page = person.send(old, v0="99", v1="70")
    assert page.status_code == 409
    assert "You answered this already: Age 61 years, Weight 70 kg" in page.text
    assert 'value="99"' in page.text
    assert person.told()["body"]["values"]["age"] == 61.0
    person.send(person.form(), v0="99", v1="70")
    assert person.told()["body"]["values"]["age"] == 99.0


def test_a_form_of_an_older_version_is_refused(person):
    old = person.form()
    person.send(old, act="later")
    person.answer()
    page = person.send(old, act="unknown")
    assert page.status_code == 409
    assert "This page was out of date" in page.text
    assert old["sent"]["question"] not in person.told()


def test_a_question_nobody_knows_is_refused(person):
    form = person.form()
    assert person.send(form, question="nonsense", act="unknown").status_code == 409


@pytest.mark.parametrize("ending", [*PAGES, "/change/1"])
@pytest.mark.parametrize("key", [NOWHERE, "short", "%00", "x" * 500])
def test_an_unknown_link_gets_a_friendly_page(site, key, ending):
    page = httpx.get(f"{site.base_url}/i/{key}{ending}")
    assert page.status_code == 404
    assert "There is no interview at this link" in page.text
    assert page.headers["Content-Type"].startswith("text/html")


def test_an_interview_is_resumed_by_its_link_in_another_browser(arriving, person):
    name = person.asked()
    person.answer()
    other = arriving()
    other.send(other.form("/resume"), link=f" http://anywhere.example/i/{person.key}/answers ")
    assert other.page.url.path == f"/i/{person.key}"
    assert other.asked() != name
    assert "Question 2" in other.page.text


def test_a_link_that_leads_nowhere_is_said_so_beside_the_box(arriving):
    other = arriving()
    page = other.send(other.form("/resume"), link=f"/i/{NOWHERE}")
    assert page.status_code == 422
    assert "No interview has this link" in page.text
    assert NOWHERE in page.text


def test_forgetting_asks_first_and_is_for_good(person):
    person.answer()
    assert "One answer will be erased" in person.see("/forget").text
    assert "Your answers are forgotten" in person.send(person.form("/forget")).text
    assert person.see().status_code == 404


def test_a_result_can_be_seen_before_the_end(person):
    page = person.see("/result")
    assert "The result so far" in page.text
    assert "Answer more questions" in page.text


def test_a_cookie_with_nonsense_in_it_does_no_harm(person):
    for nonsense in ("99.98", "a", "1..2", "9" * 4000):
        person.http.cookies.set("eddi_later", nonsense, path=f"/i/{person.key}")
        assert person.see().status_code == 200
        person.http.cookies.delete("eddi_later")


def test_static_files_are_kept_and_others_do_not_exist(site):
    text = httpx.get(f"{site.base_url}/").text
    for address in re.findall(r'(?:href|src)="(/static/[^"]+)"', text):
        file = httpx.get(f"{site.base_url}{address}")
        assert file.status_code == 200
        assert "immutable" in file.headers["Cache-Control"]
    assert httpx.get(f"{site.base_url}/static/pages.py").status_code == 404
    assert httpx.get(f"{site.base_url}/static/..%2Fpages.py").status_code == 404


def test_the_pages_are_no_part_of_the_api(site):
    assert not any(path.startswith("/i/") for path in site.get("/openapi.json").json()["paths"])


def test_when_all_were_put_off_the_round_begins_again(person):
    first = person.asked()
    seen = [first]
    for _ in range(6):
        person.send(person.form(), act="later")
        seen.append(person.asked())
    assert len(set(seen[:6])) == 6
    assert seen[6] == first


def test_several_targets_are_shown_side_by_side(serving):
    with serving(target="stage,weight") as client:
        somebody = Respondent(client)
        somebody.begin().answer()
        for ending in ("", "/why", "/result"):
            page = somebody.see(ending)
            assert page.status_code == 200
        somebody.http.close()
    assert "Stage and weight" in page.text
    assert "We are 90% sure that it lies between" in page.text
    assert "The likeliest of 3" in page.text
