"""Sections of a questionnaire and mutually exclusive questions in a schema."""

import pytest

from eddi.errors import SchemaError
from eddi.table.schema import Schema
from eddi.table.section import Section
from eddi.table.variable import Kind, Variable

ITEMS = Schema(tuple(Variable(name, Kind.BINARY, ("no", "yes")) for name in "abcd"))
SCREENER = (
    ITEMS.with_question("a", section="mood")
    .with_question("b", section="mood")
    .with_question("c", section="sleep")
)


def replace(schema: Schema, **changes: object) -> Schema:
    return Schema(schema.variables, schema.explicit_questions, **changes)


def test_sections_and_exclusive_questions_survive_a_schema_file():
    schema = replace(
        SCREENER,
        sections=(Section("mood", share=0.6, minimum=1), Section("sleep", maximum=1)),
        exclusive=(("a", "b"), ("c", "d")),
    )
    text = schema.to_toml()
    assert Schema.from_toml(text) == schema
    assert "mood = { share = 0.6, minimum = 1 }" in text
    assert 'exclusive = [["a", "b"], ["c", "d"]]' in text


def test_setting_a_variable_aside_removes_its_section_and_its_group():
    schema = replace(SCREENER, sections=(Section("sleep", maximum=1),), exclusive=(("a", "b", "c"),))
    smaller = schema.without("c")
    assert (smaller.sections, smaller.exclusive) == ((), (("a", "b"),))


@pytest.mark.parametrize(
    ("section", "message"),
    [
        ("sections = { moood = { minimum = 1 } }", "'moood' has no question. Did you mean 'mood'"),
        ("sections = { mood = { minimum = 3, maximum = 2 } }", "minimum 3 above maximum 2"),
        ("sections = { mood = { minimum = 1.5 } }", "minimum 1.5; it must be a whole number"),
        ("sections = { mood = { share = 0 } }", "share 0; a share is above 0"),
        ("sections = { mood = { share = 0.7 }, sleep = { share = 0.6 } }", "add up to 1.3"),
        ("sections = { mood = { shares = 0.7 } }", "unknown key 'shares'. Keys are: share, minimum"),
        ("sections = { mood = { share = true } }", "share must be a number, got True"),
        ("sections = { mood = 2 }", "section 'mood' must be a table such as"),
        ('exclusive = [["a"]]', "names at least two"),
        ('exclusive = [["a", "z"]]', "contain 'z', which is not a question"),
        ('exclusive = ["a", "b"]', "must be a list of lists"),
    ],
)
def test_a_wrong_section_or_group_is_explained(section, message):
    with pytest.raises(SchemaError, match=message):
        Schema.from_toml(section + "\n" + SCREENER.to_toml())
