"""The table with one row per person."""

import pyarrow as pa
import pytest

from eddi.errors import TableError
from eddi.table.series.decision_rows import decision_rows


def test_a_person_with_measurements_needs_a_static_row(long_table, static_table, long_schema):
    with pytest.raises(TableError, match="no row for 1 persons with measurements, such as 'a'"):
        decision_rows(long_table, long_schema, static=static_table.slice(0, 1))


def test_a_person_without_measurements_is_named(long_table, static_table, long_schema):
    more = pa.table({"id": ["c"], "age": [20], "death": ["no"]})
    with pytest.raises(
        TableError, match="1 persons of the static table have no measurements, such as 'c'"
    ):
        decision_rows(long_table, long_schema, static=pa.concat_tables([static_table, more]))


def test_a_person_has_one_static_row(long_table, static_table, long_schema):
    twice = pa.concat_tables([static_table, static_table])
    with pytest.raises(TableError, match="several rows for 2 persons"):
        decision_rows(long_table, long_schema, static=twice)


def test_the_static_table_names_persons(long_table, static_table, long_schema):
    with pytest.raises(TableError, match="static table has no column 'id'"):
        decision_rows(long_table, long_schema, static=static_table.drop_columns(["id"]))
