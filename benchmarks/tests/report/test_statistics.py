"""Means, standard errors, tests and their formats."""

import numpy as np
import pytest
from scipy import stats

from eddi_benchmarks.report.statistics import (
    format_difference,
    format_mean,
    format_p,
    mean_and_error,
    paired_interval,
    paired_t_test,
    signed_rank_test,
)


def test_the_standard_error_is_over_the_first_axis_and_needs_two_values():
    mean, error = mean_and_error(np.array([[1.0, 2.0], [3.0, 2.0]]))
    assert mean.tolist() == [2.0, 2.0]
    assert error.tolist() == [1.0, 0.0]
    assert np.isnan(mean_and_error(np.array([1.0]))[1])


@pytest.mark.parametrize(("values", "text"), [([], "-"), ([1.25], "1.25"), ([1.0, 3.0], "2.00 ± 1.00")])
def test_a_mean_is_shown_with_its_standard_error_if_there_is_one(values, text):
    assert format_mean(values, 2) == text


@pytest.mark.parametrize(
    ("p", "text"),
    [(None, "-"), (0.0, "< 1e-300"), (3.2e-5, "3e-05"), (0.0123, "0.012"), (1.0, "1.000")],
)
def test_p_values_have_few_digits(p, text):
    assert format_p(p) == text


def test_differences_have_a_sign():
    assert [format_difference(x, 1) for x in (1.0, -0.5, np.nan)] == ["+1.0", "-0.5", "-"]


def test_the_signed_rank_test_ignores_zeros():
    differences = np.array([0.3, -0.1, 0.0, 0.4, 0.2])
    expected = stats.wilcoxon([0.3, -0.1, 0.4, 0.2]).pvalue
    assert signed_rank_test(differences) == pytest.approx(expected)
    assert signed_rank_test(np.zeros(3)) == 1.0


def test_the_t_test_needs_two_differences_that_vary():
    assert paired_t_test(np.array([1.0, 2.0, 3.0])) == pytest.approx(0.0742, abs=1e-4)
    assert paired_t_test(np.array([1.0])) is None
    assert paired_t_test(np.array([1.0, 1.0])) is None


def test_the_interval_belongs_to_the_t_test():
    low, high = paired_interval(np.array([1.0, 2.0, 3.0]))
    assert (low, high) == pytest.approx((2 - 4.3027 / 3**0.5, 2 + 4.3027 / 3**0.5), abs=1e-4)
    assert paired_interval(np.array([1.0])) is None
