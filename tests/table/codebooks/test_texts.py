"""Texts lose their markup, units are found, and choices are split."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from eddi.table.codebooks.codebook import Choice
from eddi.table.codebooks.texts import clean_text, find_unit, is_unit, split_choices, split_codes


def test_markup_is_removed_and_entities_are_decoded():
    text = '<div class="rich-text-field-label"><p>Do you <b>smoke</b>?</p></div><br>Now &amp; then'
    assert clean_text(text) == "Do you smoke?\nNow & then"


def test_a_comparison_is_not_markup():
    assert clean_text("Is it < 5 or > 9?") == "Is it < 5 or > 9?"


@pytest.mark.parametrize(
    ("text", "unit"),
    [
        ("Weight (kg)", "kg"),
        ("Systolic pressure [mmHg]:", "mmHg"),
        ("LDL (mg/dL)", "mg/dL"),
        ("BMI (kg/m^2)", "kg/m^2"),
        ("Pulse (beats per minute)", "beats per minute"),
        ("Age (in years)", "years"),
        ("Name (first)", ""),
        ("Weight", ""),
    ],
)
def test_a_unit_in_brackets_is_found(text, unit):
    assert find_unit(text) == unit


def test_a_sentence_is_not_a_unit():
    assert not is_unit("in the last week")


@pytest.mark.parametrize(
    ("text", "choices"),
    [
        ("1, Yes | 2, No", [("1", "Yes"), ("2", "No")]),
        ("a, Red, dark | b, Blue", [("a", "Red, dark"), ("b", "Blue")]),
        ("-1, None|0,Some", [("-1", "None"), ("0", "Some")]),
        ("1, One\n2, Two", [("1", "One"), ("2", "Two")]),
        ("0 | 1 | 2", [("0", "0"), ("1", "1"), ("2", "2")]),
        ("1, <i>Yes</i> | 2, ", [("1", "Yes"), ("2", "2")]),
    ],
)
def test_choices_of_redcap_are_split(text, choices):
    assert split_choices(text) == ([Choice(*choice) for choice in choices], [])


def test_a_part_without_a_code_is_reported():
    assert split_choices("1, Yes | maybe") == ([Choice("1", "Yes")], ["maybe"])


@pytest.mark.parametrize(
    "text",
    ["1=Male; 2=Female", "1 = Male, 2 = Female", "1: Male | 2: Female", "1=Male\n2=Female",
     "1, Male | 2, Female", '{"1": "Male", "2": "Female"}'],
)  # fmt: skip
def test_codes_of_a_plain_codebook_are_split(text):
    assert split_codes(text) == [Choice("1", "Male"), Choice("2", "Female")]


@pytest.mark.parametrize("text", ["", "Male", "18-90", "any number", "yes or no"])
def test_a_text_without_codes_has_no_choices(text):
    assert split_codes(text) == []


@settings(max_examples=60, deadline=None)
@given(st.text(max_size=80))
def test_any_text_can_be_cleaned_and_split(text):
    assert len(clean_text(text)) <= len(text) * 2 + 10
    assert all(choice.code for choice in (*split_choices(text)[0], *split_codes(text)))
