"""Word lists are well formed; ranges and identifier names are recognized."""

import pytest

from eddi.table.kinds.vocabulary import (
    IDENTIFIER_NAME,
    ORDINAL_SCALES,
    natural_sort_key,
    parse_range_start,
)


def test_natural_order_sorts_numbers_in_text_by_value():
    words = ["week 10", "Week 2", "arm"]
    assert sorted(words, key=natural_sort_key) == ["arm", "Week 2", "week 10"]


def test_no_scale_contains_a_word_twice():
    assert all(len(set(scale)) == len(scale) for scale in ORDINAL_SCALES)


def test_scales_are_in_lower_case_with_single_spaces():
    words = [word for scale in ORDINAL_SCALES for word in scale]
    assert words == [" ".join(word.casefold().split()) for word in words]


@pytest.mark.parametrize(
    ("text", "start"),
    [
        ("18-24", 18),
        ("65+", 65),
        ("5 to 9 years", 5),
        ("[0.5, 1)", 0.5),
        ("10%", 10),
        ("80 or more", 80),
    ],
)
def test_a_range_starts_at_its_lower_end(text, start):
    assert parse_range_start(text) == start


def test_an_open_range_below_or_above_a_number_sorts_before_or_after_it():
    assert parse_range_start("<18") < parse_range_start("18-24")
    assert parse_range_start("65") < parse_range_start(">65")


@pytest.mark.parametrize("text", ["red", "5a", "1-2-3", "", "week 2"])
def test_other_text_is_not_a_range(text):
    assert parse_range_start(text) is None


@pytest.mark.parametrize("name", ["covid", "Identity", "valid", "SIDS", "idea"])
def test_a_name_that_merely_contains_the_letters_id_is_not_an_identifier(name):
    assert not IDENTIFIER_NAME.search(name)
