"""How far a figure over rows may be trusted: rows drawn anew, with replacement (Efron 1979)."""

from dataclasses import dataclass

import numpy as np

from eddi.errors import EvaluationError
from eddi.evaluate.curves import Curves, Metric, Numbers

N_RESAMPLES = 1_000
SHARE = 0.9  # of resamples that lie in a band
CHUNK_CELLS = 4_000_000  # weights of rows in flight at once: 32 MB
ROOTED = ("rmse", "draw_rmse")


@dataclass(frozen=True, eq=False)
class Band:
    """A figure and the central 90% of what it is over resampled rows."""

    value: Numbers
    low: Numbers
    high: Numbers


def band(curves: Curves, metric: Metric, *, seed: int = 0) -> Band:
    """A metric at every step, with its band [steps + 1]."""
    resampled = _resampled(curves, metric, seed)  # [resamples, steps + 1]
    return _band(np.asarray(getattr(curves, metric)), resampled)


def area(curves: Curves, metric: Metric, *, seed: int = 0) -> Band:
    """The area under the information curve, its band over rows beside it []."""
    value = np.asarray(getattr(curves, metric)).mean()
    return _band(value, _resampled(curves, metric, seed).mean(1))


def area_difference(a: Curves, b: Curves, metric: Metric, *, seed: int = 0) -> Band:
    """The area of ``a`` less that of ``b`` on the same rows; the same resamples serve both [].

    Raises:
        EvaluationError: they are of different rows or lengths.
    """
    if not np.array_equal(a.truth, b.truth, equal_nan=True) or a.n_steps != b.n_steps:
        raise EvaluationError(
            "areas are compared over the same rows and as many steps. Simulate both on one table."
        )
    value = np.asarray(getattr(a, metric)).mean() - np.asarray(getattr(b, metric)).mean()
    resampled = _resampled(a, metric, seed).mean(1) - _resampled(b, metric, seed).mean(1)
    return _band(value, resampled)


def _resampled(curves: Curves, metric: Metric, seed: int) -> Numbers:
    """The metric over each resample of the rows whose target is known [resamples, steps + 1]."""
    values = curves.per_row(metric)[curves.known]  # [rows, steps + 1]
    n_rows = len(values)
    random = np.random.default_rng(seed)
    chances = np.full(n_rows, 1 / n_rows)
    size = max(1, CHUNK_CELLS // n_rows)
    parts = [
        random.multinomial(n_rows, chances, size=min(size, N_RESAMPLES - start)) @ values / n_rows
        for start in range(0, N_RESAMPLES, size)
    ]
    means = np.concatenate(parts)
    return np.sqrt(means) if metric in ROOTED else means


def _band(value: Numbers, resampled: Numbers) -> Band:
    low, high = np.quantile(resampled, [(1 - SHARE) / 2, (1 + SHARE) / 2], axis=0)
    return Band(np.asarray(value), np.asarray(low), np.asarray(high))
