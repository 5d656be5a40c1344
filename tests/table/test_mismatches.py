"""Rows that differ from the training table are counted, and reported in one warning."""

import warnings

import numpy as np
import pyarrow as pa
import pytest

from eddi.errors import EddiWarning, TableError
from eddi.table.cells.multi_select import OptionSource
from eddi.table.cells.number_format import NumberFormat
from eddi.table.columns import table_to_numbers
from eddi.table.mismatches import Mismatches
from eddi.table.schema import Schema
from eddi.table.variable import Variable

SCHEMA = Schema(
    (
        Variable("age", "real", low=18, high=90),
        Variable("visits", "count"),
        Variable("town", "category", levels=("Aber", "Bala")),
    )
)


def read(table, schema=SCHEMA):
    """The numbers of a table, and the messages of all warnings."""
    mismatches = Mismatches()
    numbers = table_to_numbers(pa.table(table), schema, mismatches=mismatches)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        mismatches.warn()
    return numbers, [str(warning.message) for warning in caught]


def test_rows_like_those_of_training_need_no_warning():
    numbers, messages = read({"age": [61.0, None], "visits": [2, 3], "town": ["Bala", "?"]})
    np.testing.assert_array_equal(numbers, [[61, 2, 1], [np.nan, 3, np.nan]])
    assert messages == []


def test_unknown_levels_are_counted_and_not_observed():
    towns = ["Conwy", "Aber", "Conwy", "Denbigh"]
    numbers, messages = read({"age": [61.0] * 4, "visits": [0] * 4, "town": towns})
    np.testing.assert_array_equal(numbers[:, 2], [np.nan, 0, np.nan, np.nan])
    (message,) = messages
    assert "3 unknown values are treated as not observed ('town' 3: 'Conwy', 'Denbigh')" in message
    assert 'Use unknown="error"' in message


def test_text_among_numbers_and_impossible_counts_are_not_observed():
    numbers, messages = read({"age": ["61", "old", "70"], "visits": [-1, 2.5, 3], "town": ["Aber"] * 3})
    np.testing.assert_array_equal(numbers[:, 0], [61, np.nan, 70])
    np.testing.assert_array_equal(numbers[:, 1], [np.nan, np.nan, 3])
    (message,) = messages
    assert "3 unknown values" in message
    assert "'age' 1: 'old'" in message
    assert "'visits' 2: '-1', '2.5'" in message


def test_values_out_of_range_are_observed_and_counted():
    numbers, messages = read({"age": [17.0, 150.0, 20.0], "visits": [0] * 3, "town": ["Aber"] * 3})
    np.testing.assert_array_equal(numbers[:, 0], [17, 150, 20])
    (message,) = messages
    assert "2 values are out of range ('age' 2)" in message
    assert "unknown=" not in message  # a strict model accepts them as well


def test_everything_is_reported_in_one_warning():
    _, messages = read({"age": [5.0], "town": ["Conwy"]})
    (message,) = messages
    assert "1 unknown value is" in message
    assert "1 value is out of range" in message
    assert "1 column is absent ('visits')" in message


def test_an_infinite_value_is_an_error():
    with pytest.raises(TableError, match="'age' holds an infinite value"):
        read({"age": [np.inf], "visits": [1], "town": ["Aber"]})


def test_the_warning_can_be_turned_into_an_error():
    mismatches = Mismatches(absent={"age"})
    with warnings.catch_warnings():
        warnings.simplefilter("error", EddiWarning)
        with pytest.raises(EddiWarning, match="1 column is absent"):
            mismatches.warn()


def test_text_that_does_not_fit_the_number_format_is_counted_and_codes_are_not():
    pay = Variable("pay", "real", format=NumberFormat.from_example("1.234,5 €"), missing=(-99,))
    numbers, messages = read({"pay": ["1.200,5 €", "a lot", "-99", "7", None]}, Schema((pay,)))
    np.testing.assert_array_equal(numbers[:, 0], [1200.5, np.nan, np.nan, 7, np.nan])
    assert "1 unknown value is treated as not observed ('pay' 1: 'a lot')" in messages[0]


def test_text_without_a_format_is_read_in_the_format_of_most_values():
    numbers, messages = read({"m": ["1,75", "1,80", "tall", "tall"]}, Schema((Variable("m", "real"),)))
    np.testing.assert_array_equal(numbers[:, 0], [1.75, 1.8, np.nan, np.nan])
    assert "('m' 2: 'tall')" in messages[0]


def test_dates_are_not_numbers():
    date = np.array(["2020-01-01", "2021-01-01"], dtype="datetime64[D]")
    numbers, messages = read({"m": date}, Schema((Variable("m", "real"),)))
    assert np.isnan(numbers).all()
    assert "'m' 2: '2020-01-01', '2021-01-01'" in messages[0]


def test_absent_and_empty_columns_of_options_are_not_observed():
    option = Variable("tools: R", "binary", ("no", "yes"), source=OptionSource("tools", "R"))
    schema = Schema((option, Variable("age", "real")))
    numbers, messages = read({"age": [61.0]}, schema)
    np.testing.assert_array_equal(numbers, [[np.nan, 61]])
    assert "1 column is absent ('tools')" in messages[0]
    numbers, messages = read({"tools": [None], "age": [61.0]}, schema)
    np.testing.assert_array_equal(numbers, [[np.nan, 61]])
    assert messages == []
    numbers, messages = read({"tools": [7], "age": [61.0]}, schema)
    np.testing.assert_array_equal(numbers, [[np.nan, 61]])
    assert "'tools: R' 1: '7'" in messages[0]


def test_a_hidden_variable_is_not_read_although_other_options_of_its_column_are():
    options = [
        Variable(f"tools: {name}", "binary", ("no", "yes"), source=OptionSource("tools", name))
        for name in ("R", "Excel")
    ]
    numbers = table_to_numbers(pa.table({"tools": ["R"]}), Schema(tuple(options)), hidden=["tools: R"])
    np.testing.assert_array_equal(numbers, [[np.nan, 0]])
