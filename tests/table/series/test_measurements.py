"""Errors in tables of measurements."""

import pyarrow as pa
import pytest

from eddi.errors import TableError
from eddi.table.schema import Schema
from eddi.table.series.decision_rows import decision_rows


def change(table, **columns):
    """The table with other columns."""
    return pa.table({name: columns.get(name, table[name]) for name in table.column_names})


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        ({"hour": [0.5, 3.5, 3.0, 7.5, 2, 9]}, "'a' decrease: 'temp' at 3.5 in row 2 and at 3 in row 3"),
        ({"hour": [0.5, 3.0, 3.0, 7.5, 2, 9]}, "'a' repeat: 'temp' at 3 in row 2 and at 3 in row 3"),
        ({"hour": [-0.5, 3.0, 3.5, 7.5, 2, 9]}, "row 1 .* negative time of person 'a': -0.5"),
        ({"hour": [0.5, None, 3.5, 7.5, 2, 9]}, "'hour' has no time in row 2"),
        ({"id": ["a", "a", None, "a", "b", "b"]}, "'id' names no person in row 3"),
        ({"value": ["80", "x", "38", "90", "70", "75"]}, "'temp'.*'x'"),
    ],
)
def test_a_table_that_cannot_be_right_is_rejected(long_table, long_schema, columns, message):
    with pytest.raises(TableError, match=message):
        decision_rows(change(long_table, **columns), long_schema)


def test_an_absent_column_is_named(long_table, long_schema):
    with pytest.raises(TableError, match="no column 'value', which the section"):
        decision_rows(long_table.drop_columns(["value"]), long_schema)


def test_a_measurement_before_the_entry_is_rejected(long_table, static_table, long_schema):
    schema = Schema.from_toml(long_schema.to_toml() + 'entry = "entry"\n')
    static = static_table.append_column("entry", pa.array([2.5, 0.0]))
    with pytest.raises(TableError, match=r"row 5 .* before the entry \('entry'\) of person 'b'"):
        decision_rows(long_table, schema, static=static)


def test_times_count_from_the_entry(long_table, static_table, long_schema):
    schema = Schema.from_toml(long_schema.to_toml() + 'entry = "entry"\n')
    static = static_table.append_column("entry", pa.array([1.0, 0.5]))
    rows = decision_rows(long_table, schema, static=static)
    assert rows["hr 1-4 h ago"].to_pylist() == [80, None, 70, None]
    assert rows["hr"].to_pylist() == [None, 90, None, 75]


def test_a_static_variable_that_changes_must_repeat(long_table, long_schema):
    more = pa.table(
        {"id": ["a", "a"], "hour": [0.0, 1.0], "what": ["age", "age"], "value": [60.0, 61.0]}
    )
    with pytest.raises(TableError, match=r"'age' changes over time for person 'a': 60.0 and 61.0"):
        decision_rows(pa.concat_tables([long_table, more]), long_schema)


def test_static_variables_may_be_rows_of_a_long_table(long_table, long_schema):
    more = pa.table({"id": ["a"], "hour": [0.0], "what": ["age"], "value": [60.0]})
    rows = decision_rows(pa.concat_tables([more, long_table]), long_schema)
    assert rows["age"].to_pylist() == [60, 60, None, None]
