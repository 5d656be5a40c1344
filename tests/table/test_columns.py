"""A column as clean values and as numbers, and numbers back into the holes of a table."""

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
from eddi.table import columns, formats
from eddi.table.columns import MISSING_WORDS, clean, numbers, table_numbers, with_numbers
from eddi.table.schema import Schema
from eddi.table.variable import Kind, Variable

NAN = float("nan")


def column(values, kind=None):
    return pa.chunked_array([pa.array(values, kind)])


def filled(values, variable, number, kind=None):
    """The column after every hole was filled with one number."""
    table = pa.table({variable.name: column(values, kind)})
    schema = Schema((variable,))
    return with_numbers(table, schema, np.full((table.num_rows, 1), number))[variable.name]


def test_words_are_stripped():
    assert clean(column([" a", "b\t", None])).to_pylist() == ["a", "b", None]


@pytest.mark.parametrize("word", sorted(MISSING_WORDS))
def test_every_missing_word_is_a_hole(word):
    assert clean(column([word, f" {word} ", "a"])).to_pylist() == [None, None, "a"]


@pytest.mark.parametrize("word", ["None", "none", "-", "unknown"])
def test_words_that_are_answers_are_kept(word):
    assert clean(column([word, "a"])).to_pylist() == [word, "a"]


def test_words_that_are_all_whole_numbers_become_whole_numbers():
    assert clean(column(["1", " 2", "?"])).equals(column([1, 2, None], pa.int64()))


def test_words_that_are_all_numbers_become_numbers():
    assert clean(column(["1", "2.5e3", "NA"])).equals(column([1.0, 2500.0, None]))


def test_one_real_word_keeps_them_all_words():
    assert clean(column(["1", "2", "x"])).to_pylist() == ["1", "2", "x"]


def test_nan_becomes_null():
    assert clean(column([1.0, NAN, None])).to_pylist() == [1.0, None, None]


@pytest.mark.parametrize("kind", [pa.int8(), pa.uint16(), pa.int32()])
def test_small_integers_become_int64(kind):
    assert clean(column([1, None], kind)).type == pa.int64()


@pytest.mark.parametrize("kind", [pa.float32(), pa.decimal128(5, 2)])
def test_other_numbers_become_float64(kind):
    assert clean(column([1, None], kind)).type == pa.float64()


def test_whole_numbers_beyond_a_float_are_rounded():
    assert clean(column([2**63 + 5], pa.uint64())).to_pylist() == [2.0**63]


def test_a_dictionary_gives_its_values():
    assert clean(column(["b", None, "a"]).dictionary_encode()).to_pylist() == ["b", None, "a"]


def test_chunks_with_different_dictionaries_are_one_column():
    chunks = [pa.array(["a"]).dictionary_encode(), pa.array(["b"]).dictionary_encode()]
    assert clean(pa.chunked_array(chunks)).to_pylist() == ["a", "b"]


def test_a_column_of_words_without_rows_stays_empty():
    assert clean(pa.chunked_array([], pa.string())).to_pylist() == []


def test_quantities_are_themselves_and_holes_are_nan():
    found = numbers(column(["1.5", "?", None]), Variable("a", Kind.REAL))
    np.testing.assert_array_equal(found, [1.5, NAN, NAN])


def test_truths_are_quantities_of_nought_and_one():
    assert numbers(column([True, False]), Variable("a", Kind.REAL)).tolist() == [1.0, 0.0]


def test_a_column_of_nothing_is_all_holes():
    assert np.isnan(numbers(column([None, None]), Variable("a", Kind.REAL))).all()


def test_levels_are_their_positions():
    variable = Variable("a", Kind.CATEGORY, ("red", "green", "blue"))
    found = numbers(column(["blue", None, " red", "?"]), variable)
    np.testing.assert_array_equal(found, [2, NAN, 0, NAN])


@pytest.mark.parametrize("values", [[0, 1], [0.0, 1.0], ["0", "1"], [False, True], ["0.0", "True"]])
def test_levels_are_known_however_they_are_typed(values):
    assert numbers(column(values), Variable("a", Kind.BINARY, (0, 1))).tolist() == [0.0, 1.0]


def test_words_differing_in_case_alone_are_one_level():
    variable = Variable("a", Kind.BINARY, ("no", "yes"))
    assert numbers(column(["Yes", "NO"]), variable).tolist() == [1.0, 0.0]


def test_numeric_words_are_told_apart_to_the_letter():
    variable = Variable("a", Kind.CATEGORY, ("1", "01", "x"))
    assert numbers(column(["01", "1"]), variable).tolist() == [1.0, 0.0]


def test_unused_categories_need_no_level():
    series = pd.Categorical(["a", None], categories=["a", "b", "gone"])
    found = numbers(formats.read(pd.DataFrame({"a": series}))["a"], Variable("a", "binary", "ab"))
    np.testing.assert_array_equal(found, [0, NAN])


