"""Settings of a questionnaire are plain values with limits."""

from dataclasses import replace

import pytest

from eddi.service.interviews.questionnaire_settings import (
    QuestionnaireSettings,
    QuestionnaireSettingsError,
    contrast,
)
from eddi.table.languages.translations import QuestionTexts, VariableTexts
from eddi.table.question import Question
from eddi.table.schema import Schema
from eddi.table.variable import Variable


def test_settings_survive_a_round_trip_as_plain_json():
    settings = QuestionnaireSettings(
        title="Sleep",
        labels={"sex": {"1": "Male"}},
        show_estimate=False,
        closes_on="2030-01-31",
        embed_on=("https://example.org",),
    )
    document = settings.to_document()
    assert document["embed_on"] == ["https://example.org"]
    assert "consent" not in document
    assert QuestionnaireSettings.from_document(document) == settings


@pytest.mark.parametrize(
    ("document", "message"),
    [
        ({"heading": "x"}, "there is no setting 'heading'"),
        ({"title": 3}, "'title' must be of the type str"),
        ({"title": "x" * 201}, "title has 201 characters; at most 200"),
        ({"show_result": "yes"}, "'show_result' must be of the type bool"),
        ({"max_respondents": True}, "'max_respondents' must be of the type int"),
        ({"max_respondents": -1}, "must be between 0 and"),
        ({"names": {"age": 3}}, "names must be texts"),
        ({"labels": {"sex": "Male"}}, "labels of 'sex' must be texts by level"),
        ({"colour": "green"}, "must be such as #0b6b60"),
        ({"colour": "#ffee00"}, "has a contrast of 1.2 to 1"),
        ({"closes_on": "soon"}, "must be such as 2030-12-31"),
        ({"redirect": "http://example.org"}, "must be an address such as https"),
        ({"redirect": "javascript:alert(1)"}, "must be an address such as https"),
        ({"redirect": "https://user@example.org"}, "must be an address such as https"),
        ({"embed_on": ("https://example.org/page",)}, "is written without a path"),
        ({"embed_on": ("https://a.org; script-src *",)}, "must be an address"),
        ({"embed_on": ("https://*.org",)}, "without a path"),
        ({"logo": "../../etc"}, "must be the digest of a file"),
    ],
)
def test_a_setting_that_is_not_valid_is_refused(document, message):
    with pytest.raises(QuestionnaireSettingsError, match=message):
        QuestionnaireSettings.from_document(document)


def test_the_contrast_of_black_and_white_is_21():
    assert contrast("#000000", "#ffffff") == pytest.approx(21)


def test_texts_without_a_translation_stay_in_the_first_language():
    settings = QuestionnaireSettings(
        title="Heart",
        labels={"sex": {"0": "Female", "1": "Male"}},
        questions={"age": "How old are you?"},
        languages=("en", "de"),
        translations={
            "de": {"title": "Herz", "labels": {"sex": {"1": "Männlich"}, "pain": {"0": "Nein"}}}
        },
    )
    german = settings.in_language("de")
    assert (german.title, german.languages) == ("Herz", ("de", "en"))
    assert german.labels == {"sex": {"0": "Female", "1": "Männlich"}, "pain": {"0": "Nein"}}
    assert german.questions == {"age": "How old are you?"}
    assert settings.in_language("en") is settings


def test_languages_and_translations_survive_a_round_trip():
    settings = QuestionnaireSettings(languages=("de", "en"), translations={"en": {"title": "Heart"}})
    assert QuestionnaireSettings.from_document(settings.to_document()) == settings


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"languages": ()}, "the languages must be some of en, de"),
        ({"languages": ("en", "en")}, "each at most once"),
        ({"languages": ("xx",)}, "the languages must be some of en, de"),
        ({"translations": {"xx": {}}}, "translations must be texts in en, de"),
        ({"translations": {"de": {"colour": "#123456"}}}, "'colour' cannot be translated"),
        ({"translations": {"de": {"title": "x" * 300}}}, "title has 300 characters"),
        ({"translations": {"de": {"labels": {"sex": "x"}}}}, "must be texts by level"),
    ],
)
def test_languages_and_translations_are_checked(values, message):
    with pytest.raises(QuestionnaireSettingsError, match=message):
        QuestionnaireSettings(**values)


BILINGUAL = Schema(
    (
        Variable("age", "real", translations={"de": VariableTexts("Alter")}),
        Variable("sex", "binary", (0, 1), translations={"de": VariableTexts("", ("Frau", "Mann"))}),
    ),
    (Question("age", ("age",), translations={"de": QuestionTexts("Wie alt?", "In Jahren.")}),),
)


def test_a_new_questionnaire_has_the_languages_of_its_schema():
    assert QuestionnaireSettings.for_schema(BILINGUAL).languages == ("en", "de")
    assert QuestionnaireSettings.for_schema(replace(BILINGUAL, language="de")).languages == ("de",)
    assert QuestionnaireSettings.for_schema(replace(BILINGUAL, language="fr")).languages == ("de",)
    french = Schema((Variable("age", "real"),), language="fr")
    assert QuestionnaireSettings.for_schema(french).languages == ("en",)


def test_the_schema_in_a_language_comes_before_the_settings_in_another():
    settings = QuestionnaireSettings(
        names={"age": "Your age", "sex": "Your sex"},
        questions={"age": "How old are you?"},
        help={"age": "In years."},
        labels={"sex": {"0": "Woman", "1": "Man"}},
        languages=("en", "de"),
        translations={"de": {"questions": {"age": "Wie alt sind Sie?"}}},
    )
    german = settings.in_language("de", BILINGUAL)
    assert german.names == {"sex": "Your sex"}  # the schema has no other name
    assert german.questions == {"age": "Wie alt sind Sie?"}
    assert (german.help, german.labels) == ({}, {})
    assert settings.in_language("en", BILINGUAL) == settings


@pytest.mark.parametrize(
    ("setting", "message"),
    [
        ({"n_best": 101}, "between 0 and 100"),
        ({"n_best": True}, "must be of the type int"),
        ({"max_exposure": 1.1}, "must be between 0 and 1"),
        ({"max_exposure": float("nan")}, "must be between 0 and 1"),
        ({"section_shares": {"a": 0.6, "b": 0.6}}, "add up to at most 1"),
        ({"section_shares": {"a": "much"}}, "must be numbers"),
    ],
)
def test_constraints_on_the_choice_of_questions_are_checked(setting, message):
    with pytest.raises(QuestionnaireSettingsError, match=message):
        QuestionnaireSettings(**setting)


def test_constraints_on_the_choice_of_questions_survive_a_round_trip():
    settings = QuestionnaireSettings(n_best=3, max_exposure=1, section_shares={"a": 0.5})
    assert QuestionnaireSettings.from_document(settings.to_document()) == settings
    assert settings.selection == {"n_best": 3, "shares": {"a": 0.5}}
