"""Concordance: how well scores order the times of events (Harrell et al. 1982, Uno et al. 2011)."""

import numpy as np
from numpy.typing import NDArray

Numbers = NDArray[np.float64]
BLOCK_PAIRS = 4_000_000  # pairs of rows compared at once: 32 MB as float64


def concordance(
    scores: Numbers,
    times: Numbers,
    events: Numbers,
    *,
    weights: Numbers | None = None,
    horizon: float = np.inf,
    groups: NDArray[np.int64] | None = None,
) -> float:
    """Probability that the row with the earlier event has the higher score; tied scores count half.

    A pair is compared if the earlier time is that of an event. With times that are equal, an event comes
    before a censored time.

    Args:
        scores: [rows], high for early events.
        times: [rows].
        events: [rows] 1 if the event happened.
        weights: of the row with the earlier event [rows]; Uno's are its squared inverse probability of
            not being censored. None for Harrell's concordance.
        horizon: only events before this time are compared.
        groups: only rows of the same group are compared [rows]; None for one group.

    Returns:
        The concordance; 0.5 if no pair can be compared.
    """
    first = np.flatnonzero((events == 1) & (times < horizon))
    own = np.ones(len(first)) if weights is None else weights[first]
    agreement = total = 0.0
    size = max(1, BLOCK_PAIRS // max(1, len(times)))
    for start in range(0, len(first), size):
        rows, weight = first[start : start + size], own[start : start + size]
        is_tied = times[None] == times[rows, None]
        later = (times[None] > times[rows, None]) | (is_tied & (events[None] == 0))
        if groups is not None:
            later &= groups[None] == groups[rows, None]
        difference = scores[rows, None] - scores[None]
        agrees = (difference > 0) + 0.5 * (difference == 0)
        agreement += float(weight @ (agrees * later).sum(1))
        total += float(weight @ later.sum(1))
    return agreement / total if total > 0 else 0.5


def censoring_survival(times: Numbers, events: Numbers, at: Numbers) -> Numbers:
    """Probability of not being censored before each of the times ``at`` (Kaplan and Meier 1958).

    Events at the same time come before censored times.
    """
    order = np.argsort(times)
    distinct, start = np.unique(times[order], return_index=True)
    at_risk = len(times) - start
    index = np.searchsorted(distinct, times)
    n_censored = np.bincount(index, weights=events == 0, minlength=len(distinct))
    n_events = np.bincount(index, weights=events == 1, minlength=len(distinct))
    passed = 1 - n_censored / np.maximum(at_risk - n_events, 1)
    survival = np.concatenate([[1.0], np.cumprod(passed)])
    return np.asarray(survival[np.searchsorted(distinct, at, side="left")])


def kaplan_meier(times: Numbers, events: Numbers, at: Numbers) -> Numbers:
    """Probability of no event up to and including each of the times ``at``."""
    order = np.argsort(times)
    distinct, start = np.unique(times[order], return_index=True)
    index = np.searchsorted(distinct, times)
    n_events = np.bincount(index, weights=events == 1, minlength=len(distinct))
    survival = np.concatenate([[1.0], np.cumprod(1 - n_events / (len(times) - start))])
    return np.asarray(survival[np.searchsorted(distinct, at, side="right")])
