"""Summary statistics of a column."""

import datetime

import pyarrow as pa

from eddi.service.analyst.data.column_profile import N_BARS, profile_column


def profile(values):
    return profile_column(pa.chunked_array([pa.array(values)]))


def test_a_quantity_has_a_range_and_a_histogram():
    found = profile([None, *[float(n) + 0.5 for n in range(100)]])
    assert (found["missing"], found["distinct"]) == (1, 100)
    assert (found["low"], found["high"]) == (0.5, 99.5)
    assert len(found["bars"]) == N_BARS
    assert max(found["bars"]) == 1


def test_an_outlier_does_not_hide_the_other_values():
    found = profile([float(n % 20) for n in range(1000)] + [1e9])
    assert found["high"] == 1e9
    assert sum(bar > 0 for bar in found["bars"]) > 6


def test_text_has_its_most_frequent_values_first():
    found = profile(["no", "yes", "no", None, "NA", "no"])
    assert found == {"missing": 2, "distinct": 2, "examples": ["no", "yes"], "bars": [1.0, 0.333]}


def test_empty_columns_and_unsupported_types_have_a_profile():
    assert profile([None, None]) == {"missing": 2, "distinct": 0, "examples": [], "bars": []}
    assert profile([datetime.date(2020, 1, 2)])["examples"] == ["2020-01-02"]
    assert profile([[1, 2], None])["examples"] == ["[1, 2]"]
    assert profile(["x" * 100])["examples"] == ["x" * 39 + "…"]
