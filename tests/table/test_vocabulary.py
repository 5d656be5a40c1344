"""What people mean by the words in a table."""

import pytest

from eddi.table.vocabulary import IDENTIFIER, VOCABULARIES, band, natural


def test_natural_order_reads_numbers_as_numbers():
    words = ["week 10", "Week 2", "arm"]
    assert sorted(words, key=natural) == ["arm", "Week 2", "week 10"]


def test_no_scale_names_a_word_twice():
    assert all(len(set(scale)) == len(scale) for scale in VOCABULARIES)


def test_scales_are_written_as_columns_are_compared():
    assert all(word == " ".join(word.casefold().split()) for s in VOCABULARIES for word in s)


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("18-24", 18),
        ("65+", 65),
        ("5 to 9 years", 5),
        ("[0.5, 1)", 0.5),
        ("10%", 10),
        ("80 or more", 80),
    ],
)
def test_a_band_stands_at_its_lower_end(text, place):
    assert band(text) == place


def test_below_comes_before_and_above_after_the_number_itself():
    assert band("<18") < band("18-24")
    assert band("65") < band(">65")


@pytest.mark.parametrize("text", ["red", "5a", "1-2-3", "", "week 2"])
def test_other_words_are_no_bands(text):
    assert band(text) is None


@pytest.mark.parametrize("name", ["covid", "Identity", "valid", "SIDS", "idea"])
def test_names_that_merely_contain_the_letters_are_no_identifiers(name):
    assert not IDENTIFIER.search(name)
