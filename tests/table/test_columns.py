"""Columns are cleaned and converted to numbers; numbers fill the missing values of a table."""

import time
from datetime import date

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from eddi.errors import TableError
from eddi.table import formats
from eddi.table.cells.missing import MISSING_MARKERS
from eddi.table.cells.multi_select import OptionSource
from eddi.table.cells.number_format import NumberFormat
from eddi.table.columns import clean, column_to_numbers, table_to_numbers
from eddi.table.fill import fill_missing, round_to_valid
from eddi.table.schema import Schema
from eddi.table.variable import Kind, Variable

NAN = float("nan")


def column(values, data_type=None):
    return pa.chunked_array([pa.array(values, data_type)])


def fill(values, variable, number, data_type=None):
    """Return a column after filling all its missing values with one number."""
    table = pa.table({variable.name: column(values, data_type)})
    schema = Schema((variable,))
    return fill_missing(table, schema, np.full((table.num_rows, 1), number))[variable.name]


def test_text_is_stripped():
    assert clean(column([" a", "b\t", None])).to_pylist() == ["a", "b", None]


@pytest.mark.parametrize("marker", sorted(MISSING_MARKERS))
def test_every_missing_marker_becomes_null(marker):
    assert clean(column([marker, f" {marker} ", "a"])).to_pylist() == [None, None, "a"]


@pytest.mark.parametrize("word", ["none", "-", "unknown", "-99", "refused"])
def test_text_that_may_be_an_answer_is_kept(word):
    assert clean(column([word, "a"])).to_pylist() == [word, "a"]


def test_the_word_none_is_missing_unless_it_is_a_level():
    cells = column(["None", "Open", None])
    assert clean(cells).to_pylist() == [None, "Open", None]
    eyes = Variable("eyes", Kind.BINARY, ("None", "Open"))
    assert column_to_numbers(cells, eyes).tolist()[:2] == [0.0, 1.0]


def test_text_becomes_integers_if_every_value_is_a_whole_number():
    assert clean(column(["1", " 2", "?"])).equals(column([1, 2, None], pa.int64()))


def test_text_becomes_floats_if_every_value_is_a_number():
    assert clean(column(["1", "2.5e3", "NA"])).equals(column([1.0, 2500.0, None]))


def test_a_single_word_keeps_the_whole_column_text():
    assert clean(column(["1", "2", "x"])).to_pylist() == ["1", "2", "x"]


def test_nan_becomes_null():
    assert clean(column([1.0, NAN, None])).to_pylist() == [1.0, None, None]


@pytest.mark.parametrize("data_type", [pa.int8(), pa.uint16(), pa.int32()])
def test_small_integers_become_int64(data_type):
    assert clean(column([1, None], data_type)).type == pa.int64()


@pytest.mark.parametrize("data_type", [pa.float32(), pa.decimal128(5, 2)])
def test_other_numbers_become_float64(data_type):
    assert clean(column([1, None], data_type)).type == pa.float64()


def test_integers_too_large_for_a_float_are_rounded():
    assert clean(column([2**63 + 5], pa.uint64())).to_pylist() == [2.0**63]


def test_a_dictionary_becomes_its_values():
    assert clean(column(["b", None, "a"]).dictionary_encode()).to_pylist() == ["b", None, "a"]


def test_chunks_may_have_different_dictionaries():
    chunks = [pa.array(["a"]).dictionary_encode(), pa.array(["b"]).dictionary_encode()]
    assert clean(pa.chunked_array(chunks)).to_pylist() == ["a", "b"]


def test_a_text_column_without_rows_stays_empty():
    assert clean(pa.chunked_array([], pa.string())).to_pylist() == []


def test_quantities_are_unchanged_and_missing_values_are_nan():
    numbers = column_to_numbers(column(["1.5", "?", None]), Variable("a", Kind.REAL))
    np.testing.assert_array_equal(numbers, [1.5, NAN, NAN])


def test_booleans_are_the_quantities_zero_and_one():
    assert column_to_numbers(column([True, False]), Variable("a", Kind.REAL)).tolist() == [1.0, 0.0]


def test_a_column_of_nulls_is_missing_throughout():
    assert np.isnan(column_to_numbers(column([None, None]), Variable("a", Kind.REAL))).all()


