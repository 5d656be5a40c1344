"""Respondents read the texts of the settings, then those of the schema, then the names of columns."""

from dataclasses import replace

import numpy as np
import pytest

from eddi import Variable
from eddi.errors import SchemaError
from eddi.interview.record import Answer
from eddi.model.prediction import Prediction
from eddi.service.interviews.questionnaire_settings import QuestionnaireSettings
from eddi.service.web.texts import Texts, parse_condition
from eddi.table.languages.translations import QuestionTexts, VariableTexts
from eddi.table.question import Question

SEX = Variable("sex", "binary", levels=(0, 1), title="Sex at birth", labels=("Female", "Male"))
AGE = Variable("age", "real")


def texts(**settings):
    return Texts(QuestionnaireSettings(**settings))


def test_names_and_labels_come_from_the_settings_then_the_schema_then_the_column():
    assert (Texts().name(AGE), Texts().title(AGE), Texts().level(SEX, 1)) == ("age", "Age", "Male")
    assert Texts().title(SEX) == "Sex at birth"
    described = texts(names={"age": "your age"}, labels={"sex": {"1": "Man"}})
    assert (described.title(AGE), described.level(SEX, 1), described.level(SEX, 0)) == (
        *("Your age", "Man", "Female"),
    )


def test_a_question_has_the_text_of_the_settings_and_a_help_text():
    question = Question("age", ("age",), text="How old? (In years.)")
    described = texts(
        questions={"age": "What is your age? (Whole years.)"}, help={"age": "A guess is fine."}
    )
    assert (Texts().question(question), Texts().note(question)) == ("How old?", "In years.")
    assert described.question(question) == "What is your age?"
    assert described.note(question) == "Whole years. A guess is fine."


def test_the_schema_has_texts_in_the_language():
    variable = replace(
        SEX, translations={"de": VariableTexts("Geschlecht", ("Frau", "Mann"), "Wie im Pass.", "")}
    )
    question = Question(
        "sex", ("sex",), "Sex?", translations={"de": QuestionTexts("Geschlecht? (Im Pass.)")}
    )
    german = texts(languages=("de",))
    assert (german.name(variable), german.level(variable, 1)) == ("Geschlecht", "Mann")
    assert (german.help(variable), german.question(question)) == ("Wie im Pass.", "Geschlecht?")
    assert german.note(question) == "Im Pass."
    assert (Texts().name(variable), Texts().question(question)) == ("Sex at birth", "Sex?")


def test_a_unit_is_translated():
    age = Variable("age", "real", unit="years", translations={"de": VariableTexts(unit="Jahre")})
    assert (texts(languages=("de",)).unit(age), Texts().unit(age)) == ("Jahre", "years")


def test_a_question_without_a_text_is_called_as_its_variable():
    assert texts(names={"age": "Your age"}).question(Question("age", ("age",))) == "Your age"


def test_safety_texts_follow_a_level_or_a_comparison(people_schema):
    described = texts(
        safety={"pain": {"worst": "Call 112."}, "age": {">= 90": "Ask for help."}, "visits": {"x": "!"}}
    )
    answers = [Answer("pain", {"pain": "worst"}), Answer("age", {"age": 91.0})]
    assert described.safety(answers, people_schema) == ["Call 112.", "Ask for help."]
    assert described.safety([Answer("age", {"age": 20.0})], people_schema) == []


def test_closing_texts_follow_the_most_likely_level(people_schema):
    described = texts(closing={"late": "See a doctor.", "early": "All good.", "": "Thank you."})
    prediction = Prediction(
        people_schema["stage"], np.nan, np.nan, (np.nan, np.nan), np.array([0.1, 0.8, 0.1])
    )
    assert described.closing(prediction) == ["See a doctor.", "Thank you."]


def test_a_condition_is_a_level_or_a_comparison_with_a_number(people_schema):
    assert parse_condition(people_schema["pain"], "worst") == ("worst",)
    for variable, key in (("pain", "huge"), ("age", ">= old"), ("age", "old")):
        with pytest.raises(SchemaError):
            parse_condition(people_schema[variable], key)
