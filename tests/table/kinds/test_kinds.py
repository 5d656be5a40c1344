"""Kinds are guessed from names, spacing and order; uncertain guesses get a note."""

import numpy as np
import pytest

from eddi.table import formats
from eddi.table.infer import infer
from eddi.table.schema import Schema
from eddi.table.variable import Kind

RNG = np.random.default_rng(0)


def guess(name, values):
    """Return the variable of a column, or None if it is set aside, and the notes about it."""
    filler = np.arange(len(values)) % 3 + 0.5
    schema = infer(formats.read({name: values, "filler": filler}))
    variable = schema[name] if name in schema.names else None
    return variable, [note for note in schema.notes if note.column == name]


def guess_kind(name, values):
    variable, notes = guess(name, values)
    return variable.kind, bool(notes)


@pytest.mark.parametrize(
    ("name", "values", "kind"),
    [
        ("race", [1, 2, 3, 4, 5], Kind.CATEGORY),
        ("marital_status", [1, 2, 3, 4, 5, 6], Kind.CATEGORY),
        ("zip", [10001, 60601, 94103, 73301], Kind.CATEGORY),
        ("stratum", list(range(119, 134)), Kind.CATEGORY),
        ("MSSubClass", [20, 30, 45, 60, 120, 190], Kind.CATEGORY),
        ("overall quality", [1, 2, 3, 4, 5], Kind.ORDINAL),
        ("children", [0, 1, 2, 3], Kind.COUNT),
        ("q7", [0, 1, 2, 3], Kind.ORDINAL),
        ("model_year", list(range(70, 83)), Kind.REAL),
        ("city", [f"City {chr(65 + n)}x" for n in range(26)], Kind.CATEGORY),
        ("grade", ["1st", "2nd", "3rd"], Kind.ORDINAL),
        ("diagnosis", ["1 - Asthma", "2 - COPD", "3 - Other"], Kind.CATEGORY),
    ],
)
def test_a_telling_name_makes_a_guess_certain(name, values, kind):
    assert guess_kind(name, values * 20) == (kind, False)


def test_a_few_whole_numbers_without_a_telling_name_are_ordinal_and_flagged():
    variable, (note,) = guess("cp", [1, 2, 3, 4] * 20)
    assert variable.kind is Kind.ORDINAL
    assert "If they are codes without an order, use:" in note.message
    assert (note.alternative.kind, note.alternative.levels) == (Kind.CATEGORY, (1, 2, 3, 4))


def test_items_with_the_same_values_are_a_battery_and_certain():
    columns = {name: RNG.integers(1, 6, 50) for name in ("calm", "tired", "tense")}
    schema = infer(formats.read(columns))
    assert {variable.kind for variable in schema.variables} == {Kind.ORDINAL}
    assert schema.notes == ()


def test_amounts_that_are_mostly_zero_are_not_counts():
    amounts = np.where(RNG.random(500) < 0.8, 0, RNG.integers(100, 9000, 500))
    assert guess_kind("v", amounts) == (Kind.REAL, False)


def test_two_hundred_cities_in_two_thousand_rows_are_a_category_to_check():
    variable, (note,) = guess("city", [f"City {n % 200}x" for n in range(2000)])
    assert (variable.kind, variable.n_levels) == (Kind.CATEGORY, 200)
    assert "200 different texts, read as levels" in note.message


def test_text_in_which_values_recur_rarely_is_set_aside_and_flagged():
    variable, (note,) = guess("place", [f"place {n % 90}x" for n in range(270)])
    assert variable is None
    assert (note.alternative.kind, note.alternative.n_levels) == (Kind.CATEGORY, 90)


def test_codes_among_many_different_fractions_are_found():
    values = [*(20 + RNG.random(3000) * 20), *[-99.0] * 5]
    _, (note,) = guess("bmi", values)
    assert (note.alternative.missing, note.alternative.low) == ((-99,), pytest.approx(10, abs=1))


def test_large_repeated_numbers_at_irregular_distances_may_be_codes():
    codes = RNG.choice([1011, 2387, 4410, 5873, 7019, 7730, 8846, 9102], 300)
    variable, (note,) = guess("v", codes)
    assert variable.kind is Kind.REAL
    assert "If they are codes, use:" in note.message


def test_ordered_words_with_an_unknown_one_are_flagged():
    variable, (note,) = guess("condition", ["good", "like new", "fair", "as found"] * 9)
    assert variable.kind is Kind.CATEGORY
    assert "except for 'as found'" in note.message
    assert note.alternative.kind is Kind.ORDINAL


def test_a_note_gives_a_variable_that_fits_the_table():
    table = formats.read(
        {"cp": [1, 2, 3, 4] * 20, "sbp": [120, 130, -99, 110] * 20, "x": ["a", "b"] * 40}
    )
    schema = infer(table)
    for note in schema.notes:
        schema = schema.with_variable(note.alternative)
    assert schema.notes == ()
    assert (schema["cp"].kind, schema["sbp"].missing) == (Kind.CATEGORY, (-99,))


def test_codes_with_leading_zeros_are_levels_of_text():
    variable, notes = guess("plz", ["01067", "10115", "04109"] * 9)
    assert (variable.kind, variable.levels, notes) == (Kind.CATEGORY, ("01067", "04109", "10115"), [])
    assert guess("month", ["01", "02", "12"] * 9)[0].kind is Kind.ORDINAL