def test_levels_become_their_positions():
    variable = Variable("a", Kind.CATEGORY, ("red", "green", "blue"))
    numbers = column_to_numbers(column(["blue", None, " red", "?"]), variable)
    np.testing.assert_array_equal(numbers, [2, NAN, 0, NAN])


@pytest.mark.parametrize("values", [[0, 1], [0.0, 1.0], ["0", "1"], [False, True], ["0.0", "True"]])
def test_levels_match_across_types(values):
    assert column_to_numbers(column(values), Variable("a", Kind.BINARY, (0, 1))).tolist() == [0.0, 1.0]


def test_levels_match_without_regard_to_case():
    variable = Variable("a", Kind.BINARY, ("no", "yes"))
    assert column_to_numbers(column(["Yes", "NO"]), variable).tolist() == [1.0, 0.0]


def test_numeric_levels_with_different_spelling_are_distinguished():
    variable = Variable("a", Kind.CATEGORY, ("1", "01", "x"))
    assert column_to_numbers(column(["01", "1"]), variable).tolist() == [1.0, 0.0]


def test_unused_categories_need_not_be_levels():
    series = pd.Categorical(["a", None], categories=["a", "b", "unused"])
    numbers = column_to_numbers(
        formats.read(pd.DataFrame({"a": series}))["a"], Variable("a", "binary", "ab")
    )
    np.testing.assert_array_equal(numbers, [0, NAN])


def test_an_unknown_level_is_rejected_with_a_list_of_the_levels():
    variable = Variable("colour", Kind.BINARY, ("red", "green"))
    with pytest.raises(TableError) as caught:
        column_to_numbers(column(["red", "mauve"]), variable)
    assert str(caught.value) == (
        "'colour' has the level 'mauve', which is not in the schema (levels: red, green). A model "
        "knows only the levels it was trained with: correct the value, or make it missing."
    )


def test_an_unknown_whole_number_is_shown_without_a_decimal_point():
    with pytest.raises(TableError, match="'a' has the level '7'"):
        column_to_numbers(column([7.0, None]), Variable("a", Kind.BINARY, (0, 1)))


def test_a_long_list_of_levels_is_shortened():
    variable = Variable("a", Kind.CATEGORY, tuple(f"l{n}" for n in range(20)))
    with pytest.raises(TableError, match=r"l11 and 8 more\)"):
        column_to_numbers(column(["x"]), variable)


def test_lists_cannot_be_levels():
    with pytest.raises(TableError, match=r"'a' holds list.*cannot be levels"):
        column_to_numbers(column([[1], [2]]), Variable("a", Kind.BINARY, (0, 1)))


@pytest.mark.parametrize("value", [np.inf, -np.inf, "inf"])
def test_an_infinite_value_is_rejected(value):
    with pytest.raises(TableError, match=r"'dose' holds an infinite value.*make it missing"):
        column_to_numbers(column([value]), Variable("dose", Kind.REAL))


def test_text_among_quantities_is_rejected_with_an_example():
    with pytest.raises(TableError, match="'age' is real and must hold numbers, got 'old'"):
        column_to_numbers(column(["61", "old"]), Variable("age", Kind.REAL))


def test_dates_are_not_quantities():
    with pytest.raises(TableError, match="'day' is real and must hold numbers, got '2020-01-01"):
        column_to_numbers(column([date(2020, 1, 1)]), Variable("day", Kind.REAL))


@pytest.mark.parametrize("value", [-1, 0.5])
def test_a_negative_or_fractional_count_is_rejected(value):
    with pytest.raises(TableError, match=f"'n' is count.*whole numbers from 0 up, got {value:g}"):
        column_to_numbers(column([value]), Variable("n", Kind.COUNT))


AGE = Variable("age", Kind.REAL)
SMOKER = Variable("smoker", Kind.BINARY, ("no", "yes"))
SCHEMA = Schema((AGE, SMOKER))


def test_the_numbers_of_a_table_are_in_the_order_of_the_schema():
    table = pa.table({"smoker": ["yes", None], "extra": [1, 2], "age": [61, 5]})
    np.testing.assert_array_equal(table_to_numbers(table, SCHEMA), [[61, 1], [5, NAN]])


