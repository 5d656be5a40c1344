"""A form has the sections of a schema, and is parsed back."""

import pytest

from eddi.errors import SchemaError
from eddi.service.analyst.data.section_form import (
    asked_questions,
    format_groups,
    limit_rows,
    parse_sections,
    question_rows,
    section_names,
)
from eddi.table.question import Question
from eddi.table.schema import Schema
from eddi.table.section import Section
from eddi.table.variable import Kind, Variable

SCHEMA = Schema(
    tuple(Variable(name, Kind.REAL) for name in ("kg", "lb", "mood", "sleep", "score")),
    (Question("mood", ("mood",), "How is your mood?", section="mind"),),
    targets=("score",),
    sections=(Section("mind", share=0.25, minimum=1),),
    exclusive=(("kg", "lb"),),
)


def test_a_form_that_was_not_changed_gives_the_same_schema():
    form = {row.field: row.section for row in question_rows(SCHEMA, {})}
    form |= {"share-0": "25", "minimum-0": "1", "maximum-0": "", "exclusive": format_groups(SCHEMA)}
    assert parse_sections(form, SCHEMA) == SCHEMA


def test_targets_have_no_section():
    assert [question.name for question in asked_questions(SCHEMA)] == ["mood", "kg", "lb", "sleep"]


def test_questions_limits_and_groups_are_changed():
    number = {row.name: row.field for row in question_rows(SCHEMA, {})}
    form = {number["sleep"]: " night ", "share-0": "12,5 %", "minimum-0": "0", "maximum-0": "3"}
    changed = parse_sections(form | {"exclusive": "kg; lb ;sleep\n\n"}, SCHEMA)
    assert section_names(changed) == ["mind", "night"]
    assert changed.sections == (Section("mind", share=0.125, maximum=3),)
    assert changed.exclusive == (("kg", "lb", "sleep"),)


def test_limits_of_a_section_without_questions_are_dropped():
    number = {row.name: row.field for row in question_rows(SCHEMA, {})}
    changed = parse_sections({number["mood"]: "", "share-0": "25"}, SCHEMA)
    assert changed.sections == ()


def test_what_was_typed_is_shown_again():
    assert limit_rows(SCHEMA, {"share-0": "much"})[0].share == "much"


@pytest.mark.parametrize(
    ("form", "message"),
    [
        ({"share-0": "much"}, "got “much”"),
        ({"minimum-0": "1.5"}, "whole number"),
        ({"minimum-0": "3", "maximum-0": "2"}, "minimum 3 above maximum 2"),
        ({"share-0": "101"}, "a share is above 0 and at most 1"),
        ({"exclusive": "kg; stones"}, "'stones', which is not a question"),
    ],
)
def test_a_field_that_is_not_valid_is_explained(form, message):
    with pytest.raises(SchemaError, match=message):
        parse_sections(form, SCHEMA)