@pytest.mark.parametrize(
    ("values", "unit", "low", "high"),
    [
        (["$1,200", "$80", "$95.50"], "$", 0, 1800),
        (["33.123,45", "1,5", "70,25"], "", 0, 50000),
        (["12%", "5%", "40%"], "%", 0, 58),
        (["36.6 °C", "37.1 °C", "38 °C"], "°C", 35.9, 38.7),
        (["5'11\"", "6'2\"", "5'4\""], "in", 59, 79),
    ],
)
def test_numbers_with_affixes_are_real_with_a_unit(values, unit, low, high):
    variable, notes = guess("v", values * 9)
    assert (variable.kind, variable.unit, notes) == (Kind.REAL, unit, [])
    assert (variable.low, variable.high) == (low, high)


def test_a_number_with_two_readings_is_flagged():
    variable, (note,) = guess("v", ["1,200", "2,512", "7,001"] * 9)
    assert variable.format.example == "1,234"
    assert note.message == "'1,200' is read as 1200. If it is 1.2, use:"
    assert note.alternative.format.example == "1234,567"


def test_numbers_with_a_few_other_texts_are_reported_to_look_like_numbers():
    values = [*(f"{n}.5 kg" for n in range(40, 90)), "too heavy"]
    schema = infer(formats.read({"weight": values, "x": np.arange(51) + 0.5}))
    assert schema.set_aside[0].reason == "numbers, but 1 cell is not: 'too heavy'"
    (note,) = schema.notes
    assert note.message.startswith("looks like a number, but some cells are not.")
    assert (note.alternative.format.example, note.alternative.missing) == ("1234.5 kg", ("too heavy",))


def test_options_in_one_cell_are_binary_variables_of_one_question():
    schema = infer(
        formats.read({"tools": ["R", "Excel; R", "Excel", "Python; R"] * 9, "x": [1, 2.5, 3, 4] * 9})
    )
    assert schema.names == ("tools: Excel", "tools: Python", "tools: R", "x")
    assert schema.question("tools").reveals == schema.names[:3]
    assert schema["tools: R"].source.option == "R"


@pytest.mark.parametrize(
    ("values", "codes", "kind"),
    [
        ([120, 130.5, 110, -99], (-99,), Kind.REAL),
        ([121, 134, 118, 127, 145, 160, 171, 999, 998], (998, 999), Kind.REAL),
        ([1, 2, 3, 4, 9], (9,), Kind.ORDINAL),
        ([0, 1, 2, 3, -1], (-1,), Kind.ORDINAL),
        ([22.5, 31.2, 27, -9, -8], (-9, -8), Kind.REAL),
    ],
)
def test_numeric_codes_are_proposed_and_not_applied(values, codes, kind):
    variable, notes = guess("v", values * 20)
    assert variable.missing == ()
    note = next(note for note in notes if "may mean that the value is missing" in note.message)
    assert (note.alternative.missing, note.alternative.kind) == (codes, kind)
    assert f"{codes[0]} (20 cells)" in note.message


def test_numeric_codes_are_proposed_for_numbers_with_a_currency_or_a_decimal_comma():
    for values in (["€ 1.200,50", "€ 980,00", "€ 2.310,10", "-99"], ["12,5", "17,25", "9,0", "-99"]):
        variable, (note,) = guess("rent", values * 20)
        assert variable.low < -99
        assert note.message == "-99 (20 cells) may mean that the value is missing. If so, use:"
        assert (note.alternative.missing, note.alternative.format) == ((-99,), variable.format)
        assert note.alternative.low >= 0


def test_a_row_of_totals_among_few_whole_numbers_is_proposed_to_be_missing():
    variable, (note,) = guess("members", [*["1", "2", "3", "4", "5"] * 20, "Total: 300"])
    assert (variable.kind, variable.n_levels) == (Kind.CATEGORY, 6)
    assert note.message.startswith("whole numbers, except for 'Total: 300'.")
    assert (note.alternative.kind, note.alternative.missing) == (Kind.COUNT, ("Total: 300",))


@pytest.mark.parametrize(
    "values", [[1, 2, 3, 4, 7], [90, 95, 97, 99], [20, 40, 60, 77, 88, 99], [1, 2, 3]]
)
def test_numbers_next_to_the_others_are_not_proposed_as_codes(values):
    assert all("missing" not in note.message for note in guess("rating", values * 20)[1])


def test_words_for_missing_values_are_proposed_with_the_order_of_the_others():
    variable, (note,) = guess("dose", ["low", "high", "medium", "unknown", "refused"] * 9)
    assert (variable.kind, variable.n_levels) == (Kind.CATEGORY, 5)
    assert note.alternative.levels == ("low", "medium", "high")
    assert (note.alternative.missing, note.alternative.declined) == (("unknown",), ("refused",))


def test_codes_given_to_infer_are_applied_to_every_column():
    table = {"sbp": [120.5, 130, -99, 110] * 9, "dose": ["low", "high", "refused", "medium"] * 9}
    schema = Schema.infer(table, missing=[-99], declined=["refused"])
    assert schema["sbp"].low >= 0
    assert schema["dose"].kind is Kind.ORDINAL
    assert (schema.missing, schema.declined, schema.notes) == ((-99,), ("refused",), ())
