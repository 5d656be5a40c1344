"""Means, standard errors and tests, and how tables show them."""

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from scipy import stats

Numbers = NDArray[np.float64]

SIGNIFICANT = 0.05
MIN_P = 1e-300  # smaller p-values underflow to 0
NOT_AVAILABLE = "-"  # the cell of a result that does not exist (yet)


def mean_and_error(values: Numbers) -> tuple[Numbers, Numbers]:
    """Mean over the first axis and its standard error; NaN if there are too few values."""
    n = len(values)
    unknown = np.full(values.shape[1:], np.nan)
    error = values.std(0, ddof=1) / math.sqrt(n) if n > 1 else unknown
    return (values.mean(0) if n else unknown), error


def signed_rank_test(differences: Numbers) -> float:
    """p-value of the two-sided signed-rank test (Wilcoxon 1945); 1 if all differences are 0."""
    nonzero = differences[differences != 0]
    return float(stats.wilcoxon(nonzero).pvalue) if len(nonzero) else 1.0


def paired_t_test(differences: Numbers) -> float | None:
    """p-value of the two-sided paired t-test (Student 1908); None if it is not defined."""
    if len(differences) < 2 or np.ptp(differences) == 0:
        return None
    return float(stats.ttest_1samp(differences, 0.0).pvalue)


def paired_interval(differences: Numbers) -> tuple[float, float] | None:
    """The 95% interval of the mean difference that belongs to the paired t-test; None if not defined."""
    n = len(differences)
    if n < 2:
        return None
    width = float(stats.t.ppf(1 - SIGNIFICANT / 2, n - 1) * differences.std(ddof=1) / math.sqrt(n))
    mean = float(differences.mean())
    return mean - width, mean + width


def format_mean(values: Sequence[float] | Numbers, digits: int) -> str:
    """Mean ± standard error of values."""
    mean, error = mean_and_error(np.asarray(values, dtype=np.float64))
    return format_with_error(float(mean), float(error), digits)


def format_with_error(value: float, error: float, digits: int) -> str:
    """A value ± its standard error, without the error if it is NaN."""
    if math.isnan(value):
        return NOT_AVAILABLE
    return f"{value:.{digits}f}" if math.isnan(error) else f"{value:.{digits}f} ± {error:.{digits}f}"


def format_difference(value: float, digits: int) -> str:
    """A number with its sign."""
    return NOT_AVAILABLE if math.isnan(value) else f"{value:+.{digits}f}"


def format_p(p: float | None) -> str:
    """A p-value with few digits."""
    if p is None:
        return NOT_AVAILABLE
    if p < MIN_P:
        return f"< {MIN_P:.0e}"
    return f"{p:.3f}" if p >= 0.001 else f"{p:.0e}"