def test_a_missing_column_is_rejected_with_a_list_of_the_columns():
    with pytest.raises(TableError) as caught:
        table_to_numbers(pa.table({"age": [1], "weight": [2]}), SCHEMA)
    assert str(caught.value) == (
        "the table has no column 'smoker', which the schema expects. "
        "Its columns are: 'age', 'weight'. Is this the wrong schema for the table?"
    )


def test_an_optional_column_may_be_absent_and_is_then_unobserved():
    numbers = table_to_numbers(pa.table({"age": [61]}), SCHEMA, optional=["smoker"])
    np.testing.assert_array_equal(numbers, [[61, NAN]])


def test_a_table_without_rows_has_no_numbers():
    table = pa.table({"age": pa.array([], pa.float64()), "smoker": pa.array([], pa.string())})
    assert table_to_numbers(table, SCHEMA).shape == (0, 2)


def test_only_missing_values_are_filled_and_other_columns_are_unchanged():
    table = pa.table({"id": ["p", "q"], "smoker": ["yes", None], "age": [None, 0.1]})
    filled = fill_missing(table, SCHEMA, np.array([[61.5, 0.0], [99.0, 0.0]]))
    assert filled.to_pydict() == {"id": ["p", "q"], "smoker": ["yes", "no"], "age": [61.5, 0.1]}


def test_a_column_without_missing_values_is_unchanged():
    table = pa.table({"age": pa.array([1, 2], pa.int8()), "smoker": ["no", "no"]})
    assert fill_missing(table, SCHEMA, np.zeros((2, 2))).equals(table)


def test_filling_does_not_add_columns():
    assert fill_missing(pa.table({"age": [1.0]}), SCHEMA, np.ones((1, 2))).column_names == ["age"]


def test_a_nan_leaves_the_cell_missing():
    assert fill([1.0, None], AGE, NAN).to_pylist() == [1.0, None]


def test_a_nan_in_the_table_is_filled():
    assert fill([1.0, NAN], AGE, 2.5).to_pylist() == [1.0, 2.5]


def test_missing_markers_are_filled():
    assert fill(["yes", "?", ""], SMOKER, 0.0).to_pylist() == ["yes", "no", "no"]


def test_observed_text_keeps_its_spaces_and_case():
    assert fill([" Yes ", "?"], SMOKER, 0.0).to_pylist() == [" Yes ", "no"]


def test_numeric_text_remains_text():
    assert fill(["1.50", "?"], AGE, 2.25).to_pylist() == ["1.50", "2.25"]


def test_counts_are_filled_with_whole_numbers():
    filled = fill([3, None], Variable("n", Kind.COUNT), 4.4, pa.int16())
    assert filled.type == pa.int16()
    assert filled.to_pylist() == [3, 4]


def test_whole_levels_are_filled_with_whole_numbers():
    filled = fill([3, None], Variable("n", Kind.ORDINAL, (1, 2, 3)), 1.0)
    assert filled.type == pa.int64()
    assert filled.to_pylist() == [3, 2]


def test_an_integer_column_of_a_real_variable_becomes_float():
    assert fill([3, None], AGE, 4.5).to_pylist() == [3.0, 4.5]


def test_levels_in_a_float_column_are_filled_with_floats():
    assert fill([0.0, None], Variable("a", Kind.BINARY, (0, 1)), 1.0).to_pylist() == [0.0, 1.0]


@pytest.mark.parametrize("levels", [(False, True), (0, 1), ("false", "true")])
def test_booleans_are_filled_with_booleans(levels):
    filled = fill([False, None], Variable("a", Kind.BINARY, levels), 1.0)
    assert filled.to_pylist() == [False, True]


def test_float32_columns_remain_float32():
    assert fill([0.5, None], AGE, 0.1, pa.float32()).type == pa.float32()


def test_decimals_become_floats():
    assert fill([1, None], AGE, 0.5, pa.decimal128(5, 2)).to_pylist() == [1.0, 0.5]


def test_a_dictionary_remains_one_and_keeps_its_order():
    values = pa.DictionaryArray.from_arrays(pa.array([1, None]), ["z", "a"], ordered=True)
    filled = fill(values, Variable("a", Kind.ORDINAL, ("z", "a")), 0.0)
    assert filled.type.ordered
    assert filled.to_pylist() == ["a", "z"]
    assert filled.chunk(0).dictionary.to_pylist() == ["z", "a"]


