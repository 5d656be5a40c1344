"""Numbers are read with currency symbols, percent signs, separators, decimal commas and units."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eddi.errors import SchemaError
from eddi.table.cells.number_format import (
    NumberFormat,
    detect_format,
    detect_partial_format,
    find_other_reading,
)


@pytest.mark.parametrize(
    ("texts", "numbers", "example"),
    [
        (["$1,200", "$5", "-$3.50", "($1,000)"], [1200, 5, -3.5, -1000], "$1,234.56"),
        (["33.123,45", "1,5"], [33123.45, 1.5], "1.234,56"),
        (["36,8", "37,25"], [36.8, 37.25], "1234,56"),
        (["12%", "5 %", "-0.5%"], [12, 5, -0.5], "1234.5%"),
        (["36.6 °C", "37 °C"], [36.6, 37], "1234.5 °C"),
        (["70 kg", "82kg", "91 KG"], [70, 82, 91], "1234 kg"),
        (["5'11\"", "6'", "5' 2\"", "5 ft 4 in"], [71, 72, 62, 64], "5'11\""),
        (["1,200", "62,506", "900"], [1200, 62506, 900], "1,234"),
        (["0,125", "1,250"], [0.125, 1.25], "1234,567"),
        (["R$ 1.234,56", "R$ 5,00"], [1234.56, 5], "R$ 1.234,56"),
        (["CHF 79'124.83", "CHF 80.00"], [79124.83, 80], "CHF 1'234.56"),
        (["5\u202f969,52 €", "667,28 €"], [5969.52, 667.28], "1 234,56 €"),
        (["1.200.000", "3.000"], [1200000, 3000], "1.234"),
        (["1.200 €", "80 €", "12.000 €"], [1200, 80, 12000], "1.234 €"),
        (["$5", "$7"], [5, 7], "$1234"),
        (["1.200 kg", "2.512 kg"], [1.2, 2.512], "1234.567 kg"),
        (["12,34,567", "1,000"], [1234567, 1000], "1,234"),
        (["$350K", "$1.2M", "$40"], [350e3, 1.2e6, 40], "$1234.5"),
        (["1 year", "2 years"], [1, 2], "1234 year"),
        (["2.5e-3 g", "1e5 g"], [0.0025, 1e5], "1234.567891 g"),
    ],
)
def test_the_format_of_a_column_is_detected(texts, numbers, example):
    detected = detect_format(texts)
    assert [detected.parse(text) for text in texts] == pytest.approx(numbers)
    assert detected.example == example
    assert NumberFormat.from_example(example) == detected


@pytest.mark.parametrize(
    "texts",
    [
        ["1a", "2a"],
        ["9th", "10th", "11th"],
        ["18-24", "25-34"],
        ["5.1.2020", "6.1.2020"],
        ["A11", "A12"],
        ["120/80", "130/85"],
        ["10+ years", "2 years"],
        ["70 kg", "150 lb"],
        ["SKU-5500", "SKU-5501"],
        ["10 to 19 employees", "20 to 99 employees"],
        ["-", "x"],
    ],
)
def test_codes_ranges_dates_and_mixed_units_are_not_numbers(texts):
    assert detect_format(texts) is None


def test_a_column_of_numbers_with_other_texts_has_a_partial_format():
    partial = detect_partial_format(["$5", "$1,200", "refused", "$12"])
    assert (partial.format.example, partial.others) == ("$1,234", ("refused",))
    assert detect_partial_format(["$5", "red", "green", "blue"]) is None


@pytest.mark.parametrize(
    ("texts", "reading", "other"),
    [(["1.200 kg", "2.512 kg"], 1.2, 1200), (["1,200", "2,512"], 1200, 1.2)],
)
def test_a_mark_before_three_digits_has_two_readings(texts, reading, other):
    detected = detect_format(texts)
    other_format = find_other_reading(texts, detected)
    assert (detected.parse(texts[0]), other_format.parse(texts[0])) == (reading, other)
    assert NumberFormat.from_example(other_format.example) == other_format
    assert find_other_reading([*texts, "900"], detected) is None


def test_a_cell_may_lack_the_affix_but_not_have_another():
    dollars = NumberFormat.from_example("$1,234.56")
    assert dollars.parse("1200") == 1200
    assert math.isnan(dollars.parse("€1200"))
    assert math.isnan(dollars.parse("12%"))


def test_a_decimal_point_is_read_even_where_the_comma_is_the_decimal_mark():
    comma = NumberFormat.from_example("1.234,5 €")
    assert (comma.parse("36.6"), comma.parse("36,6"), comma.parse("1.200")) == (36.6, 36.6, 1200)
    assert comma.parse("-36.6 €") == -36.6


def test_an_example_need_not_be_the_number_1234():
    assert NumberFormat.from_example("36.6 °C") == NumberFormat(suffix=" °C", digits=1)


def test_a_format_that_is_not_a_number_is_rejected():
    with pytest.raises(SchemaError, match=r"the format 'lots' is not an example of a number"):
        NumberFormat.from_example("lots")


@pytest.mark.parametrize(
    ("example", "number", "text"),
    [
        ("$1,234.56", -1234567.891, "-$1,234,567.89"),
        ("1.234,5 €", 1234.56, "1.234,6 €"),
        ("1234%", 12.4, "12%"),
        ("5'11\"", 71.2, "5'11\""),
        ("$1,234", -0.2, "$0"),
    ],
)
def test_a_number_is_written_in_its_format(example, number, text):
    assert NumberFormat.from_example(example).write(number) == text


formats = st.builds(
    NumberFormat,
    decimal=st.just("."),
    thousands=st.sampled_from(["", ",", " ", "'"]),
    prefix=st.sampled_from(["", "$", "CHF "]),
    suffix=st.sampled_from(["", "%", " kg"]),
    digits=st.integers(0, 6),
) | st.builds(
    NumberFormat,
    decimal=st.just(","),
    thousands=st.sampled_from(["", ".", " "]),
    prefix=st.sampled_from(["", "€ "]),
    suffix=st.sampled_from(["", " €", " °C"]),
    digits=st.integers(0, 6),
)


@given(formats, st.floats(-1e9, 1e9))
def test_a_written_number_is_read_back_up_to_rounding(number_format, number):
    parsed = number_format.parse(number_format.write(number))
    assert parsed == pytest.approx(number, abs=0.51 * 10.0**-number_format.digits)


@given(formats.filter(lambda number_format: number_format.decimal == "." or number_format.digits))
def test_a_format_survives_as_its_example(number_format):
    assert NumberFormat.from_example(number_format.example) == number_format
