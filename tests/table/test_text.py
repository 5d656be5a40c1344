"""Values and lists are formatted for people."""

import pytest

from eddi.table.text import format_list, format_names, format_value, note_count


@pytest.mark.parametrize(
    ("value", "text"),
    [(7.0, "7"), (7.5, "7.5"), (-0.0, "0"), (1e20, "1e+20"), (True, "True"), ("a", "a")],
)
def test_whole_floats_are_written_without_a_decimal_point(value, text):
    assert format_value(value) == text


def test_an_empty_list_is_written_as_none():
    assert format_list([]) == "none"


def test_a_long_list_is_shortened():
    assert format_list(range(14)) == "0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11 and 2 more"


def test_names_are_in_quotes():
    assert format_names(["age", "ldl"]) == "'age', 'ldl'"


def test_a_count_is_noted_from_two_on():
    assert note_count(1, "rows") == ""
    assert note_count(2000, "rows") == " (2,000 such rows)"
