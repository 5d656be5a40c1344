"""The settings of a questionnaire are edited in a form, and seen in a preview and by respondents."""

import html
import re

import pytest

from eddi.service.interviews.questionnaire_settings import QuestionnaireSettings

PNG = b"\x89PNG\r\n\x1a\n" + b"0" * 20


def text_of(page):
    return html.unescape(re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", page.text)))


def field_of(page, label):
    """The name of the field with this label."""
    return re.search(rf'<label for="([\w-]+)">{re.escape(label)}<', html.unescape(page.text))[1]


@pytest.fixture
def edited(publish, managed):
    """The address of a questionnaire whose settings are edited."""
    address = publish("edited")
    managed.publisher.change_settings("edited", QuestionnaireSettings())
    return address


def test_texts_labels_and_switches_are_saved_and_shown(managed_site, managed, fill_in, edited):
    form = managed_site.get(f"{edited}/settings")
    label = field_of(form, "Label of “yes”")
    target = field_of(form, "Name of “stage”")
    saved = fill_in(
        f"{edited}/settings",
        title="How are you?",
        introduction="Asked by the clinic.",
        consent="We store your answers.",
        contact="help@example.org",
        colour="#123456",
        is_listed="yes",
        **{label: "I smoke", target: "the stage of the illness", "closing-all": "See you."},
    )
    assert "Saved." in saved.text
    settings = managed.publisher.get("edited").settings
    assert settings.labels == {"smoker": {"yes": "I smoke"}}
    assert settings.names == {"stage": "the stage of the illness"}
    assert (settings.show_estimate, settings.show_result) == (False, False)
    start = managed_site.get("/q/edited")
    for text in ("How are you?", "Asked by the clinic.", "We store your answers.", "/theme/123456.css"):
        assert text in start.text
    assert "stage of the illness" in start.text


@pytest.mark.usefixtures("edited")
def test_consent_is_needed_to_begin(managed_site, managed):
    managed.publisher.change_settings("edited", QuestionnaireSettings(consent="We store your answers."))
    start = managed_site.get("/q/edited").text
    fields = dict(re.findall(r'type="hidden" name="(\w+)" value="([^"]*)"', start))
    refused = managed_site.post("/start", data=fields)
    assert (refused.status_code, "Please agree first" in refused.text) == (422, True)
    assert managed_site.post("/start", data={**fields, "consent": "yes"}).status_code == 200


@pytest.mark.parametrize(
    ("field", "value", "message"),
    [
        ("colour", "#ffee00", "White text on #ffee00 has a contrast"),
        ("redirect", "http://example.org", "must be an address such as https"),
        ("closes_on", "tomorrow", "must be such as 2030-12-31"),
        ("max_respondents", "many", "must be a whole number"),
        ("embed_on", "example.org", "must be an address"),
        ("title", "x" * 300, "has 300 characters"),
    ],
)
def test_a_setting_that_is_not_valid_keeps_what_was_typed(
    fill_in, managed, edited, field, value, message
):
    refused = fill_in(f"{edited}/settings", **{"contact": "me@example.org", field: value})
    assert refused.status_code == 422
    assert message.lower() in text_of(refused).lower()
    assert "me@example.org" in refused.text
    assert value in html.unescape(refused.text)
    assert managed.publisher.get("edited").settings == QuestionnaireSettings()


def test_a_change_of_someone_else_is_not_overwritten(managed_site, managed, fill_in, edited):
    after = re.search(r'name="after" value="(\d+)"', managed_site.get(f"{edited}/settings").text)[1]
    managed.publisher.change_settings("edited", QuestionnaireSettings(title="Theirs"))
    refused = fill_in(f"{edited}/settings", after=after, title="Mine")
    assert "somebody else changed this questionnaire" in text_of(refused).lower()
    assert managed.publisher.get("edited").settings.title == "Theirs"


def test_a_logo_is_a_picture_of_limited_size(managed_site, managed, fill_in, edited):
    settings = f"{edited}/settings"
    fill_in(settings, f"{edited}/logo", files={"logo": ("logo.png", PNG)})
    address = f"/logo/{managed.publisher.get('edited').settings.logo}"
    assert address in managed_site.get("/q/edited").text
    assert managed_site.get(address).headers["content-type"] == "image/png"
    for content in (b"<svg onload='x'>", PNG + b"0" * 200_000):
        refused = fill_in(settings, f"{edited}/logo", files={"logo": ("logo.png", content)})
        assert refused.status_code == 422
    fill_in(settings, f"{edited}/logo", files={"logo": ("", b"")})
    assert managed.publisher.get("edited").settings.logo == ""


def test_other_files_of_the_workshop_are_not_served_as_a_logo(managed_site, managed):
    digest = managed.models()[0].digest
    assert managed_site.get(f"/logo/{digest}").status_code == 404


def test_the_preview_shows_texts_questions_and_raw_names(managed_site, managed, edited):
    managed.publisher.change_settings(
        "edited",
        QuestionnaireSettings(
            introduction="Welcome.",
            questions={"pain": "How strong is your pain?"},
            safety={"pain": {"worst": "Call 112."}},
            closing={"late": "See a doctor."},
        ),
    )
    page = text_of(managed_site.get(f"{edited}/preview"))
    for text in ("Welcome.", "How strong is your pain?", "Call 112.", "See a doctor."):
        assert text in page
    assert "The question “weight” is worded as its column." in page
    assert "The question “pain” is worded" not in page


def test_raw_names_are_shown_before_publishing(managed_site, managed):
    digest = managed.models()[0].digest
    page = text_of(managed_site.get(f"/analyst/models/{digest}/publish"))
    assert "texts are still the name of a column or a code" in page