def test_a_polars_category_is_filled():
    frame = pl.DataFrame({"a": pl.Series(["y", None], dtype=pl.Categorical)})
    schema = Schema((Variable("a", Kind.BINARY, ("x", "y")),))
    table = fill_missing(formats.read(frame), schema, np.zeros((2, 1)))
    filled = formats.convert_like(table, frame)
    assert filled["a"].to_list() == ["y", "x"]
    assert filled.schema == frame.schema


def test_a_new_level_is_added_to_the_dictionary():
    filled = fill(pa.array(["a", None]).dictionary_encode(), Variable("a", "binary", "ab"), 1.0)
    assert filled.to_pylist() == ["a", "b"]


@pytest.mark.parametrize(
    ("variable", "number", "value"),
    [
        (AGE, 1.5, 1.5),
        (Variable("n", Kind.COUNT), 2.0, 2),
        (SMOKER, 1.0, "yes"),
        (Variable("t", Kind.BINARY, (False, True)), 1.0, True),
        (Variable("o", Kind.ORDINAL, (1, 2, 3)), 1.0, 2),
        (Variable("h", Kind.ORDINAL, (1, 2.5)), 1.0, 2.5),
    ],
)
def test_a_column_of_nulls_takes_the_type_of_its_variable(variable, number, value):
    assert fill([None], variable, number).to_pylist() == [value]


def test_positions_are_rounded_to_the_nearest_level_and_clipped():
    variable = Variable("o", Kind.ORDINAL, ("low", "mid", "high"))
    assert fill([None], variable, 1.4).to_pylist() == ["mid"]
    assert fill([None], variable, 9.0).to_pylist() == ["high"]


cells = st.lists(st.none() | st.floats(allow_nan=False, allow_infinity=False), min_size=1)


@given(cells)
def test_observed_numbers_are_unchanged_to_the_last_bit(values):
    filled = fill(values, AGE, 0.5, pa.float64()).to_pylist()
    pairs = zip(filled, values, strict=True)
    assert [after for after, before in pairs if before is not None] == [
        before for before in values if before is not None
    ]


@given(st.lists(st.sampled_from([" a", "b", "?", None, "A"]), min_size=1))
def test_a_filled_table_contains_the_numbers_it_was_filled_with(values):
    variable = Variable("v", Kind.BINARY, ("a", "b"))
    table, schema = pa.table({"v": pa.array(values, pa.string())}), Schema((variable,))
    before = table_to_numbers(table, schema)
    after = table_to_numbers(fill_missing(table, schema, np.ones_like(before)), schema)
    np.testing.assert_array_equal(after, np.where(np.isnan(before), 1.0, before))


def test_a_million_cells_of_text_take_less_than_two_seconds():
    values = np.random.default_rng(0).choice(["red", "green", "?"], 1_000_000)
    start = time.perf_counter()
    column_to_numbers(column(values), Variable("a", Kind.BINARY, ("red", "green")))
    assert time.perf_counter() - start < 2  # 0.03 s on the development machine


def test_thousands_of_levels_are_looked_up():
    levels = [f"level {n}" for n in range(20_000)]
    variable = Variable("a", Kind.CATEGORY, tuple(levels))
    assert column_to_numbers(column(levels), variable).tolist() == list(range(20_000))


def test_numbers_are_rounded_to_whole_counts_and_existing_levels():
    schema = Schema(
        (
            Variable("x", "real"),
            Variable("n", "count"),
            Variable("grade", "ordinal", levels=("a", "b", "c")),
        )
    )
    values = np.array([[1.4, -0.7, 2.6], [-1.4, 7.6, -1.0]])
    assert round_to_valid(values, schema).tolist() == [[1.4, 0, 2], [-1.4, 8, 0]]


def test_text_is_read_in_the_number_format_of_its_variable():
    pay = Variable("pay", Kind.REAL, format=NumberFormat.from_example("$1,234.56"))
    numbers = column_to_numbers(column(["$1,200", "(30)", "", None, "4e3"]), pay)
    assert numbers.tolist()[:2] == [1200, -30]
    assert np.isnan(numbers[2:4]).all()
    assert numbers[4] == 4000


