"""Evidence keeps values and the mask of observed values consistent."""

from dataclasses import replace

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


def assert_equal(left, right):
    np.testing.assert_array_equal(left.values, right.values)
    np.testing.assert_array_equal(left.observed, right.observed)


def test_nan_is_unobserved_and_has_the_value_zero():
    evidence = Evidence.of([[1.5, NAN]])
    assert evidence.values.tolist() == [[1.5, 0.0]]
    assert evidence.observed.tolist() == [[True, False]]


def test_unobserved_values_are_set_to_zero():
    evidence = Evidence(np.array([[7.0, np.inf]], np.float32), np.array([[False, False]]))
    assert evidence.values.tolist() == [[0.0, 0.0]]


def test_rows_with_less_than_two_thirds_of_their_values_count_less():
    evidence = Evidence.of([[1.0, NAN], [NAN, 2.0], [3.0, 4.0]])
    assert evidence.n_complete_rows == 3
    assert evidence[:2].n_complete_rows == 1
    assert replace(evidence, groups=np.array([0, 0, 1])).n_complete_rows == 2
    assert Evidence.empty(3, 2).n_complete_rows == 0


def test_a_single_row_becomes_a_batch_of_one():
    assert len(Evidence.of([1.0, NAN])) == 1


def test_values_are_single_precision():
    assert Evidence.of(np.zeros((2, 3))).values.dtype == np.float32


def test_empty_evidence_has_no_observed_values():
    evidence = Evidence.empty(2, 3)
    assert (evidence.n_rows, evidence.n_variables) == (2, 3)
    assert not evidence.observed.any()


@pytest.mark.parametrize("rows", [slice(1, 2), [1], np.array([False, True])])
def test_rows_are_selected_as_in_an_array(rows):
    evidence = Evidence.of([[1.0], [2.0]])[rows]
    assert evidence.values.tolist() == [[2.0]]


def test_hidden_variables_are_unobserved_in_every_row():
    hidden = Evidence.of([[1.0, 2.0], [3.0, 4.0]]).hide([1])
    assert hidden.values.tolist() == [[1.0, 0.0], [3.0, 0.0]]


def test_hidden_cells_are_unobserved():
    hidden = Evidence.of([[1.0, 2.0]]).hide(np.array([[True, False]]))
    assert hidden.observed.tolist() == [[False, True]]


def test_hiding_does_not_change_the_original():
    evidence = Evidence.of([[1.0]])
    evidence.hide([0])
    assert evidence.observed.all()


def test_an_answer_replaces_earlier_values():
    evidence = Evidence.of([[1.0, NAN, 3.0]]).reveal(Evidence.of([[9.0, 2.0, NAN]]))
    assert evidence.values.tolist() == [[9.0, 2.0, 3.0]]
    assert evidence.observed.all()


@given(rows)
def test_numbers_inverts_of(numbers):
    np.testing.assert_array_equal(Evidence.of(numbers).numbers(), numbers)


@given(rows)
def test_values_are_always_finite(numbers):
    assert np.isfinite(Evidence.of(numbers).values).all()


@given(rows)
def test_an_empty_answer_changes_nothing(numbers):
    evidence = Evidence.of(numbers)
    assert_equal(evidence.reveal(Evidence.empty(*numbers.shape)), evidence)


@given(pairs)
def test_after_an_answer_the_values_of_both_are_observed(pair):
    evidence, answer = map(Evidence.of, pair)
    observed = evidence.reveal(answer).observed
    np.testing.assert_array_equal(observed, evidence.observed | answer.observed)


@given(rows)
def test_hiding_every_value_gives_empty_evidence(numbers):
    hidden = Evidence.of(numbers).hide(np.ones(numbers.shape, bool))
    assert_equal(hidden, Evidence.empty(*numbers.shape))


def make_groups() -> Evidence:
    """Six rows of three groups, whose numbers are not consecutive."""
    groups = np.array([7, 3, 7, 3, 3, 9])
    return replace(Evidence.of(np.arange(6.0)[:, None]), groups=groups)


def test_a_selection_of_groups_has_all_their_rows():
    rows = make_groups()
    assert rows.n_groups == 3
    assert rows.select_groups(np.array([0, 2])).values[:, 0].tolist() == [1, 3, 4, 5]
    assert rows[2:].groups.tolist() == [7, 3, 3, 9]


def test_without_groups_each_row_is_its_own():
    rows = Evidence.of(np.arange(3.0)[:, None])
    assert rows.n_groups == 3
    assert rows.select_groups(np.array([2, 0])).values[:, 0].tolist() == [2, 0]
    assert rows.draw_from_groups(np.random.default_rng(0)) is rows


def test_one_row_of_each_group_is_drawn_if_all_have_the_same_size():
    rows = replace(Evidence.of(np.arange(6.0)[:, None]), groups=np.array([7, 3, 7, 3, 9, 9]))
    drawn = [rows.draw_from_groups(np.random.default_rng(seed)) for seed in range(20)]
    assert all(sorted(part.groups) == [3, 7, 9] for part in drawn)
    assert len({tuple(part.values[:, 0]) for part in drawn}) > 1


def test_rows_of_groups_of_different_size_are_drawn_equally_often():
    rows = make_groups()
    drawn = [rows.draw_from_groups(np.random.default_rng(seed)) for seed in range(2000)]
    assert all(len(part) == 3 for part in drawn)
    counts = np.bincount(np.concatenate([part.values[:, 0] for part in drawn]).astype(int))
    np.testing.assert_allclose(counts / 2000, 0.5, atol=0.05)  # 4.5 standard errors


def test_concatenated_rows_keep_their_order():
    first, second = Evidence.of([[1.0, NAN]]), Evidence.of([[NAN, 2.0], [3.0, 4.0]])
    joined = Evidence.concatenate([first, second])
    assert_equal(joined[:1], first)
    assert_equal(joined[1:], second)


def test_repeated_rows_follow_one_another():
    rows = Evidence.of([[1.0, NAN], [NAN, 2.0]])
    assert_equal(rows.repeat(2), Evidence.concatenate([rows, rows]))


def test_revealing_from_the_truth_adds_only_what_it_observes():
    evidence = Evidence.of([[1.0, np.nan, np.nan], [np.nan, np.nan, np.nan]])
    truth = Evidence.of([[5.0, 6.0, np.nan], [7.0, 8.0, 9.0]])
    where = np.array([[False, True, True], [False, False, True]])
    revealed = evidence.reveal_from(truth, where)
    np.testing.assert_array_equal(
        revealed.numbers(),
        [[1.0, 6.0, np.nan], [np.nan, np.nan, 9.0]],
    )
    expected = evidence.reveal(truth.hide(~where))
    np.testing.assert_array_equal(revealed.values, expected.values)
    np.testing.assert_array_equal(revealed.observed, expected.observed)
