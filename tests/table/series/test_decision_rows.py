"""Conversion of measurements to decision rows."""

import math

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from eddi.errors import EddiWarning, TableError
from eddi.table import streaming
from eddi.table.columns import table_to_numbers
from eddi.table.schema import Schema
from eddi.table.series.decision_rows import Series, decision_rows, has_decision_rows
from eddi.table.series.time_section import TimeSection
from eddi.table.variable import Variable


def test_a_long_table_becomes_one_row_per_person_and_decision(long_table, static_table, long_schema):
    rows = decision_rows(Series(long_table, static_table), long_schema)
    assert rows["id"].to_pylist() == ["a", "a", "b", "b"]
    assert rows["hour"].to_pylist() == [4, 8, 4, 8]
    assert rows["age"].to_pylist() == [60, 60, 30, 30]
    assert rows["death"].to_pylist() == ["yes", "yes", "no", "no"]


def test_each_window_holds_the_values_of_its_age(long_table, static_table, long_schema):
    rows = decision_rows(long_table, long_schema, static=static_table)
    assert rows["hr"].to_pylist() == [None, 90, None, None]
    assert rows["hr 1-4 h ago"].to_pylist() == [80, None, 70, None]
    assert rows["hr 4-12 h ago"].to_pylist() == [None, 80, None, 70]


def test_a_window_has_the_mean_of_several_values_if_the_schema_says_so(
    long_table, static_table, long_schema
):
    rows = decision_rows(long_table, long_schema, static=static_table)
    assert rows["temp"].to_pylist() == [37, None, None, None]
    assert rows["temp 4-12 h ago"].to_pylist() == [None, 37, None, None]


def test_the_next_value_is_the_first_one_after_the_decision(long_table, static_table, long_schema):
    rows = decision_rows(long_table, long_schema, static=static_table)
    assert rows["next hr"].to_pylist() == [90, None, 75, 75]


def test_a_next_value_beyond_the_horizon_is_missing(long_table, static_table, long_schema):
    schema = Schema.from_toml(long_schema.to_toml() + "horizon = 2\n")
    rows = decision_rows(long_table, schema, static=static_table)
    assert rows["next hr"].to_pylist() == [None, None, None, 75]


def test_a_table_of_visits_has_a_decision_at_every_visit(visit_schema):
    visits = pa.table(
        {
            "id": [1, 1, 2, 2],
            "hour": [0.0, 3.0, 0.0, 10.0],
            "hr": [60.0, 65.0, None, 80.0],
            "temp": [36.5, None, 37.0, 38.0],
            "age": [50, 50, 40, None],
            "death": ["no", "no", "yes", "yes"],
        }
    )
    with pytest.warns(EddiWarning, match="1 persons have a single visit"):
        rows = decision_rows(visits.slice(0, 3), visit_schema)
    rows = decision_rows(visits, visit_schema)
    assert rows["hour"].to_pylist() == [0, 3, 0, 10]
    assert rows["hr"].to_pylist() == [60, 65, None, 80]
    assert rows["hr 1-4 h ago"].to_pylist() == [None, 60, None, None]
    assert rows["next hr"].to_pylist() == [65, None, 80, None]
    assert rows["temp 4-12 h ago"].to_pylist() == [None, None, None, 37]
    assert rows["age"].to_pylist() == [50, 50, 40, 40]


def test_the_rows_equal_a_search_over_all_measurements():
    random = np.random.default_rng(0)
    n, names = 400, ("x", "y")
    table = pa.table(
        {
            "id": np.sort(random.integers(0, 12, n)),
            "t": np.arange(n) % 60 + random.random(n) / 2,
            "what": random.choice(names, n),
            "value": random.normal(size=n),
        }
    ).sort_by([("id", "ascending"), ("t", "ascending")])
    time = TimeSection(
        *("id", "t"),
        windows=(0.5, 2, 9),
        decisions=(5, 20, 41),
        repeats=dict.fromkeys(names, "last"),
        variable="what",
        value="value",
    )
    schema = Schema((Variable("x", "real"), Variable("y", "real"))).with_time(time)
    numbers = table_to_numbers(decision_rows(table, schema), schema)
    expected = [search(table, schema, person, now) for person in range(12) for now in (5, 20, 41)]
    np.testing.assert_array_equal(numbers, expected)


