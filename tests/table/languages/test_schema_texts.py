"""The texts of a schema in a language are its translations, or its own texts."""

from eddi.table.languages.schema_texts import texts_in_language
from eddi.table.languages.translations import QuestionTexts, VariableTexts
from eddi.table.question import Question
from eddi.table.schema import Schema
from eddi.table.variable import Variable

SCHEMA = Schema(
    (Variable("age", "real", title="Alter", translations={"en": VariableTexts("Age")}),),
    (Question("age", ("age",), translations={"en": QuestionTexts("How old?")}),),
    language="de",
)


def test_the_own_language_has_the_own_texts():
    texts = texts_in_language(SCHEMA, "de")
    assert (texts.variables["age"].title, texts.questions["age"]) == ("Alter", QuestionTexts())


def test_another_language_has_the_translations():
    texts = texts_in_language(SCHEMA, "en")
    assert (texts.variables["age"].title, texts.questions["age"].text) == ("Age", "How old?")


def test_a_language_without_texts_is_empty():
    assert texts_in_language(SCHEMA, "fr").variables == {}
