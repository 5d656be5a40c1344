"""Variables and questions that follow from the section [time]."""

from dataclasses import replace

import pytest

from eddi.errors import SchemaError
from eddi.table.schema import Schema
from eddi.table.series.time_section import TimeSection
from eddi.table.variable import Kind, Variable


def test_only_the_present_can_be_asked(long_schema):
    asked = [question.name for question in long_schema.questions if not question.never]
    assert asked == ["age", "hr", "temp", "death"]


def test_a_window_has_the_kind_and_range_of_its_variable():
    time = TimeSection("id", "t", windows=(1, 2), repeats={"gcs": "last"})
    schema = Schema((Variable("gcs", "ordinal", (3, 4, 5), missing=(9,)),)).with_time(time)
    older = schema["gcs 1-2 ago"]
    assert (older.kind, older.levels, older.missing) == (Kind.ORDINAL, (3, 4, 5), (9,))


def test_a_variable_that_is_set_aside_takes_its_windows_along(long_schema):
    names = long_schema.without("hr").names
    assert names == ("age", "temp", "death", "hour", "temp 1-4 h ago", "temp 4-12 h ago")


def test_a_variable_that_changes_changes_its_windows(long_schema):
    schema = long_schema.with_variable(replace(long_schema["hr"], unit="bpm"))
    assert {schema[name].unit for name in ("hr", "hr 1-4 h ago", "next hr")} == {"bpm"}
    assert len(schema.variables) == len(long_schema.variables)


def test_what_repeats_must_be_a_variable():
    with pytest.raises(SchemaError, match=r"'hx' repeats, but is not a variable\. Variables are: 'hr'"):
        Schema((Variable("hr", "real"),)).with_time(TimeSection("id", "t", repeats={"hx": "last"}))
