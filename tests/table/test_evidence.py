"""Values and which of them are observed never travel apart."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from eddi.table.evidence import Evidence

NAN = float("nan")
shapes = hnp.array_shapes(min_dims=2, max_dims=2, max_side=4)
cells = st.one_of(st.just(NAN), st.floats(-1e6, 1e6, width=32))
rows = shapes.flatmap(lambda shape: hnp.arrays(np.float64, shape, elements=cells))
pairs = shapes.flatmap(lambda shape: st.tuples(*[hnp.arrays(np.float64, shape, elements=cells)] * 2))


def same(one, other):
    return np.array_equal(one.values, other.values) and np.array_equal(one.observed, other.observed)


def test_nan_is_not_observed_and_holds_no_value():
    evidence = Evidence.of([[1.5, NAN]])
    assert evidence.values.tolist() == [[1.5, 0.0]]
    assert evidence.observed.tolist() == [[True, False]]


def test_a_forgotten_value_is_zeroed():
    evidence = Evidence(np.array([[7.0, np.inf]], np.float32), np.array([[False, False]]))
    assert evidence.values.tolist() == [[0.0, 0.0]]


def test_one_row_is_a_batch_of_one():
    assert len(Evidence.of([1.0, NAN])) == 1


def test_values_are_single_precision():
    assert Evidence.of(np.zeros((2, 3))).values.dtype == np.float32


def test_nothing_is_rows_of_which_nothing_is_known():
    evidence = Evidence.nothing(2, 3)
    assert (evidence.n_rows, evidence.n_variables) == (2, 3)
    assert not evidence.observed.any()


@pytest.mark.parametrize("chosen", [slice(1, 2), [1], np.array([False, True])])
def test_rows_are_chosen_as_in_an_array(chosen):
    evidence = Evidence.of([[1.0], [2.0]])[chosen]
    assert evidence.values.tolist() == [[2.0]]


def test_hidden_variables_are_unseen_in_every_row():
    hidden = Evidence.of([[1.0, 2.0], [3.0, 4.0]]).hide([1])
    assert hidden.values.tolist() == [[1.0, 0.0], [3.0, 0.0]]


def test_hidden_cells_are_unseen():
    hidden = Evidence.of([[1.0, 2.0]]).hide(np.array([[True, False]]))
    assert hidden.observed.tolist() == [[False, True]]


def test_hiding_leaves_the_original_alone():
    evidence = Evidence.of([[1.0]])
    evidence.hide([0])
    assert evidence.observed.all()


def test_an_answer_is_newer_than_what_was_known():
    told = Evidence.of([[1.0, NAN, 3.0]]).reveal(Evidence.of([[9.0, 2.0, NAN]]))
    assert told.values.tolist() == [[9.0, 2.0, 3.0]]
    assert told.observed.all()


@given(rows)
def test_numbers_are_the_inverse_of_of(numbers):
    np.testing.assert_array_equal(Evidence.of(numbers).numbers(), numbers)


@given(rows)
def test_no_nan_survives(numbers):
    assert np.isfinite(Evidence.of(numbers).values).all()


@given(rows)
def test_an_empty_answer_changes_nothing(numbers):
    evidence = Evidence.of(numbers)
    assert same(evidence.reveal(Evidence.nothing(*numbers.shape)), evidence)


@given(pairs)
def test_after_an_answer_everything_either_knew_is_known(both):
    known, answer = map(Evidence.of, both)
    np.testing.assert_array_equal(known.reveal(answer).observed, known.observed | answer.observed)


@given(rows)
def test_hiding_everything_is_knowing_nothing(numbers):
    hidden = Evidence.of(numbers).hide(np.ones(numbers.shape, bool))
    assert same(hidden, Evidence.nothing(*numbers.shape))
