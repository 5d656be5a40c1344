"""Times as numbers, dates and text."""

from datetime import UTC, date, datetime

import numpy as np
import pyarrow as pa
import pytest

from eddi.errors import TableError
from eddi.table.series.clock import Times, guess_unit, read_times, subtract_entry


def read(cells, unit="h", **options):
    return read_times(pa.chunked_array([pa.array(cells, **options)]), "t", unit)


@pytest.mark.parametrize(
    ("cells", "unit", "expected"),
    [
        ([0, 1, 2], "", [0, 1, 2]),
        (["0.5", "2"], "", [0.5, 2]),
        (["3 h", "4 hours"], "h", [3, 4]),
        (["1970-01-01", "1970-01-02T12:00"], "h", [0, 36]),
        (["1970-01-01T02:00+02:00"], "min", [0]),
        ([date(1970, 1, 8)], "weeks", [1]),
        ([datetime(1970, 1, 1, 6, tzinfo=UTC)], "d", [0.25]),
    ],
)
def test_times_become_numbers_in_the_unit_of_the_schema(cells, unit, expected):
    np.testing.assert_allclose(read(cells, unit).numbers, expected)


@pytest.mark.parametrize(
    ("cells", "unit", "message"),
    [
        (["3 h", "2 d"], "h", "the time '2 d', but the unit of the schema is 'h'"),
        (["2024-01-01T00:00Z", "2024-01-01T00:00"], "h", "mixes time zones"),
        (["2024-01-01T00:00+01:00", "2024-01-01T00:00+02:00"], "h", "mixes time zones"),
        (["2024-01-01", "5"], "h", "mixes dates and numbers"),
        (["yesterday"], "h", "neither a number nor a date"),
        (["2024-01-01"], "", "Give a unit in"),
        ([1.0, None], "", "no time in row 2"),
        ([1.0, float("inf")], "", "no finite time in row 2"),
        ([[1.0]], "", "must be numbers or dates"),
    ],
)
def test_times_that_cannot_be_compared_are_rejected(cells, unit, message):
    with pytest.raises(TableError, match=message):
        read(cells, unit)


def test_dates_of_pandas_may_have_nanoseconds():
    cells = pa.chunked_array([pa.array([1, 3_600_000_000_001], pa.timestamp("ns"))])
    np.testing.assert_allclose(read_times(cells, "t", "h").numbers, [0, 1])


def test_a_time_zone_is_named_by_its_distance_from_utc():
    assert read(["2024-01-01T00:00+02:00"], "h").zone == "UTC+02:00"
    assert read(["2024-01-01T00:00Z"], "h").zone == "UTC"


@pytest.mark.parametrize(
    ("cells", "unit"),
    [
        ([1.0, 2.0], ""),
        (["1", "2"], ""),
        (["1 h", "2 h"], "h"),
        (["2024-01-01", "2024-01-03"], "h"),
        (["2024-01-01", "2024-06-03"], "days"),
        ([date(2024, 1, 1), date(2024, 6, 3)], "days"),
    ],
)
def test_the_unit_of_dates_and_text_is_guessed(cells, unit):
    assert guess_unit(pa.chunked_array([pa.array(cells)]), "t") == unit


def test_entry_and_times_must_be_of_the_same_sort():
    zero = np.zeros(1)
    with pytest.raises(TableError, match="do not agree: UTC and local"):
        subtract_entry(Times(zero, "UTC"), Times(zero, "local"), "t")
    with pytest.raises(TableError, match="do not agree: numbers and local"):
        subtract_entry(Times(zero), Times(zero, "local"), "t")
    assert subtract_entry(Times(zero + 3), Times(zero + 1), "t").tolist() == [2]
