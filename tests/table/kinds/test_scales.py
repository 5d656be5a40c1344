"""Texts with an order are recognized, and sorted."""

import pytest

from eddi.table.kinds.scales import find_order, find_partial_order, has_ordered_words


@pytest.mark.parametrize(
    "levels",
    [
        ["1st", "2nd", "3rd", "10th"],
        ["1st class", "2nd class", "3rd class"],
        ["Po", "Fa", "TA", "Gd", "Ex"],
        ["1 - Very poor", "2 - Poor", "3 - Fair", "4 - Good"],
        ["Less than $25,000", "$25,000 - $49,999", "$50,000 - $74,999", "$100,000 or more"],
        ["under £20k", "£20k-£30k", "£30k-£50k", "over £50k"],
        ["2 to 9 employees", "10 to 19 employees", "1,000 to 4,999 employees"],
        ["Under 18 years old", "18-24 years old", "65 years or older"],
        ["< 1 year", "1 year", "2 years", "10+ years"],
        ["0-39g/day", "40-79", "80-119", "120+"],
        ["Low", "Medium", "High"],
        ["Stage I", "Stage II", "Stage IV"],
        ["low risk", "medium risk", "high risk"],
        ["Week 2", "Week 10", "Week 24"],
        ["Not too happy", "Pretty happy", "Very happy"],
        ["jan", "feb", "dec"],
        ["HS-grad", "Some-college", "Bachelors", "Masters", "Doctorate"],
    ],
)
def test_levels_are_put_in_order(levels):
    assert find_order(levels[::-1]).sort(levels[::-1]) == levels


@pytest.mark.parametrize(
    "levels",
    [
        ["red", "green", "blue"],
        ["Type 1", "Type 2", "Type 3"],
        ["1a", "2b", "3c"],
        ["A", "B", "C"],
        ["S", "C", "Q"],
        ["low", "medium", "purple"],
    ],
)
def test_other_levels_have_no_order(levels):
    assert find_order(levels) is None


def test_numbered_labels_without_words_of_a_scale_are_uncertain():
    assert find_order(["1 - Good", "2 - Very good", "3 - Excellent"]).is_certain
    assert not find_order(["1 - Male", "2 - Female", "3 - Other"]).is_certain


def test_a_word_that_does_not_belong_to_a_scale_is_told_apart():
    order, others = find_partial_order(["low", "unknown", "medium", "high"])
    assert (order.sort(order.rank_by_level), others) == (["low", "medium", "high"], ["unknown"])
    assert find_partial_order(["red", "green", "blue"]) is None


def test_words_of_degree_suggest_an_order():
    assert has_ordered_words(["too fast", "about right", "too slow"])
    assert not has_ordered_words(["red", "green", "very light blue"])


def test_levels_of_unprintable_characters_have_no_order():
    assert find_order(["\x1c", "a"]) is None
