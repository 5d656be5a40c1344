"""Bootstrap confidence bands of metrics: rows resampled with replacement (Efron 1979)."""

from dataclasses import dataclass

import numpy as np

from eddi.errors import EvaluationError
from eddi.evaluate.curves import Curves, Metric, Numbers, from_row_mean

N_RESAMPLES = 1_000
CONFIDENCE = 0.9  # share of resamples inside a band
SIGNIFICANCE = 0.05  # of differences; their interval contains the other resamples
CHUNK_CELLS = 4_000_000  # row weights in memory at once: 32 MB


@dataclass(frozen=True, eq=False)
class Band:
    """A statistic and the central 90% of its values over resampled rows."""

    value: Numbers
    low: Numbers
    high: Numbers


@dataclass(frozen=True)
class Difference:
    """A paired difference with its 95% confidence interval and the p-value of the same resamples.

    The interval excludes zero exactly if the p-value is below 0.05.
    """

    value: float
    low: float
    high: float
    p_value: float


def band(curves: Curves, metric: Metric, *, seed: int = 0) -> Band:
    """A metric at every step with its confidence band [steps + 1]."""
    return _band(curves.metric(metric), _resample(curves, metric, seed))


def area(curves: Curves, metric: Metric, *, seed: int = 0) -> Band:
    """The area under the information curve with its confidence band []."""
    return _band(curves.metric(metric).mean(), _resample(curves, metric, seed).mean(1))


def area_difference(a: Curves, b: Curves, metric: Metric, *, seed: int = 0) -> Difference:
    """The area of ``a`` minus that of ``b``, both on the same resamples.

    Raises:
        EvaluationError: the curves have different rows or numbers of steps.
    """
    if not np.array_equal(a.truth, b.truth, equal_nan=True) or a.n_steps != b.n_steps:
        raise EvaluationError(
            "areas can only be compared over the same rows and the same number of steps, but these "
            "curves differ. Simulate both on one table and use `Curves.pad` on the shorter one."
        )
    value = a.metric(metric).mean() - b.metric(metric).mean()
    resamples = _resample(a, metric, seed).mean(1) - _resample(b, metric, seed).mean(1)
    # Order statistics, not interpolated: the interval excludes 0 exactly if the p-value is below 0.05.
    low = np.quantile(resamples, SIGNIFICANCE / 2, method="lower")
    high = np.quantile(resamples, 1 - SIGNIFICANCE / 2, method="higher")
    n_beyond = min(int((resamples <= 0).sum()), int((resamples >= 0).sum()))
    p_value = min(1.0, 2 * max(n_beyond, 1) / N_RESAMPLES)
    return Difference(float(value), float(low), float(high), p_value)


def _resample(curves: Curves, metric: Metric, seed: int) -> Numbers:
    """The metric of each resample of the rows whose target is observed [resamples, steps + 1]."""
    values = curves.per_row(metric)[curves.known]  # [rows, steps + 1]
    n_rows = len(values)
    random = np.random.default_rng(seed)
    probabilities = np.full(n_rows, 1 / n_rows)
    chunk_size = max(1, CHUNK_CELLS // n_rows)
    means = [
        random.multinomial(n_rows, probabilities, size=min(chunk_size, N_RESAMPLES - start))
        @ values
        / n_rows
        for start in range(0, N_RESAMPLES, chunk_size)
    ]
    return from_row_mean(metric, np.concatenate(means))


def _band(value: Numbers, resamples: Numbers) -> Band:
    low, high = np.quantile(resamples, [(1 - CONFIDENCE) / 2, (1 + CONFIDENCE) / 2], axis=0)
    return Band(np.asarray(value), np.asarray(low), np.asarray(high))
