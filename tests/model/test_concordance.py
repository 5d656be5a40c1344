"""Concordance and Kaplan-Meier curves by hand."""

import numpy as np
import pytest

from eddi.model.concordance import censoring_survival, concordance, kaplan_meier

TIMES = np.array([1.0, 2, 3, 4])
EVENTS = np.array([1.0, 0, 1, 1])


def test_a_perfect_order_has_concordance_one():
    assert concordance(-TIMES, TIMES, EVENTS) == 1
    assert concordance(TIMES, TIMES, EVENTS) == 0


def test_equal_scores_count_half():
    assert concordance(np.zeros(4), TIMES, EVENTS) == 0.5


def test_a_censored_row_is_compared_with_earlier_events_only():
    scores = np.array([2.0, 9, 3, 1])  # pairs: (1, 2) wrong, (1, 3) wrong, (1, 4) right, (3, 4) right
    assert concordance(scores, TIMES, EVENTS) == 0.5


def test_an_event_comes_before_a_censored_time_that_is_equal():
    assert concordance(np.array([1.0, 0]), np.array([5.0, 5]), np.array([1.0, 0])) == 1


def test_without_pairs_it_is_one_half():
    assert concordance(TIMES, TIMES, np.zeros(4)) == 0.5


def test_weights_and_horizon_choose_the_pairs():
    scores = np.array([2.0, 9, 3, 1])
    assert concordance(scores, TIMES, EVENTS, horizon=3) == pytest.approx(1 / 3)
    assert concordance(scores, TIMES, EVENTS, weights=np.array([0.0, 0, 1, 1])) == 1


def test_only_rows_of_the_same_group_are_compared():
    scores, times, events = np.array([3.0, 1, 2, 0]), np.array([2.0, 4, 1, 3]), np.ones(4)
    groups = np.array([0, 0, 1, 1])
    assert concordance(scores, times, events) < 1
    assert concordance(scores, times, events, groups=groups) == 1


def test_the_curve_of_kaplan_and_meier():
    assert np.allclose(
        kaplan_meier(TIMES, EVENTS, np.array([0.5, 1, 2.5, 3, 4])), [1, 3 / 4, 3 / 4, 3 / 8, 0]
    )


def test_the_probability_of_not_being_censored():
    at = np.array([1.0, 2, 2.5, 4])
    assert np.allclose(censoring_survival(TIMES, EVENTS, at), [1, 1, 2 / 3, 2 / 3])
