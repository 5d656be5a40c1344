"""A questionnaire is renamed, closed, deleted and shared on its page."""

import csv
import html
import io
import re

import httpx
import pytest

from eddi.service.interviews.questionnaire_settings import QuestionnaireSettings


def text_of(page):
    return html.unescape(re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", page.text)))


def test_a_questionnaire_can_be_renamed_and_its_former_address_still_works(
    managed_site, fill_in, publish
):
    page = publish("old name")
    renamed = fill_in(page, f"{page}/rename", name="new name")
    assert renamed.url.path == "/analyst/questionnaires/new name"
    start = managed_site.get("/q/old name")
    assert start.url.path == "/q/new name"
    assert 'name="questionnaire" value="new name"' in start.text


def test_a_name_that_is_taken_or_not_valid_is_refused(fill_in, publish):
    page = publish("mine")
    for name, message in (
        ("people", "there is already a questionnaire"),
        ("a/b", "is not a valid name"),
    ):
        refused = fill_in(page, f"{page}/rename", name=name)
        assert refused.status_code == 422
        assert message in text_of(refused).lower()


def test_an_interview_continues_after_its_questionnaire_was_renamed(managed_site, fill_in, publish):
    page = publish("first name")
    key = managed_site.post("/interviews", json={"questionnaire": "first name"}).json()["id"]
    fill_in(page, f"{page}/rename", name="second name")
    assert managed_site.get(f"/i/{key}").status_code == 200


def test_a_closed_questionnaire_lets_interviews_end_but_not_begin(managed_site, fill_in, publish):
    page = publish("brief")
    key = managed_site.post("/interviews", json={"questionnaire": "brief"}).json()["id"]
    assert "is closed: no new interviews" in text_of(fill_in(page, f"{page}/open", open="no"))
    closed = managed_site.get("/q/brief")
    assert (closed.status_code, "This questionnaire is closed" in closed.text) == (410, True)
    assert managed_site.get(f"/i/{key}").status_code == 200
    fill_in(page, f"{page}/open", open="yes")
    assert managed_site.get("/q/brief").status_code == 200


def test_a_deleted_questionnaire_is_gone_and_its_name_can_be_used_again(
    managed_site, managed, fill_in, publish
):
    page = publish("temporary")
    managed.publisher.change_settings("temporary", QuestionnaireSettings(title="Secret title"))
    assert "permanently deleted" in text_of(managed_site.get(f"{page}/delete"))
    fill_in(f"{page}/delete")
    assert managed_site.get("/q/temporary").status_code == 404
    publish("temporary")
    assert "Secret title" not in managed_site.get("/q/temporary").text


def test_the_address_of_the_server_shows_a_chosen_questionnaire_or_the_list(
    managed_site, fill_in, publish
):
    page = publish("chosen")
    fill_in(page, f"{page}/first-page", first="yes")
    assert 'name="questionnaire" value="chosen"' in managed_site.get("/").text
    fill_in(page, f"{page}/first-page", first="no")
    assert 'href="/q/chosen"' in managed_site.get("/").text


def test_begin_starts_the_questionnaire_that_was_displayed(managed_site, managed, fill_in, publish):
    page = publish("displayed")
    fill_in(page, f"{page}/first-page", first="yes")
    start = managed_site.get("/").text
    fields = dict(re.findall(r'type="hidden" name="(\w+)" value="([^"]*)"', start))
    other = publish("another")
    fill_in(other, f"{other}/first-page", first="yes")  # while the first page is open in a browser
    key = managed_site.post("/start", data=fields).url.path.split("/")[2]
    assert managed.jobs.store.read(f"interview/{key}")[0].facts["questionnaire"] == "displayed"


def test_another_target_under_the_same_name_is_confirmed_first(managed, fill_in, publish):
    publish("about", target="age")
    digest = managed.models()[0].digest
    form = f"/analyst/models/{digest}/publish"
    refused = fill_in(form, name="about")
    assert refused.status_code == 422
    assert "'about' asks about age, and this model is about stage" in text_of(refused)
    assert 'name="replace_target"' in refused.text
    assert fill_in(form, name="about", replace_target="yes").status_code == 200
    assert managed.publisher.get("about").current.target == ("stage",)


@pytest.mark.parametrize("risk", ["0.2", "2"])
def test_a_risk_that_cannot_be_guaranteed_is_refused_before_publishing(managed, fill_in, risk):
    digest = managed.models()[0].digest
    refused = fill_in(f"/analyst/models/{digest}/publish", name="risky", risk=risk)
    assert refused.status_code == 422
    assert "risky" not in [item.name for item in managed.publisher.all()]


def test_invitations_are_links_that_can_be_used_once(managed_site, managed, fill_in, publish):
    page = publish("invited")
    managed.publisher.change_settings("invited", QuestionnaireSettings(needs_invitation=True))
    file = fill_in(page, f"{page}/invitations", count="3")
    links = [row["link"] for row in csv.DictReader(io.StringIO(file.text))]
    assert len(set(links)) == 3
    assert managed_site.get("/q/invited").status_code == 403
    with httpx.Client(follow_redirects=True) as browser:
        start = browser.get(links[0]).text
        fields = dict(re.findall(r'type="hidden" name="(\w+)" value="([^"]*)"', start))
        first = browser.post(f"{managed_site.base_url}/start", data=fields)
        again = browser.post(f"{managed_site.base_url}/start", data=fields)  # the same form twice
        assert first.url.path == again.url.path
        assert browser.get(links[0]).status_code == 403
    assert "3 issued, 1 used" in text_of(managed_site.get(page))


def test_too_many_invitations_at_once_are_refused(fill_in, publish):
    page = publish("crowd")
    refused = fill_in(page, f"{page}/invitations", count="5000")
    assert refused.status_code == 422
    assert "must be between 1 and 1,000, got 5000" in text_of(refused)


def test_the_address_is_shown_with_a_qr_code(managed_site, publish):
    page = publish("shared")
    assert f'value="{managed_site.base_url}/q/shared"' in managed_site.get(page).text
    picture = managed_site.get(f"{page}/qr.svg")
    assert picture.headers["content-type"] == "image/svg+xml"
    assert managed_site.get(f"{page}/qr.png").content.startswith(b"\x89PNG")
    assert managed_site.get(f"{page}/qr.exe").status_code == 404


def test_a_model_can_be_renamed_and_one_in_use_cannot_be_deleted(managed, fill_in):
    digest = managed.models()[0].digest
    page = f"/analyst/models/{digest}"
    renamed = fill_in(page, f"{page}/rename", name="Model of May")
    assert "Model card: Model of May" in renamed.text
    refused = fill_in(f"{page}/delete")
    assert refused.status_code == 409
    assert "belongs to" in text_of(refused)


def test_a_model_that_nothing_uses_can_be_deleted(gallery):
    digest = gallery.digests["new"]
    content = gallery.blobs.path(digest).read_bytes()
    gallery.delete_model(digest)
    assert digest not in [model.digest for model in gallery.models()]
    gallery.blobs.put(content)  # other tests use it
