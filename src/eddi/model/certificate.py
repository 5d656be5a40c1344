"""How often decisions were wrong that were made at a given sureness: what a promise stands on.

Learn then test (Angelopoulos et al. 2021, "Learn then Test: Calibrating Predictive Algorithms to Achieve
Risk Control"): rows that training did not see were interviewed to the end. For each threshold of a grid
that was fixed beforehand it is known how many of them would have ended with a wrong decision, had the
interview ended at the first belief as sure as that. Going from the most cautious threshold downwards,
"more than ``risk`` of all interviews would be wrong" is tested by the binomial distribution, and the
walk ends at the first threshold where that cannot be ruled out. Every threshold passed is then safe at
once with the confidence wanted (fixed-sequence testing).
"""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from scipy.special import bdtr, betaincinv

N_THRESHOLDS = 61
MOST_DOUBT = 1e-4  # that the most cautious threshold leaves; float32 beliefs are no finer
THRESHOLDS = tuple((1 - np.geomspace(MOST_DOUBT, 1.0, N_THRESHOLDS)).tolist())
"""From the most cautious to 0, at which an interview ends before it begins."""

Key = tuple[tuple[str, ...], str, float | None]


@dataclass(frozen=True)
class Certificate:
    """What was found on rows that training did not see. Figures only: no row is in it.

    Args:
        target: what the interviews wanted to know.
        strategy: who chose the questions, as it describes itself.
        within: how far off a quantity was still right, in its own units; None for levels.
        n_rows: rows interviewed.
        thresholds: chances of being right, as the belief has it, at which interviews end, falling.
        n_wrong: rows whose decision was wrong then, for each threshold.
        n_asked: questions a row was asked by then, on average.
    """

    target: tuple[str, ...]
    strategy: str
    within: float | None
    n_rows: int
    thresholds: tuple[float, ...]
    n_wrong: tuple[int, ...]
    n_asked: tuple[float, ...]

    def __post_init__(self) -> None:
        if not len(self.thresholds) == len(self.n_wrong) == len(self.n_asked) > 0:
            raise ValueError("a certificate has as many counts as thresholds.")
        if not np.all(np.diff(self.thresholds) < 0):
            raise ValueError("the thresholds of a certificate fall.")
        if not all(0 <= wrong <= self.n_rows for wrong in self.n_wrong):
            raise ValueError("no more rows can be wrong than there are.")

    @property
    def key(self) -> Key:
        """What it is a certificate of."""
        return self.target, self.strategy, self.within

    def least(self, risk: float, confidence: float) -> float | None:
        """The lowest threshold that keeps the promise; None where not even the most cautious does."""
        chance = bdtr(self.n_wrong, self.n_rows, risk)  # of so few wrong, were the risk not kept
        passed = np.flatnonzero(~(chance <= 1 - confidence))
        n_safe = passed[0] if len(passed) else len(self.thresholds)
        return self.thresholds[n_safe - 1] if n_safe else None

    def least_risk(self, confidence: float) -> float:
        """The smallest risk that could be promised: a bound on it at the most cautious threshold."""
        wrong = self.n_wrong[0]
        return (
            1.0
            if wrong == self.n_rows
            else float(betaincinv(wrong + 1, self.n_rows - wrong, confidence))
        )

    def to_document(self) -> dict[str, Any]:
        """The certificate as plain JSON."""
        return asdict(self)

    @classmethod
    def from_document(cls, document: Mapping[str, Any]) -> "Certificate":
        """The certificate that `to_document` described."""
        several = {
            name: tuple(each) for name, each in document.items() if isinstance(each, list | tuple)
        }
        return cls(**{**document, **several})