def test_text_without_a_declared_format_is_read_in_the_format_that_it_has():
    assert column_to_numbers(column(["1,75", "1,80"]), Variable("m", Kind.REAL)).tolist() == [1.75, 1.8]


def test_a_cell_that_is_not_in_the_format_is_rejected_with_an_example():
    pay = Variable("pay", Kind.REAL, format=NumberFormat.from_example("$1,234.56"))
    with pytest.raises(
        TableError, match=r"must hold numbers such as \$1,234.56, got '5 EUR'.*missing = \['5 EUR'\]"
    ):
        column_to_numbers(column(["$1", "5 EUR"]), pay)


def test_codes_are_missing_in_text_numbers_and_levels():
    real = Variable("v", Kind.REAL, missing=(-99,), declined=("refused",))
    expected = [1.5, NAN, NAN]
    for cells in (["1.5", "-99", "Refused"], [1.5, -99, None], [1.5, -99.0, NAN]):
        np.testing.assert_array_equal(column_to_numbers(column(cells), real), expected)
    yes = Variable("v", Kind.BINARY, ("no", "yes"), missing=(9, "unknown"))
    np.testing.assert_array_equal(column_to_numbers(column(["yes", "9", "UNKNOWN"]), yes), [1, NAN, NAN])


def test_an_option_is_one_where_the_cell_lists_it_and_missing_where_the_cell_is():
    option = Variable("tools: R", Kind.BINARY, ("no", "yes"), source=OptionSource("tools", "R"))
    table = pa.table({"tools": ["Excel; R", "Ruby", None, "r"]})
    np.testing.assert_array_equal(table_to_numbers(table, Schema((option,)))[:, 0], [1, 0, NAN, 1])


def test_a_missing_column_of_options_is_named_once():
    options = [
        Variable(f"tools: {name}", Kind.BINARY, ("no", "yes"), source=OptionSource("tools", name))
        for name in ("R", "Excel")
    ]
    with pytest.raises(TableError, match=r"has no column 'tools', which"):
        table_to_numbers(pa.table({"x": [1]}), Schema(tuple(options)))


def test_filled_cells_are_written_like_the_observed_ones():
    pay = Variable("pay", Kind.REAL, format=NumberFormat.from_example("$1,234.56"))
    assert fill(["$5", None], pay, 1234.5).to_pylist() == ["$5", "$1,234.50"]
    assert fill([5.0, None], pay, 1234.5).to_pylist() == [5.0, 1234.5]


def test_codes_for_missing_values_are_filled_and_declined_answers_are_kept():
    variable = Variable("v", Kind.REAL, missing=(-99,), declined=(-98,))
    assert fill([1.5, -99, -98, None], variable, 7.0).to_pylist() == [1.5, 7.0, -98, 7.0]


def test_a_missing_cell_of_options_is_filled_with_those_that_are_predicted():
    options = tuple(
        Variable(f"tools: {name}", Kind.BINARY, ("no", "yes"), source=OptionSource("tools", name))
        for name in ("Excel", "R", "Stata")
    )
    table = pa.table({"tools": ["R", None, None]})
    numbers = np.array([[1, 1, 1], [1, 1, 0], [0, 0, 0]])
    filled = fill_missing(table, Schema(options), numbers)
    assert filled["tools"].to_pylist() == ["R", "Excel; R", None]


def test_an_option_may_have_a_column_of_its_own():
    source = OptionSource("s___1", "1", "")
    variable = Variable("s___1", "binary", (0, 1), source=source)
    assert column_to_numbers(pa.chunked_array([[1, 0, None]]), variable).tolist()[:2] == [1, 0]


def test_a_column_of_single_numbers_may_list_options():
    variable = Variable("s: 2", "binary", ("no", "yes"), source=OptionSource("s", "2", " "))
    assert column_to_numbers(pa.chunked_array([[1, 2]]), variable).tolist() == [0, 1]


def test_a_column_of_an_option_is_filled_with_its_levels():
    variable = Variable("s___1", "binary", (0, 1), source=OptionSource("s___1", "1", ""))
    filled = fill_missing(pa.table({"s___1": [1, None]}), Schema((variable,)), np.array([[0.0], [1.0]]))
    assert filled["s___1"].to_pylist() == [1, 1]
