"""Cox regression with a ridge penalty (Cox 1972; Breslow's ties), and orders of questions from it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Numbers = NDArray[np.float64]
N_STEPS = 25
MAX_LOG_RATIO = 30.0


@dataclass(frozen=True)
class Cox:
    """Weights of standardised columns."""

    weights: Numbers  # [columns]
    log_likelihood: float  # partial, of the training rows

    @classmethod
    def fit(cls, columns: Numbers, times: Numbers, events: Numbers, *, penalty: float = 1.0) -> "Cox":
        """Fit by Newton steps to columns [rows, columns] without missing values."""
        order = np.argsort(-times, kind="stable")
        x, d, ties = columns[order], events[order], _last_of_ties(times[order])
        weights = np.zeros(x.shape[1])
        likelihood = -np.inf
        for _ in range(N_STEPS):
            likelihood, gradient, hessian = _derivatives(x, d, ties, weights)
            gradient -= penalty * weights
            step = np.linalg.solve(hessian + penalty * np.eye(len(weights)), gradient)
            weights = weights + step / max(1.0, float(np.abs(step).max(initial=0.0)) / 2)
            if np.abs(step).max(initial=0.0) < 1e-6:
                break
        return cls(weights, likelihood)

    def score(self, columns: Numbers) -> Numbers:
        """Log hazard ratios [rows]."""
        return np.asarray(columns @ self.weights)


def _last_of_ties(times: Numbers) -> NDArray[np.int64]:
    """For times in descending order: the last position with the same time, for each."""
    return np.searchsorted(-times, -times, side="right") - 1


def _derivatives(
    x: Numbers, events: Numbers, ties: NDArray[np.int64], weights: Numbers
) -> tuple[float, Numbers, Numbers]:
    """The partial log-likelihood with its gradient and its negative second derivative."""
    score = np.clip(x @ weights, -MAX_LOG_RATIO, MAX_LOG_RATIO)
    ratio = np.exp(score)
    total = np.cumsum(ratio)[ties]  # over all rows at risk
    first = np.cumsum(ratio[:, None] * x, axis=0)[ties] / total[:, None]
    is_event = events == 1
    likelihood = float((score - np.log(total))[is_event].sum())
    gradient = (x - first)[is_event].sum(0)
    # The sum over events of E[x x^T] equals a weighted sum over rows of x x^T.
    by_row = np.cumsum((is_event / total)[::-1])[::-1]
    first_risk = np.searchsorted(ties, np.arange(len(x)))  # the first event whose risk set has the row
    weight = ratio * by_row[np.minimum(first_risk, len(x) - 1)]
    second = (x.T * weight) @ x - first[is_event].T @ first[is_event]
    return likelihood, np.asarray(gradient), np.asarray(second)


def forward_order(
    columns: Mapping[str, Numbers], times: Numbers, events: Numbers, *, penalty: float = 1.0
) -> list[str]:
    """Questions by forward selection: each next one has the highest partial likelihood."""
    chosen: list[str] = []
    while len(chosen) < len(columns):
        rest = [name for name in columns if name not in chosen]
        fits = {
            name: _fit(columns, [*chosen, name], times, events, penalty).log_likelihood for name in rest
        }
        chosen.append(max(rest, key=lambda name: fits[name]))
    return chosen


def best_subsets(
    columns: Mapping[str, Numbers], times: Numbers, events: Numbers, *, width: int, penalty: float = 1.0
) -> list[list[str]]:
    """The best set of questions of every size, by a beam search over sets of this width."""
    names = list(columns)
    beam: list[frozenset[str]] = [frozenset()]
    best = []
    for _ in names:
        candidates = {kept | {name} for kept in beam for name in names if name not in kept}
        by_likelihood = sorted(
            candidates,
            key=lambda kept: -_fit(columns, sorted(kept), times, events, penalty).log_likelihood,
        )
        beam = by_likelihood[:width]
        best.append(sorted(beam[0]))
    return best


def _fit(
    columns: Mapping[str, Numbers], names: Sequence[str], times: Numbers, events: Numbers, penalty: float
) -> Cox:
    chosen = np.concatenate([columns[name] for name in names], axis=1)
    return Cox.fit(chosen, times, events, penalty=penalty)