def search(table, schema, person, now):
    """One row, by looking at each measurement."""
    row = dict.fromkeys(schema.names, math.nan) | {"t": now}
    edges = ((0, 0.5), (0.5, 2), (2, 9))
    for entry in table.to_pylist():
        age = now - entry["t"]
        for window, (low, high) in enumerate(edges):
            if entry["id"] == person and low < age <= high:
                row[schema.time.window_name(entry["what"], window)] = entry["value"]
    return list(row.values())


def test_random_decision_times_depend_on_the_seed_and_lie_within_the_series(long_table, long_schema):
    schema = Schema.from_toml(long_schema.to_toml().replace("[4, 8]", '"random"'))
    first, again, other = (decision_rows(long_table, schema, seed=seed) for seed in (1, 1, 2))
    assert first.equals(again)
    assert not first.equals(other)
    assert len(first) == 2 * 4
    assert max(first["hour"].to_pylist()[:4]) <= 7.5


def test_a_large_file_is_read_a_few_persons_at_a_time(tmp_path, monkeypatch, long_schema):
    n = 50
    table = pa.table(
        {
            "id": np.repeat(np.arange(n), 4),
            "hour": np.tile([0.5, 3.0, 5.0, 7.5], n),
            "what": np.tile(["hr", "hr", "temp", "hr"], n),
            "value": np.arange(4.0 * n),
        }
    )
    pq.write_table(table, tmp_path / "long.parquet", row_group_size=30)
    expected = decision_rows(table, long_schema)
    monkeypatch.setattr(streaming, "MAX_CELLS_IN_MEMORY", 10)
    monkeypatch.setattr(streaming, "CELLS_PER_BATCH", 70)
    assert len(list(Series(tmp_path / "long.parquet").iter_measurements(long_schema))) > 5
    assert decision_rows(tmp_path / "long.parquet", long_schema).equals(expected)


def test_a_large_file_must_keep_the_rows_of_a_person_together(tmp_path, monkeypatch, long_schema):
    table = pa.table(
        {"id": [1, 1, 2, 2, 1], "hour": [1.0, 2, 1, 2, 3], "what": ["hr"] * 5, "value": [1.0] * 5}
    )
    pq.write_table(table, tmp_path / "long.parquet")
    monkeypatch.setattr(streaming, "MAX_CELLS_IN_MEMORY", 1)
    monkeypatch.setattr(streaming, "CELLS_PER_BATCH", 8)
    with pytest.raises(TableError, match=r"person 1 are not together.*sort it by 'id'"):
        decision_rows(tmp_path / "long.parquet", long_schema)


def test_single_visits_of_all_persons_have_no_next_value(long_table, long_schema):
    with pytest.raises(TableError, match="every person has a single visit"):
        decision_rows(long_table.take([0, 4]), long_schema)


def test_an_empty_table_has_no_person(long_table, long_schema):
    with pytest.raises(TableError, match="the table has no rows"):
        decision_rows(long_table.slice(0, 0), long_schema)


def test_decision_rows_are_recognised_by_their_windows(long_table, long_schema):
    rows = decision_rows(long_table, long_schema)
    assert has_decision_rows(rows.column_names, long_schema.time)
    assert not has_decision_rows(long_table.column_names, long_schema.time)


def test_an_indicator_says_whether_a_window_has_a_value(long_table, long_schema):
    schema = Schema.from_toml(long_schema.to_toml() + "informative = true\n")
    rows = decision_rows(long_table, schema)
    assert rows["hr 1-4 h ago measured"].to_pylist() == ["yes", "no", "yes", "no"]
    assert "hr measured" not in rows.column_names