def test_an_unknown_level_is_refused_with_the_known_ones():
    variable = Variable("colour", Kind.BINARY, ("red", "green"))
    with pytest.raises(TableError) as caught:
        numbers(column(["red", "mauve"]), variable)
    assert str(caught.value) == (
        "'colour' has the level 'mauve', which this schema does not know (known: red, green). "
        "It was never seen in training: correct it, or make it missing."
    )


def test_an_unknown_whole_level_is_named_without_a_decimal_point():
    with pytest.raises(TableError, match="'a' has the level '7'"):
        numbers(column([7.0, None]), Variable("a", Kind.BINARY, (0, 1)))


def test_many_known_levels_are_not_all_listed():
    variable = Variable("a", Kind.CATEGORY, tuple(f"l{n}" for n in range(20)))
    with pytest.raises(TableError, match=r"l11 and 8 more\)"):
        numbers(column(["x"]), variable)


def test_lists_cannot_be_levels():
    with pytest.raises(TableError, match=r"'a' holds list.*cannot be levels"):
        numbers(column([[1], [2]]), Variable("a", Kind.BINARY, (0, 1)))


@pytest.mark.parametrize("value", [np.inf, -np.inf, "inf"])
def test_an_infinite_value_is_refused_by_column(value):
    with pytest.raises(TableError, match=r"'dose' holds an infinite value.*make it missing"):
        numbers(column([value]), Variable("dose", Kind.REAL))


def test_text_among_quantities_is_refused_by_example():
    with pytest.raises(TableError, match="'age' is real and must hold numbers, got 'old'"):
        numbers(column(["61", "old"]), Variable("age", Kind.REAL))


def test_dates_are_no_quantities():
    with pytest.raises(TableError, match="'day' is real and must hold numbers, got '2020-01-01"):
        numbers(column([date(2020, 1, 1)]), Variable("day", Kind.REAL))


@pytest.mark.parametrize("value", [-1, 0.5])
def test_a_negative_or_broken_count_is_refused(value):
    with pytest.raises(TableError, match=f"'n' is count.*whole numbers from 0 up, got {value:g}"):
        numbers(column([value]), Variable("n", Kind.COUNT))


AGE = Variable("age", Kind.REAL)
SMOKER = Variable("smoker", Kind.BINARY, ("no", "yes"))
SCHEMA = Schema((AGE, SMOKER))


def test_a_table_gives_numbers_in_the_order_of_the_schema():
    table = pa.table({"smoker": ["yes", None], "extra": [1, 2], "age": [61, 5]})
    np.testing.assert_array_equal(table_numbers(table, SCHEMA), [[61, 1], [5, NAN]])


def test_a_lacking_column_is_refused_with_the_columns_there_are():
    with pytest.raises(TableError) as caught:
        table_numbers(pa.table({"age": [1], "weight": [2]}), SCHEMA)
    assert str(caught.value) == (
        "the table has no column 'smoker', which the schema expects. "
        "Its columns are: 'age', 'weight'. Is this the wrong schema for the table?"
    )


def test_an_optional_column_may_be_lacking_and_is_unobserved():
    found = table_numbers(pa.table({"age": [61]}), SCHEMA, optional=["smoker"])
    np.testing.assert_array_equal(found, [[61, NAN]])


def test_a_table_without_rows_gives_no_numbers():
    table = pa.table({"age": pa.array([], pa.float64()), "smoker": pa.array([], pa.string())})
    assert table_numbers(table, SCHEMA).shape == (0, 2)


def test_only_holes_are_filled_and_other_columns_pass_through():
    table = pa.table({"id": ["p", "q"], "smoker": ["yes", None], "age": [None, 0.1]})
    back = with_numbers(table, SCHEMA, np.array([[61.5, 0.0], [99.0, 0.0]]))
    assert back.to_pydict() == {"id": ["p", "q"], "smoker": ["yes", "no"], "age": [61.5, 0.1]}


def test_a_column_without_holes_is_the_very_same():
    table = pa.table({"age": pa.array([1, 2], pa.int8()), "smoker": ["no", "no"]})
    assert with_numbers(table, SCHEMA, np.zeros((2, 2))).equals(table)


def test_a_variable_the_table_lacks_stays_lacking():
    assert with_numbers(pa.table({"age": [1.0]}), SCHEMA, np.ones((1, 2))).column_names == ["age"]


def test_a_nan_leaves_its_hole_open():
    assert filled([1.0, None], AGE, NAN).to_pylist() == [1.0, None]


def test_a_nan_in_the_table_is_a_hole():
    assert filled([1.0, NAN], AGE, 2.5).to_pylist() == [1.0, 2.5]


def test_question_marks_are_replaced_by_words():
    assert filled(["yes", "?", ""], SMOKER, 0.0).to_pylist() == ["yes", "no", "no"]


def test_observed_words_keep_their_blanks_and_case():
    assert filled([" Yes ", "?"], SMOKER, 0.0).to_pylist() == [" Yes ", "no"]


def test_numbers_written_as_words_stay_words():
    assert filled(["1.50", "?"], AGE, 2.25).to_pylist() == ["1.50", "2.25"]


