"""Survival outcomes of persons with repeated measurements."""

import datetime

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from eddi.errors import SchemaError, TableError
from eddi.table import streaming
from eddi.table.columns import read_survival
from eddi.table.schema import Schema
from eddi.table.series.decision_rows import Series, decision_rows
from eddi.table.series.outcomes import find_at_risk, remaining_times, times_to_columns
from eddi.table.survival.time_bins import SurvivalTimes

SCHEMA = """
targets = ["death"]
[variables]
hr = { kind = "real", repeats = true }
death = { kind = "survival", time = "seen", event = "died" }
[time]
person = "id"
time = "hour"
unit = "h"
windows = [1, 12]
decisions = [2, 6]
"""
VISITS = {"id": ["a", "a", "b", "c"], "hour": [0.0, 5.0, 1.0, 1.5], "hr": [60.0, 70.0, 80.0, 90.0]}
STATIC = {"id": ["c", "b", "a"], "seen": [1.5, 6.0, 10.0], "died": [1, 1, 0]}


@pytest.fixture
def schema():
    """Death as a survival target, with decisions after 2 and 6 hours."""
    return Schema.from_toml(SCHEMA)


def rows(schema, visits=VISITS, static=STATIC):
    """The decision rows as a dictionary of columns."""
    tables = [None if part is None else pa.table(part) for part in (visits, static)]
    return decision_rows(Series(*tables), schema).to_pydict()


def test_the_target_is_the_time_that_remains_at_each_decision(schema):
    found = rows(schema)
    assert found["id"] == ["a", "a", "b"]
    assert found["hour"] == [2, 6, 2]
    assert found["seen"] == [8, 4, 4]
    assert found["died"] == [0, 0, 1]


def test_there_is_no_row_from_the_outcome_on(schema):
    found = rows(schema)
    assert "c" not in found["id"]  # the event was before the first decision
    assert found["id"].count("b") == 1  # and that of b at the second one


def test_a_person_without_an_outcome_has_all_rows_and_no_target(schema):
    found = rows(schema, static={**STATIC, "seen": [None, 6.0, 10.0], "died": [None, 1, 0]})
    assert [time for name, time in zip(found["id"], found["seen"], strict=True) if name == "c"] == [
        None,
        None,
    ]


def test_rows_to_predict_need_no_outcome(schema):
    found = rows(schema, static=None)
    assert "seen" not in found
    assert len(found["id"]) == 6


def test_a_table_of_visits_may_repeat_the_outcome(schema):
    visits = {**VISITS, "seen": [10.0, None, 6.0, 1.5], "died": [0, 0, 1, 1]}
    assert rows(schema, visits, None) == rows(schema)


def test_a_long_table_may_have_the_outcome_in_rows():
    text = SCHEMA + 'variable = "what"\nvalue = "value"\n'
    long = {
        "id": ["a", "a", "a", "a"],
        "hour": [0.0, 5.0, 0.0, 0.0],
        "what": ["hr", "hr", "seen", "died"],
        "value": [60.0, 70.0, 10.0, 1.0],
    }
    found = rows(Schema.from_toml(text), long, None)
    assert found["seen"] == [8, 4]
    assert found["died"] == [1, 1]


def test_an_outcome_that_changes_is_an_error(schema):
    visits = {**VISITS, "seen": [10.0, 10.0, 6.0, 1.5], "died": [0, 1, 1, 1]}
    message = r"'died' changes over time for person 'a': 0 and 1\. A person has one outcome"
    with pytest.raises(TableError, match=message):
        rows(schema, visits, None)


def test_one_column_without_the_other_is_an_error(schema):
    static = {"id": ["c", "b", "a"], "seen": [1.5, 6.0, 10.0]}
    with pytest.raises(TableError, match="no column 'died', which the survival variable 'death' needs"):
        rows(schema, static=static)


def test_messages_about_outcomes_name_the_person(schema):
    with pytest.raises(TableError, match="'death': person 'b' has the time -6"):
        rows(schema, static={**STATIC, "seen": [1.5, -6.0, 10.0]})
    with pytest.raises(TableError, match="'death': person 'c' has an event, but no time"):
        rows(schema, static={**STATIC, "seen": [None, 6.0, 10.0]})


def test_nobody_at_risk_is_an_error(schema):
    static = {**STATIC, "seen": [0.5, 1.0, 2.0]}
    with pytest.raises(
        TableError, match=r"no person is at risk at a decision time.*in the unit of \[time"
    ):
        rows(schema, static=static)


def test_an_entry_of_the_outcome_is_subtracted():
    schema = Schema.from_toml(SCHEMA.replace('event = "died"', 'event = "died", entry = "start"'))
    static = {"id": ["a", "b", "c"], "start": [100.0, 0.0, 0.0], "seen": [110.0, 6.0, 1.5]}
    found = rows(schema, static={**static, "died": [0, 1, 1]})
    assert found["seen"] == [8, 4, 4]
    assert found["start"] == [0, 0, 0]


