"""Numbers, probabilities and values are formatted for people."""

import math

import pytest

from eddi.service.web import formatting


@pytest.mark.parametrize(
    ("probability", "text"),
    [(0.999, "over 99%"), (0.001, "under 1%"), (0.5, "50%"), (1.0, "100%"), (0, "0%")],
)
def test_only_certainty_is_shown_as_certain(probability, text):
    assert formatting.format_probability(probability) == text


@pytest.mark.parametrize(
    ("value", "decimals", "text"), [(1.25, 1, "1.2"), (-3.456, 2, "\u22123.46"), (-0.001, 1, "0.0")]
)
def test_numbers_have_a_typographic_minus_and_no_negative_zero(value, decimals, text):
    assert formatting.format_number(value, decimals) == text


@pytest.mark.parametrize(
    ("value", "text"), [(12.34, "+12.3"), (-12.34, "\u221212.3"), (-0.01, "0"), (0.0, "0")]
)
def test_signed_numbers_show_their_sign_unless_they_are_zero(value, text):
    assert formatting.format_signed(value, 1) == text


def test_information_below_zero_is_shown_as_zero():
    assert formatting.format_information(math.log(2)) == "1.00 bits"
    assert formatting.format_information(-0.03) == "0.000 bits"
    assert formatting.format_information(0.01) == "0.014 bits"


def test_values_look_as_they_are_typed():
    assert [formatting.format_value(value) for value in (61.0, 70.5, 3, "Bala")] == [
        "61",
        "70.5",
        "3",
        "Bala",
    ]


def test_levels_are_capitalized_and_booleans_are_yes_or_no():
    assert [formatting.format_level(level) for level in (True, False, "mild pain", 2)] == [
        "Yes",
        "No",
        "Mild pain",
        "2",
    ]