def test_counts_come_back_whole():
    back = filled([3, None], Variable("n", Kind.COUNT), 4.4, pa.int16())
    assert back.type == pa.int16()
    assert back.to_pylist() == [3, 4]


def test_whole_levels_come_back_whole():
    back = filled([3, None], Variable("n", Kind.ORDINAL, (1, 2, 3)), 1.0)
    assert back.type == pa.int64()
    assert back.to_pylist() == [3, 2]


def test_a_real_variable_turns_a_whole_column_with_holes_into_fractions():
    assert filled([3, None], AGE, 4.5).to_pylist() == [3.0, 4.5]


def test_levels_in_a_float_column_come_back_as_floats():
    assert filled([0.0, None], Variable("a", Kind.BINARY, (0, 1)), 1.0).to_pylist() == [0.0, 1.0]


@pytest.mark.parametrize("levels", [(False, True), (0, 1), ("false", "true")])
def test_truths_come_back_as_truths(levels):
    back = filled([False, None], Variable("a", Kind.BINARY, levels), 1.0)
    assert back.to_pylist() == [False, True]


def test_small_floats_stay_small():
    assert filled([0.5, None], AGE, 0.1, pa.float32()).type == pa.float32()


def test_decimals_become_floats():
    assert filled([1, None], AGE, 0.5, pa.decimal128(5, 2)).to_pylist() == [1.0, 0.5]


def test_a_dictionary_stays_one_and_keeps_its_order():
    words = pa.DictionaryArray.from_arrays(pa.array([1, None]), ["z", "a"], ordered=True)
    back = filled(words, Variable("a", Kind.ORDINAL, ("z", "a")), 0.0)
    assert back.type.ordered
    assert back.to_pylist() == ["a", "z"]
    assert back.chunk(0).dictionary.to_pylist() == ["z", "a"]


def test_a_polars_category_is_filled():
    frame = pl.DataFrame({"a": pl.Series(["y", None], dtype=pl.Categorical)})
    schema = Schema((Variable("a", Kind.BINARY, ("x", "y")),))
    table = with_numbers(formats.read(frame), schema, np.zeros((2, 1)))
    back = formats.like(table, frame)
    assert back["a"].to_list() == ["y", "x"]
    assert back.schema == frame.schema


def test_a_level_new_to_a_dictionary_is_added_to_it():
    back = filled(pa.array(["a", None]).dictionary_encode(), Variable("a", "binary", "ab"), 1.0)
    assert back.to_pylist() == ["a", "b"]


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
def test_a_column_of_nothing_takes_the_type_of_its_variable(variable, number, value):
    assert filled([None], variable, number).to_pylist() == [value]


def test_positions_between_levels_go_to_the_nearest_and_never_beyond():
    variable = Variable("o", Kind.ORDINAL, ("low", "mid", "high"))
    assert filled([None], variable, 1.4).to_pylist() == ["mid"]
    assert filled([None], variable, 9.0).to_pylist() == ["high"]


cells = st.lists(st.none() | st.floats(allow_nan=False, allow_infinity=False), min_size=1)


@given(cells)
def test_observed_numbers_are_untouched_to_the_bit(values):
    back = filled(values, AGE, 0.5, pa.float64()).to_pylist()
    assert [x for x, y in zip(back, values, strict=True) if y is not None] == [
        y for y in values if y is not None
    ]


@given(st.lists(st.sampled_from([" a", "b", "?", None, "A"]), min_size=1))
def test_a_filled_table_has_the_numbers_it_was_filled_with(values):
    variable = Variable("v", Kind.BINARY, ("a", "b"))
    table, schema = pa.table({"v": pa.array(values, pa.string())}), Schema((variable,))
    before = table_numbers(table, schema)
    after = table_numbers(with_numbers(table, schema, np.ones_like(before)), schema)
    np.testing.assert_array_equal(after, np.where(np.isnan(before), 1.0, before))


def test_a_million_words_take_less_than_seconds():
    words = np.random.default_rng(0).choice(["red", "green", "?"], 1_000_000)
    start = time.perf_counter()
    numbers(column(words), Variable("a", Kind.BINARY, ("red", "green")))
    assert time.perf_counter() - start < 2  # 0.03 s where it was written


def test_thousands_of_levels_are_looked_up_at_once():
    words = [f"level {n}" for n in range(20_000)]
    variable = Variable("a", Kind.CATEGORY, tuple(words))
    assert numbers(column(words), variable).tolist() == list(range(20_000))


def test_listing_of_nothing_is_a_word():
    assert columns.listing([]) == "none"


def test_possible_numbers_are_whole_counts_and_positions_of_real_levels():
    schema = Schema(
        (
            Variable("x", "real"),
            Variable("n", "count"),
            Variable("grade", "ordinal", levels=("a", "b", "c")),
        )
    )
    numbers = np.array([[1.4, -0.7, 2.6], [-1.4, 7.6, -1.0]])
    assert columns.possible(numbers, schema).tolist() == [[1.4, 0, 2], [-1.4, 8, 0]]
