"""Words and numbers that are often codes for missing values are recognized."""

import pytest

from eddi.table.cells.missing import has_code, is_declined_word, is_missing_number, is_missing_word


@pytest.mark.parametrize("word", ["unknown", "Not stated", "don't know", "DK", "-", "#DIV/0!"])
def test_words_for_a_missing_value(word):
    assert is_missing_word(word)
    assert not is_declined_word(word)


@pytest.mark.parametrize("word", ["refused", "Declined", "Prefer not to say"])
def test_words_for_a_declined_answer(word):
    assert is_declined_word(word)
    assert not is_missing_word(word)


@pytest.mark.parametrize("word", ["none", "other", "no", "0", "unknowable", "refuse collection"])
def test_other_words_are_answers(word):
    assert not is_missing_word(word)
    assert not is_declined_word(word)


@pytest.mark.parametrize("number", [-9, -99, -999, 99, 999, 9999, 88, 77, -1, 9, 998])
def test_numbers_that_are_often_codes(number):
    assert is_missing_number(number)


@pytest.mark.parametrize("number", [0, 5, 100, 42, 99.5, 1999, -10, float("inf"), float("nan")])
def test_other_numbers_are_not(number):
    assert not is_missing_number(number)


def test_a_code_matches_in_any_spelling():
    assert has_code((-99, "Refused"), "-99.0")
    assert has_code((-99, "Refused"), "refused")
    assert not has_code((-99,), 99)
