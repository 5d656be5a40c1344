"""A schema file has the texts of variables and questions in other languages."""

import pytest

from eddi.errors import SchemaError
from eddi.table import schema_file
from eddi.table.languages.translations import QuestionTexts, VariableTexts
from eddi.table.question import Question
from eddi.table.schema import Schema
from eddi.table.variable import Variable

TEXT = """\
language = "en"

[variables]
sex = { kind = "binary", levels = [0, 1], title = "Sex at birth", labels = ["Female", "Male"] }
age = { kind = "real", unit = "years", help = "Round down." }

[questions]
sex = { text = "What is your sex?", help = "As in your passport." }

[languages.de.variables]
sex = { title = "Geschlecht", labels = ["Weiblich", "Männlich"] }
age = { unit = "Jahre" }

[languages.de.questions]
sex = { text = "Welches Geschlecht haben Sie?", help = "Wie im Pass." }

[languages.pt-BR.questions]
age = { text = "Quantos anos você tem?" }
"""


def test_texts_in_other_languages_belong_to_variables_and_questions():
    schema = schema_file.read(TEXT)
    assert schema.languages == ("en", "de", "pt-BR")
    assert schema["sex"].translations == {"de": VariableTexts("Geschlecht", ("Weiblich", "Männlich"))}
    assert schema.question("sex").translations["de"].help == "Wie im Pass."


def test_a_variable_without_a_question_of_its_own_can_have_a_text_in_another_language():
    question = schema_file.read(TEXT).question("age")
    texts = {"pt-BR": QuestionTexts("Quantos anos você tem?")}
    assert question == Question("age", ("age",), translations=texts)


def test_a_schema_in_a_language_has_its_texts_and_those_without_a_translation():
    german = schema_file.read(TEXT).in_language("de")
    assert (german["sex"].title, german["sex"].labels) == ("Geschlecht", ("Weiblich", "Männlich"))
    assert (german["age"].unit, german["age"].help) == ("Jahre", "Round down.")
    assert german.question("sex").text == "Welches Geschlecht haben Sie?"
    assert german.question("age").text == "age"


def test_an_empty_label_stands_for_the_label_of_the_schema():
    texts = VariableTexts(labels=("", "Mann"))
    variable = Variable("sex", "binary", (0, 1), translations={"de": texts})
    assert variable.in_language("de").labels == ("0", "Mann")


def test_the_texts_are_written_below_the_rest_and_read_back():
    schema = schema_file.read(TEXT)
    written = schema_file.write(schema)
    assert schema_file.read(written) == schema
    assert TEXT.partition("[languages.de.variables]")[2] in written
    assert schema_file.write(schema_file.read(written)) == written


def test_a_schema_keeps_its_languages_when_a_variable_is_set_aside():
    assert schema_file.read(TEXT).without("age").language == "en"


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        ("[languages.german.questions]", "has the key 'german'. Write a language as de or pt-BR"),
        ("[languages.fr]\nage = 3", "languages: fr has the unknown key 'age'. Keys are: variables"),
        ("[languages.fr.variables]\nagee = {}", r"text for 'agee', but there is no such variable\."),
        ("[languages.fr.questions]\npulse = {}", "text for 'pulse', but there is no such question"),
        ("[languages.fr.variables]\nage = 3", "variable 'age' must be a table such as"),
        ("[languages.fr.questions]\nage = 3", "question 'age' must be a table such as"),
        ("[languages.fr.questions]\nage = { title = 'x' }", "unknown key 'title'. Keys are: text, help"),
        (
            "[languages.fr.variables]\nage = { title = 3 }",
            "variable 'age': title must be text in quotes",
        ),
        ("[languages.fr.variables]\nsex = { labels = ['F'] }", "2 levels and 1 labels in 'fr'"),
        ("[languages.en.variables]\nage = {}", "Write them at the variables and questions instead"),
        ("[languages]\nfr = 3", "languages: fr must be a section such as"),
    ],
)
def test_a_mistake_is_named(lines, message):
    head = TEXT.partition("[languages")[0]
    with pytest.raises(SchemaError, match=message):
        schema_file.read(head + lines + "\n")


def test_a_question_about_a_variable_that_another_question_reveals_does_not_exist():
    text = (
        '[variables]\nldl = { kind = "real" }\n[questions]\npanel = { reveals = ["ldl"] }\n'
        '[languages.de.questions]\nldl = { text = "LDL?" }\n'
    )
    with pytest.raises(SchemaError, match="no such question"):
        schema_file.read(text)


def test_the_code_of_a_language_is_checked():
    with pytest.raises(SchemaError, match=r"'age' has texts in 'German'\. Write a language as de"):
        Variable("age", "real", translations={"German": VariableTexts("Alter")})
    with pytest.raises(SchemaError, match="the schema has texts in 'English'"):
        Schema((Variable("age", "real"),), language="English")
