"""Recorded series."""

from dataclasses import replace

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pytest

from eddi import Schema, Series
from eddi.evaluate.series.logged_series import LoggedSeries, join_measurements
from eddi.table.series.decision_rows import decision_rows


@pytest.fixture
def logged(series_model, series):
    return LoggedSeries.read(series_model.fitted(), series(10, seed=3))


def test_the_last_measurement_near_the_decision_is_what_a_question_gives(logged):
    found = logged.find_recorded(2)  # at 8 hours
    measured = logged.measurements
    for person in range(10):
        near = [
            place
            for place in np.flatnonzero((measured.person == person) & (measured.variable == 0))
            if 7 <= measured.time[place] <= 8
        ]
        assert found[person, 0] == (near[-1] if near else -1)


def test_all_measurements_until_a_decision_are_counted(logged):
    n_until = [(logged.measurements.time <= time).sum() for time in (2, 4, 8)]
    assert [logged.count_recorded(decision).sum() for decision in range(3)] == n_until


def test_the_truth_of_a_static_target_is_the_same_at_every_decision(logged, series):
    is_ill = (series(10, seed=3).static.ill == "yes").to_numpy()
    np.testing.assert_array_equal(logged.truth("ill"), np.tile(is_ill[:, None], 3))


def test_persons_may_be_read_in_parts(series, series_schema):
    source = series(6, seed=3)
    table = pa.Table.from_pandas(source.measurements, preserve_index=False)
    parts = [
        next(Series(table.filter(pc.equal(table["id"], person))).iter_measurements(series_schema))
        for person in range(6)
    ]
    whole = next(Series(table).iter_measurements(series_schema))
    joined = join_measurements(parts)
    for name in ("person", "variable", "time", "value", "visits"):
        np.testing.assert_array_equal(getattr(joined, name), getattr(whole, name))


def test_decisions_at_visits_differ_between_persons(series_model, series):
    schema = Schema.from_toml(series_model.schema_.to_toml().replace("[2, 4, 8]", '"visits"'))
    source = series(4, seed=3)
    model = series_model.fitted()
    visits = LoggedSeries.read(replace(model, schema=schema), source)
    expected = decision_rows(source, schema)["hour"].to_pylist()
    assert visits.times[~np.isnan(visits.times)].tolist() == expected
