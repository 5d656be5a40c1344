"""The section [time] of a schema."""

import pytest

from eddi.errors import SchemaError
from eddi.table.schema import Schema
from eddi.table.series.time_section import TimeSection


def test_a_schema_with_time_survives_a_file(long_schema):
    assert Schema.from_toml(long_schema.to_toml()) == long_schema
    assert Schema.from_document(long_schema.to_document()) == long_schema


def test_a_file_lists_no_window(long_schema):
    assert "ago" not in long_schema.to_toml()


def test_windows_are_named_by_their_age(long_schema):
    assert long_schema.time.window_name("hr", 0) == "hr"
    assert long_schema.time.window_name("hr", 2) == "hr 4-12 h ago"
    assert TimeSection("id", "t", windows=(0, 1)).window_name("x", 1) == "x 0-1 ago"


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("windows = [1, 4, 12]", "windows = [4, 1]", "windows must be numbers .* ascending order"),
        ("decisions = [4, 8]", "decisions = [-4, 8]", "decisions must be numbers from 0 up"),
        ("decisions = [4, 8]", 'decisions = "often"', "must be times, 'visits' or 'random'"),
        ('next = ["hr"]', 'next = ["age"]', "'age', which does not repeat"),
        ('value = "value"\n', "", "Give both variable"),
        ('person = "id"\n', "", "time has no person"),
        ("repeats = true", 'repeats = "first"', "repeats must be true, 'last' or 'mean'"),
        ('kind = "real", repeats = "mean"', 'kind = "count", repeats = "mean"', "needs a real variable"),
        ('next = ["hr"]', "budget = 3", "a budget needs a period"),
        ('next = ["hr"]', "horizon = 0", "horizon must be above 0"),
        ('next = ["hr"]', "draws = 0", "draws must be at least 1"),
        ('next = ["hr"]', "colour = 0", "unknown key 'colour'"),
    ],
)
def test_a_section_that_contradicts_itself_is_rejected(long_schema, old, new, message):
    text = long_schema.to_toml()
    assert old in text
    with pytest.raises(SchemaError, match=message):
        Schema.from_toml(text.replace(old, new))


def test_repeats_needs_the_section():
    with pytest.raises(SchemaError, match="'hr' repeats, but the schema has no section"):
        Schema.from_toml('[variables]\nhr = { kind = "real", repeats = true }\n')
