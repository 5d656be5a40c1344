"""Pages say who owns a questionnaire, let its owner share it, and refuse everybody else."""

import pytest

from eddi.service.analyst.accounts.access import Access
from eddi.service.web.api_keys import Role

PAGE = "/analyst/questionnaires/sleep"


@pytest.fixture
def ada(key, open_browser):
    return open_visitor(key, open_browser, "Ada")


@pytest.fixture
def bob(key, open_browser):
    return open_visitor(key, open_browser, "Bob")


def open_visitor(key, open_browser, holder):
    """A browser in which somebody is signed in; ``name`` is the name of the key."""
    visitor, text = open_browser(), key(Role.ANALYST, holder=holder)
    visitor.sign_in(text)
    visitor.name = text.split("_")[1]
    return visitor


@pytest.fixture(autouse=True)
def publisher(server, keys):
    """The questionnaires of the server; those of tests are deleted, and so are the keys."""
    shop = server.app.state.workshop
    yield shop.publisher
    for item in shop.publisher.all():
        if item.name == "sleep":
            shop.publisher.delete("sleep")
    for key in keys.all():
        if key.holder and not key.is_revoked:
            keys.revoke(key.name)


@pytest.fixture
def sleep(server, ada, questionnaire):
    """The questionnaire "sleep", which belongs to Ada."""
    server.app.state.workshop.publish("sleep", questionnaire.model_sha256, by=ada.name)


@pytest.mark.usefixtures("sleep")
def test_pages_say_who_owns_a_questionnaire(ada, bob):
    assert "· yours" in ada.get("/analyst").text
    assert "· belongs to Ada" in bob.get("/analyst").text
    assert "Owner: <strong>Ada</strong> (you)" in ada.get(PAGE).text
    assert "This questionnaire belongs to Ada. You can look at it." in bob.get(PAGE).text


@pytest.mark.usefixtures("sleep")
def test_others_are_offered_nothing_that_they_may_not_do(bob):
    page = bob.get(PAGE).text
    for action in ("/settings", "/answers", "/invitations", "/rename", "/delete", "/access", "/open"):
        assert f'{PAGE}{action}"' not in page
    assert bob.get(f"{PAGE}/preview").status_code == 200


@pytest.mark.usefixtures("sleep")
@pytest.mark.parametrize("path", ["settings", "answers", "answers.csv", "answers.parquet"])
def test_others_cannot_open_settings_and_answers(ada, bob, path):
    refused = bob.get(f"{PAGE}/{path}")
    assert refused.status_code == 403
    assert "Ask them or an administrator for access" in refused.text
    assert ada.get(f"{PAGE}/{path}").status_code == 200


@pytest.mark.usefixtures("sleep")
@pytest.mark.parametrize(
    ("path", "fields"),
    [
        ("settings", {"title": "x"}),
        ("rename", {"name": "x"}),
        ("open", {"open": "no"}),
        ("first-page", {"first": "yes"}),
        ("rollback", {"version": "1"}),
        ("invitations", {"count": "1"}),
        ("delete", {}),
        ("access", {"owner": ""}),
        ("answers/delete", {"person": "x"}),
    ],
)
def test_others_cannot_change_a_questionnaire(bob, publisher, path, fields):
    before = publisher.get("sleep")
    refused = bob.fill_in("/analyst", f"{PAGE}/{path}", **fields)
    assert refused.status_code == 403
    assert publisher.get("sleep") == before


@pytest.mark.usefixtures("sleep")
def test_publishing_under_a_name_of_somebody_else_shows_the_form_with_the_error(bob, questionnaire):
    address = f"/analyst/models/{questionnaire.model_sha256}/publish"
    page = bob.fill_in(address, name="sleep", replace_target="yes")
    assert page.status_code == 422
    assert "belongs to Ada" in page.text
    assert 'value="sleep"' in page.text


@pytest.mark.usefixtures("sleep")
def test_the_owner_shares_a_questionnaire(ada, bob, publisher):
    fields = {"owner": ada.name, f"editor-{bob.name}": "yes", f"editor-{ada.name}": "yes"}
    assert ada.fill_in(PAGE, f"{PAGE}/access", **fields).status_code == 303
    assert publisher.get("sleep").access == Access(ada.name, (bob.name,))
    assert "Editors: Bob." in bob.get(PAGE).text
    assert bob.get(f"{PAGE}/settings").status_code == 200


@pytest.mark.usefixtures("sleep")
def test_an_owner_whose_key_was_revoked_is_named(ada, keys, browser, key):
    keys.revoke(ada.name)
    browser.sign_in(key(Role.ADMINISTRATOR, holder="Root"))
    page = browser.get(PAGE).text
    assert "Ada (no longer has a valid key)" in page
    refused = browser.fill_in(PAGE, f"{PAGE}/access", owner="-")
    assert refused.status_code == 422
    assert "No analyst has a valid key" in refused.text


def test_an_open_server_shows_no_owners(client):
    page = client.get("/analyst/questionnaires/people").text
    assert "Nobody owns" not in page
    assert "/analyst/questionnaires/people/delete" in page
