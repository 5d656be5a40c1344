"""The map between a table's own numbers and those a network likes can be undone."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from eddi.table.coding import Coding
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


def column(name, scaling):
    """One column of the example, coded, without its holes."""
    evidence = Coding.fit(SCHEMA, NUMBERS, scaling).encode(NUMBERS)
    place = SCHEMA.position(name)
    return evidence.values[evidence.observed[:, place], place]


def test_standard_quantities_have_mean_nought_and_spread_one():
    assert column("age", "standard").mean() == pytest.approx(0, abs=1e-6)
    assert column("age", "standard").std() == pytest.approx(1)


def test_standard_levels_keep_their_positions():
    np.testing.assert_array_equal(column("pain", "standard"), [0, 3])


@pytest.mark.parametrize("name", SCHEMA.names)
def test_unit_numbers_lie_between_nought_and_one(name):
    coded = column(name, "unit")
    assert (coded.min(), coded.max()) == (0, 1)


def test_holes_stay_holes():
    evidence = Coding.fit(SCHEMA, NUMBERS, "standard").encode(NUMBERS)
    np.testing.assert_array_equal(evidence.observed, ~np.isnan(NUMBERS))


@pytest.mark.parametrize("scaling", ["standard", "unit"])
def test_a_column_of_holes_is_left_as_it_is(scaling):
    numbers = np.full((2, 3), NAN)
    coded = Coding.fit(SCHEMA, numbers, scaling).encode(np.array([[5.0, 0.0, 0.0]]))
    assert coded.values[0, 0] == 5.0


@pytest.mark.parametrize("scaling", ["standard", "unit"])
def test_a_constant_column_is_not_blown_up(scaling):
    numbers = np.tile([0.1, 3.0, 0.0], (10, 1))  # the sd of ten 0.1s is 1e-17, not 0
    coded = Coding.fit(SCHEMA, numbers, scaling).encode(np.array([[1.1, 3.0, 0.0]]))
    assert coded.values[0, 0] == pytest.approx(1.0)


levels = st.integers(0, 3).map(float)
rows = st.lists(
    st.tuples(st.floats(-1e4, 1e4), st.integers(0, 10_000).map(float), levels), min_size=1
).map(np.array)


@given(rows, st.sampled_from(["standard", "unit"]))
def test_decoding_undoes_encoding(numbers, scaling):
    coding = Coding.fit(SCHEMA, numbers, scaling)
    back = coding.decode(coding.encode(numbers).values)
    spread = np.ptp(numbers, axis=0) + np.abs(numbers)
    assert (np.abs(back - numbers) <= 1e-5 * spread + 1e-5).all()  # values travel as float32


@given(hnp.arrays(np.float64, (3, 3), elements=st.sampled_from([0.0, 1.0, 2.0, NAN])))
def test_coded_values_are_finite_whatever_is_missing(numbers):
    for scaling in ("standard", "unit"):
        assert np.isfinite(Coding.fit(SCHEMA, numbers, scaling).encode(numbers).values).all()
