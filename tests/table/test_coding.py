"""Coding scales numbers and can be inverted; running statistics can be merged."""

from functools import reduce

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from eddi.table import formats
from eddi.table.coding import Coding, RunningStats, find_logarithmic
from eddi.table.columns import table_to_numbers
from eddi.table.schema import Schema
from eddi.table.variable import Kind, Variable

NAN = float("nan")
SCHEMA = Schema(
    (
        Variable("age", Kind.REAL),
        Variable("visits", Kind.COUNT),
        Variable("pain", Kind.ORDINAL, (0, 1, 2, 3)),
    )
)
NUMBERS = np.array([[20.0, 0.0, 0.0], [40.0, NAN, 3.0], [60.0, 9.0, NAN]])


def encode_column(name, scaling):
    """Return the observed values of one column of the example, coded."""
    evidence = Coding.fit(SCHEMA, NUMBERS, scaling).encode(NUMBERS)
    position = SCHEMA.position(name)
    return evidence.values[evidence.observed[:, position], position]


def test_standard_quantities_have_mean_zero_and_standard_deviation_one():
    assert encode_column("age", "standard").mean() == pytest.approx(0, abs=1e-6)
    assert encode_column("age", "standard").std() == pytest.approx(1)


def test_standard_levels_keep_their_positions():
    np.testing.assert_array_equal(encode_column("pain", "standard"), [0, 3])


@pytest.mark.parametrize("name", SCHEMA.names)
def test_unit_numbers_lie_between_zero_and_one(name):
    coded = encode_column(name, "unit")
    assert (coded.min(), coded.max()) == (0, 1)


def test_missing_values_are_unobserved():
    evidence = Coding.fit(SCHEMA, NUMBERS, "standard").encode(NUMBERS)
    np.testing.assert_array_equal(evidence.observed, ~np.isnan(NUMBERS))


@pytest.mark.parametrize("scaling", ["standard", "unit"])
def test_a_column_without_observed_values_is_not_scaled(scaling):
    numbers = np.full((2, 3), NAN)
    coded = Coding.fit(SCHEMA, numbers, scaling).encode(np.array([[5.0, 0.0, 0.0]]))
    assert coded.values[0, 0] == 5.0


@pytest.mark.parametrize("scaling", ["standard", "unit"])
def test_a_constant_column_is_not_divided_by_its_rounding_error(scaling):
    numbers = np.tile([0.1, 3.0, 0.0], (10, 1))  # the sd of ten 0.1s is 1e-17, not 0
    coded = Coding.fit(SCHEMA, numbers, scaling).encode(np.array([[1.1, 3.0, 0.0]]))
    assert coded.values[0, 0] == pytest.approx(1.0)


levels = st.integers(0, 3).map(float)
rows = st.lists(
    st.tuples(st.floats(-1e4, 1e4), st.integers(0, 10_000).map(float), levels), min_size=1
).map(np.array)


@given(rows, st.sampled_from(["standard", "unit"]))
def test_decoding_inverts_encoding(numbers, scaling):
    coding = Coding.fit(SCHEMA, numbers, scaling)
    decoded = coding.decode(coding.encode(numbers).values)
    magnitude = np.ptp(numbers, axis=0) + np.abs(numbers)
    assert (np.abs(decoded - numbers) <= 1e-5 * magnitude + 1e-5).all()  # coded values are float32


@given(hnp.arrays(np.float64, (3, 3), elements=st.sampled_from([0.0, 1.0, 2.0, NAN])))
def test_coded_values_are_finite_whatever_is_missing(numbers):
    for scaling in ("standard", "unit"):
        assert np.isfinite(Coding.fit(SCHEMA, numbers, scaling).encode(numbers).values).all()


@pytest.mark.parametrize("scaling", ["standard", "unit"])
def test_merged_statistics_give_the_coding_of_the_whole_table(people, people_schema, scaling):
    numbers = table_to_numbers(formats.read(people(230, seed=1)), people_schema)
    logarithmic = find_logarithmic(people_schema, scaling)
    batches = (numbers[start : start + 7] for start in range(0, len(numbers), 7))
    stats = [RunningStats.from_numbers(batch, logarithmic) for batch in batches]
    merged = Coding.from_stats(people_schema, reduce(RunningStats.merge, stats), scaling)
    whole = Coding.fit(people_schema, numbers, scaling)
    np.testing.assert_allclose(merged.shift, whole.shift, rtol=1e-12)
    np.testing.assert_allclose(merged.scale, whole.scale, rtol=1e-12)
    np.testing.assert_array_equal(merged.logarithmic, whole.logarithmic)


def test_a_batch_without_observed_values_does_not_change_the_statistics():
    logarithmic = np.zeros(2, dtype=bool)
    observed = RunningStats.from_numbers(np.array([[1.0, 5.0], [3.0, 7.0]]), logarithmic)
    missing = RunningStats.from_numbers(np.full((3, 2), np.nan), logarithmic)
    for merged in (observed.merge(missing), missing.merge(observed)):
        for field in ("n_observed", "mean", "sd", "minimum", "maximum"):
            np.testing.assert_array_equal(getattr(merged, field), getattr(observed, field))


@pytest.mark.parametrize("scaling", ["standard", "unit"])
def test_training_values_are_within_the_training_range(scaling):
    coding = Coding.fit(SCHEMA, NUMBERS, scaling)
    evidence = coding.encode(NUMBERS)
    assert coding.limit(evidence) is evidence


@pytest.mark.parametrize("scaling", ["standard", "unit"])
def test_a_value_outside_the_training_range_is_limited_or_not_observed(scaling):
    coding = Coding.fit(SCHEMA, NUMBERS, scaling)
    rows = np.array([[99.0, NAN, NAN], [60.0, NAN, NAN], [101.0, NAN, NAN], [1e300, 1e300, NAN]])
    limited = coding.limit(coding.encode(rows))
    assert limited.observed[:, 0].tolist() == [True, True, False, False]
    assert limited.values[0, 0] == limited.values[1, 0]
    assert not limited.observed[3].any()


def test_a_coding_is_read_from_its_document():
    coding = Coding.fit(SCHEMA, NUMBERS, "standard")
    again = Coding.from_document(coding.to_document(), SCHEMA)
    for name in ("shift", "scale", "logarithmic", "low", "high"):
        np.testing.assert_array_equal(getattr(again, name), getattr(coding, name))


def test_a_document_without_a_range_has_that_of_the_schema():
    schema = Schema((Variable("age", Kind.REAL, low=0, high=100), *SCHEMA.variables[1:]))
    document = Coding.fit(SCHEMA, NUMBERS, "standard").to_document()
    del document["low"], document["high"]
    coding = Coding.from_document(document, schema)
    numbers = np.array([[150.0, 1e9, 2.0]])
    limited = coding.limit(coding.encode(numbers))
    np.testing.assert_allclose(coding.decode(limited.values), [[100, 1e9, 2]], rtol=1e-4)


def test_a_widened_coding_has_the_same_scale_and_a_larger_range():
    schema = Schema((Variable("age", "real"),))
    coding = Coding.fit(schema, np.array([[10.0], [20.0]]), "standard")
    wider = coding.widen(np.array([[30.0], [np.nan]]))
    assert (wider.shift, wider.scale) == (coding.shift, coding.scale)
    assert wider.training_range(0) == pytest.approx((10, 30))
