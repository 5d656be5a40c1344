"""Leakage: how well a variable predicts a target on its own."""

import numpy as np
from numpy.typing import NDArray

MAX_BINS = 40
MIN_ROWS_PER_BIN = 5

Numbers = NDArray[np.float64]


def predictive_strength(
    values: Numbers, truth: Numbers, *, has_levels: bool, is_ordered: bool = True
) -> float:
    """How well ``values`` alone predict ``truth`` on held-out rows, from 0 to 1.

    Values are cut into bins. The prediction for a bin is learned from half of the rows and scored on the
    other half: by the share of variance explained for a quantity, and by the share of errors avoided for
    levels. A monotonic relation determines the target completely, however fine the bins would have to
    be. The squared rank correlation with a quantity, and 2 AUROC - 1 for levels, count therefore as well.

    Args:
        values: of a variable [rows]; NaN = missing.
        truth: of the target [rows].
        has_levels: whether the target has levels.
        is_ordered: whether these levels, and the values, have an order.
    """
    is_complete = ~np.isnan(values) & ~np.isnan(truth)
    x, y = values[is_complete], truth[is_complete]
    if len(x) < 4 * MIN_ROWS_PER_BIN or len(np.unique(x)) < 2 or len(np.unique(y)) < 2:
        return 0.0
    bins = _cut_into_bins(x)
    is_even = np.arange(len(x)) % 2 == 0
    score = _error_reduction if has_levels else _explained_variance
    strength = max(0.0, (score(bins, y, is_even) + score(bins, y, ~is_even)) / 2)
    if has_levels:
        return max(strength, _rank_separation(x, y)) if is_ordered else strength
    correlation = float(np.corrcoef(_average_ranks(x), _average_ranks(y))[0, 1])
    return max(strength, correlation**2)


def _rank_separation(x: Numbers, y: Numbers) -> float:
    """How well the order of x separates low from high levels, from 0 to 1, at the worst cut of the levels.

    At each cut it is 2 AUROC - 1, which is 1 if all rows above the cut have larger values.
    """
    ranks = _average_ranks(x)
    separations = []
    for cut in np.unique(y)[:-1]:
        is_high = y > cut
        if (
            min(is_high.sum(), (~is_high).sum()) < MIN_ROWS_PER_BIN
        ):  # a few rows may be at one end by chance
            return 0.0
        difference = ranks[is_high].mean() - ranks[~is_high].mean()  # half the number of rows at most
        separations.append(2 * difference / len(y))
    return float(max(min(separations), -max(separations)))  # in the same direction at all cuts


def _average_ranks(values: Numbers) -> Numbers:
    """The rank of each value; ties get their average rank."""
    ordered = np.sort(values)
    first, last = (np.searchsorted(ordered, values, side) for side in ("left", "right"))
    return np.asarray((first + last) / 2)


def _cut_into_bins(x: Numbers) -> NDArray[np.int64]:
    distinct, bins = np.unique(x, return_inverse=True)
    if len(distinct) <= MAX_BINS:
        return np.asarray(bins, dtype=np.int64)
    n_bins = max(2, min(MAX_BINS, len(x) // (2 * MIN_ROWS_PER_BIN)))
    edges = np.quantile(x, np.linspace(0, 1, n_bins + 1)[1:-1])
    return np.searchsorted(edges, x).astype(np.int64)


def _error_reduction(bins: NDArray[np.int64], y: Numbers, is_train: NDArray[np.bool_]) -> float:
    """The share of errors avoided by predicting each bin's most frequent level."""
    levels = y.astype(np.int64)
    counts = np.zeros((int(bins.max()) + 1, int(levels.max()) + 1))
    np.add.at(counts, (bins[is_train], levels[is_train]), 1)
    most_frequent = int(counts.sum(0).argmax())
    prediction = np.where(counts.sum(1) > 0, counts.argmax(1), most_frequent)
    error = float((prediction[bins[~is_train]] != levels[~is_train]).mean())
    baseline = float((levels[~is_train] != most_frequent).mean())
    return 1 - error / baseline if baseline > 0 else 0.0


def _explained_variance(bins: NDArray[np.int64], y: Numbers, is_train: NDArray[np.bool_]) -> float:
    """The share of variance explained by predicting each bin's mean."""
    n_bins = int(bins.max()) + 1
    sums = np.bincount(bins[is_train], y[is_train], n_bins)
    counts = np.bincount(bins[is_train], minlength=n_bins)
    mean = y[is_train].mean()
    prediction = np.where(counts > 0, sums / np.maximum(counts, 1), mean)
    error = float(((prediction[bins[~is_train]] - y[~is_train]) ** 2).mean())
    baseline = float(((mean - y[~is_train]) ** 2).mean())
    return 1 - error / baseline if baseline > 0 else 0.0
