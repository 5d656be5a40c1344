"""Imputation of series on a grid."""

import numpy as np
import pytest

from eddi.errors import TableError
from eddi.model.grid_imputation import impute_series


def test_every_person_has_every_variable_at_every_time(series_model, series):
    table = impute_series(series_model, series(5, seed=2), [1, 2.5, 4]).to_pandas()
    assert len(table) == 5 * 3 * 2
    assert set(table["variable"]) == {"pulse", "fever"}
    pulse = table[table.variable == "pulse"]
    value = pulse.value.astype(float)
    assert ((pulse.low - 1e-3 <= value) & (value <= pulse.high + 1e-3)).all()
    assert table[table.variable == "fever"].low.isna().all()


def test_a_measured_value_is_returned_as_it_is(series_model, series):
    source = series(5, seed=2)
    first = source.measurements[source.measurements.what == "pulse"].iloc[0]
    table = impute_series(series_model, source, [first.hour]).to_pandas()
    found = table[(table.id == first.id) & (table.variable == "pulse")].iloc[0]
    assert found.measured
    assert float(found.value) == pytest.approx(float(first.value), abs=1e-3)
    assert found.high - found.low == pytest.approx(0, abs=1e-3)


def test_estimates_follow_the_measurements_of_a_person(series_model, series):
    source = series(40, seed=2)
    table = impute_series(series_model, source, [9.5]).to_pandas()
    pulse = table[table.variable == "pulse"].set_index("id")["value"].astype(float)
    means = source.measurements[source.measurements.what == "pulse"]
    means = means.assign(value=means.value.astype(float)).groupby("id")["value"].mean()
    assert np.corrcoef(pulse, means)[0, 1] > 0.8


@pytest.mark.parametrize("times", [[], [2, 1], [-1, 1], [1, float("nan")]])
def test_times_are_in_ascending_order(series_model, series, times):
    with pytest.raises(TableError, match="times must be finite numbers from 0 up in ascending order"):
        impute_series(series_model, series(2, seed=2), times)