def test_dates_of_outcomes_count_from_the_first_measurement(schema):
    start = datetime.datetime(2024, 5, 1)
    times = [start + datetime.timedelta(hours=hours) for hours in VISITS["hour"]]
    static = {
        "id": ["a", "b", "c"],
        "seen": [start + datetime.timedelta(hours=10), start + datetime.timedelta(hours=7), None],
        "died": [0, 1, None],
    }
    found = rows(schema, {**VISITS, "hour": times}, static)
    assert found["seen"] == [8, 4, 4, None, None]  # b entered at 1, so it was seen for 6 hours


def test_dates_of_outcomes_and_measurements_need_the_same_time_zone(schema):
    start = datetime.datetime(2024, 5, 1)
    seen = [start.replace(tzinfo=datetime.UTC)] * 3
    visits = {**VISITS, "hour": [start] * 4, "hr": [1.0, None, 2.0, 3.0]}
    with pytest.raises(TableError, match="'seen' and the times of entry do not agree: UTC and local"):
        rows(schema, visits, {**STATIC, "seen": seen})


def test_random_decisions_are_equally_dense_for_early_and_late_outcomes():
    schema = Schema.from_toml(SCHEMA.replace("decisions = [2, 6]", 'decisions = "random"\ndraws = 5'))
    n = 400
    seen = np.where(np.arange(n) % 2, 1.0, 9.0)
    visits = {"id": np.arange(n), "hour": np.zeros(n), "hr": np.ones(n)}
    static = {"id": np.arange(n), "seen": seen, "died": np.ones(n)}
    found = rows(schema, visits, static)
    is_late = seen[np.array(found["id"])] == 9
    early = np.array(found["hour"]) < 1
    assert len(early) == pytest.approx(5 * n, rel=0.1)
    assert (early & is_late).sum() == pytest.approx((early & ~is_late).sum(), rel=0.25)
    assert np.array(found["hour"])[is_late].max() > 8


def test_random_decisions_of_a_streamed_file_are_equally_dense_in_all_its_parts(tmp_path, monkeypatch):
    schema = Schema.from_toml(SCHEMA.replace("decisions = [2, 6]", 'decisions = "random"\ndraws = 5'))
    n = 400  # the first half of the file has a short follow-up, as persons who entered late have
    ends = np.where(np.arange(n) < n / 2, 1.0, 9.0)
    visits = {"id": np.arange(n), "hour": np.zeros(n), "hr": np.ones(n), "seen": ends, "died": ends < 2}
    pq.write_table(pa.table(visits), tmp_path / "visits.parquet", row_group_size=20)
    monkeypatch.setattr(streaming, "MAX_CELLS_IN_MEMORY", 10)
    monkeypatch.setattr(streaming, "CELLS_PER_BATCH", 100)
    found = decision_rows(tmp_path / "visits.parquet", schema)["id"].to_numpy()
    n_short, n_long = (found < n / 2).sum(), (found >= n / 2).sum()
    assert n_short + n_long == pytest.approx(5 * n, rel=0.1)
    assert n_long / n_short == pytest.approx(9, rel=0.2)


def test_decision_rows_can_be_read_again():
    for occurred in ("2", '"dead"', '"censored"'):
        text = SCHEMA.replace('event = "died"', f'event = "died", occurred = {occurred}')
        variable = Schema.from_toml(text)["death"]
        times = SurvivalTimes(np.array([3.0, 4.0, np.nan]), np.array([1.0, 0.0, np.nan]))
        found = read_survival(pa.table(times_to_columns(variable, times)), variable)
        np.testing.assert_array_equal(found.times, times.times)
        np.testing.assert_array_equal(found.events, times.events)


def test_remaining_times_are_unknown_from_the_outcome_on():
    outcome = SurvivalTimes(np.array([5.0, np.nan]), np.array([1.0, np.nan]))
    person, time = np.array([0, 0, 1]), np.array([2.0, 5.0, 2.0])
    remaining = remaining_times(outcome, person, time)
    np.testing.assert_array_equal(remaining.times, [3, np.nan, np.nan])
    assert find_at_risk({"death": outcome}, person, time).tolist() == [True, False, True]


def test_one_of_several_outcomes_that_has_not_ended_is_enough():
    first, second = (SurvivalTimes(np.array([time]), np.array([1.0])) for time in (3.0, 6.0))
    outcomes = {"relapse": first, "death": second}
    assert find_at_risk(outcomes, np.zeros(3, int), np.array([2.0, 4.0, 6.0])).tolist() == [
        True,
        True,
        False,
    ]


def test_a_survival_variable_cannot_repeat():
    text = SCHEMA.replace('event = "died"', 'event = "died", repeats = true')
    with pytest.raises(SchemaError, match="'death': a survival variable cannot repeat"):
        Schema.from_toml(text)


def test_the_outcome_and_the_measurements_have_the_same_unit():
    text = SCHEMA.replace('event = "died"', 'event = "died", unit = "days"')
    with pytest.raises(SchemaError, match=r"'death' has the unit 'days', and \[time\] has 'h'.*convert"):
        Schema.from_toml(text)
    Schema.from_toml(text.replace('"days"', '"hours"'))


def test_the_time_of_measurements_is_not_the_time_of_the_outcome():
    text = SCHEMA.replace('time = "seen"', 'time = "hour"')
    with pytest.raises(SchemaError, match="'hour' is the time of measurements and a column of"):
        Schema.from_toml(text)
