"""The texts of a questionnaire are translated on a page, and respondents read them."""

import html
import re
from dataclasses import replace

import pytest

from eddi.service.analyst.questionnaires.translation_form import translation_rows
from eddi.service.interviews.questionnaire_settings import QuestionnaireSettings
from eddi.table.languages.translations import QuestionTexts, VariableTexts

TRANSLATION = {"title": "Wie geht es Ihnen?", "names": {"stage": "Stadium"}}


@pytest.fixture
def bilingual(publish, managed):
    """The address of a questionnaire in English and German."""
    address = publish("bilingual")
    settings = QuestionnaireSettings(title="How are you?", languages=("en", "de"))
    managed.publisher.change_settings("bilingual", settings)
    return address


def field_of(page, source):
    """The name of the field that translates this text."""
    rows = re.findall(r'for="(text-\d+)">.*?<span lang="en">(.*?)</span>', page.text)
    return next(field for field, text in rows if html.unescape(text) == source)


def test_a_translation_is_saved_and_read(managed_site, managed, fill_in, bilingual):
    page = managed_site.get(f"{bilingual}/translations/de")
    fields = {field_of(page, "How are you?"): "Wie geht es Ihnen?", field_of(page, "None"): "Keine"}
    saved = fill_in(f"{bilingual}/translations/de", **fields)
    assert "Saved." in saved.text
    translation = managed.publisher.get("bilingual").settings.translations["de"]
    assert (translation["title"], translation["labels"]["pain"]["none"]) == (
        "Wie geht es Ihnen?",
        "Keine",
    )
    german = managed_site.get("/q/bilingual?lang=de").text
    assert '<html lang="de">' in german
    assert "<h1>Wie geht es Ihnen?</h1>" in german
    managed_site.cookies.delete("eddi_language")


def test_missing_translations_are_counted_until_all_are_given(managed_site, fill_in, bilingual):
    page = managed_site.get(bilingual).text
    n_missing = int(re.search(r"(\d+) texts have\s+no translation", page)[1])
    form = managed_site.get(f"{bilingual}/translations/de").text
    fields = re.findall(r'name="(text-\d+)"', form)
    assert len(fields) == n_missing
    fill_in(f"{bilingual}/translations/de", **dict.fromkeys(fields, "Text"))
    assert "no translation" not in managed_site.get(bilingual).text


def test_numbers_need_no_translation(managed_site, managed, bilingual):
    labels = {"town": {"Aber": "1", "Bala": "2", "Conwy": "3"}}
    settings = QuestionnaireSettings(labels=labels, languages=("en", "de"))
    managed.publisher.change_settings("bilingual", settings)
    assert "Level of “town”" not in managed_site.get(f"{bilingual}/translations/de").text


def test_a_text_that_is_too_long_is_kept_with_the_error(managed_site, fill_in, bilingual):
    field = field_of(managed_site.get(f"{bilingual}/translations/de"), "How are you?")
    refused = fill_in(f"{bilingual}/translations/de", **{field: "x" * 300})
    assert refused.status_code == 422
    assert "x" * 300 in refused.text
    assert "at most 200 are allowed" in refused.text


def test_an_edit_of_an_outdated_page_is_refused(managed_site, managed, fill_in, bilingual):
    after = re.search(
        r'name="after" value="(\d+)"', managed_site.get(f"{bilingual}/translations/de").text
    )
    managed.publisher.change_settings("bilingual", QuestionnaireSettings(languages=("en", "de")))
    refused = fill_in(f"{bilingual}/translations/de", after=after[1])
    assert refused.status_code == 422


def test_only_languages_of_the_questionnaire_can_be_translated(managed_site, bilingual):
    refused = managed_site.get(f"{bilingual}/translations/fr")
    assert refused.status_code == 422
    assert "Add the language in its settings first" in refused.text


def test_the_settings_choose_the_languages(managed, fill_in, bilingual):
    fill_in(f"{bilingual}/settings", language="de", **{"language-en": "yes", "language-de": "yes"})
    assert managed.publisher.get("bilingual").settings.languages == ("de", "en")
    fill_in(f"{bilingual}/settings", language="de")
    assert managed.publisher.get("bilingual").settings.languages == ("de",)


def test_the_preview_can_be_read_in_each_language(managed_site, managed, bilingual):
    settings = QuestionnaireSettings(languages=("en", "de"), translations={"de": TRANSLATION})
    managed.publisher.change_settings("bilingual", settings)
    assert "Wie geht es Ihnen?" in managed_site.get(f"{bilingual}/preview?lang=de").text
    assert "A few questions about stage" in managed_site.get(f"{bilingual}/preview?lang=en").text


@pytest.mark.usefixtures("bilingual")
def test_missing_translations_are_pointed_out_when_a_model_is_published(fill_in, questionnaire):
    form = f"/analyst/models/{questionnaire.model_sha256}/publish"
    refused = fill_in(form, name="bilingual", probability_above="2")
    assert refused.status_code == 422
    assert "/analyst/questionnaires/bilingual/translations/de" in refused.text


def test_texts_of_the_schema_in_a_language_are_not_missing(people_schema):
    texts = {"de": QuestionTexts("Wie alt sind Sie?")}
    schema = people_schema.with_question("age", text="How old are you?", translations=texts)
    pain = VariableTexts("Schmerz", ("Keiner", "Leicht", "Stark", "Schlimm"))
    schema = schema.with_variable(replace(schema["pain"], translations={"de": pain}))
    settings = QuestionnaireSettings(languages=("en", "de"))
    rows = {row.path: row for row in translation_rows(schema, ["stage"], settings, code="de")}
    assert rows["questions", "age"].default == "Wie alt sind Sie?"
    assert rows["labels", "pain", "mild"].default == "Leicht"
    assert not rows["labels", "pain", "mild"].is_missing
    assert rows["labels", "town", "Bala"].is_missing
