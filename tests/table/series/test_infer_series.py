"""Inferred schemas of repeated measurements."""

from datetime import datetime, timedelta

import pyarrow as pa
import pytest

from eddi.errors import TableError
from eddi.table.schema import Schema
from eddi.table.series.infer_series import infer_series


def test_a_variable_of_a_long_table_repeats_if_a_person_has_it_twice(long_table):
    more = pa.table({"id": ["a"], "hour": [0.0], "what": ["age"], "value": [60.0]})
    table = pa.concat_tables([more, long_table])
    schema = infer_series(table, person="id", time="hour", variable="what", value="value")
    assert list(schema.time.repeats) == ["hr", "temp"]
    assert (schema.time.variable, schema.time.value) == ("what", "value")
    assert Schema.from_toml(schema.to_toml()) == schema


def test_a_column_of_visits_repeats_if_it_changes():
    table = pa.table(
        {
            "id": [1, 1, 2, 2] * 5,
            "day": [0, 100, 0, 90] * 5,
            "sex": ["f", "f", "m", "m"] * 5,
            "bili": [1.0 + place / 7 for place in range(20)],
        }
    )
    schema = infer_series(table, person="id", time="day", targets=["next bili"])
    assert list(schema.time.repeats) == ["bili"]
    assert schema.time.decisions == "visits"
    assert schema.time.windows[0] == 0
    assert "sex" in schema.names


def test_dates_have_a_unit():
    start = datetime(2024, 1, 1)
    table = pa.table(
        {
            "id": [1, 1, 1, 2],
            "date": [start + timedelta(days=40 * place) for place in range(4)],
            "x": [1.5, 2.5, 3.5, 4.25],
        }
    )
    schema = infer_series(table, person="id", time="date")
    assert (schema.time.unit, schema.time.windows[1]) == ("days", 60)


def test_an_absent_column_is_named(long_table):
    with pytest.raises(TableError, match="no column 'patient'"):
        infer_series(long_table, person="patient", time="hour")


def test_the_columns_of_a_survival_target_do_not_repeat():
    table = pa.table(
        {
            "id": [1, 1, 2, 2] * 5,
            "day": [0, 100, 0, 90] * 5,
            "seen": [float(place) for place in range(20)],
            "died": [0, 1, 0, 1] * 5,
            "bili": [1.0 + place / 7 for place in range(20)],
        }
    )
    schema = infer_series(table, person="id", time="day", survival={"died": ("seen", "died")})
    assert schema.targets == ("died",)
    assert list(schema.time.repeats) == ["bili"]
    assert "seen" not in schema.names
    assert Schema.from_toml(schema.to_toml()) == schema


def test_the_columns_of_a_survival_target_may_be_in_the_static_table(long_table):
    columns = {"person": "id", "time": "hour", "variable": "what", "value": "value"}
    schema = infer_series(long_table, **columns, survival={"death": ("seen", "died")})
    assert schema["death"].survival.columns == ("seen", "died")


def test_text_with_dates_has_a_unit():
    cells = {"id": [1, 1, 2], "date": ["2024-01-01", "2024-03-01", "2024-01-01"], "x": [1.5, 2.5, 3.25]}
    assert infer_series(pa.table(cells), person="id", time="date").time.unit == "days"


def test_a_table_with_one_row_per_person_has_no_series(long_table):
    with pytest.raises(TableError, match=r"every person .* has a single row, so nothing repeats"):
        infer_series(long_table.slice(3, 2), person="id", time="hour")
