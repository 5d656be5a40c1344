"""Limit how often a question is asked: item eligibility (van der Linden and Veldkamp 2004).

Before an interview begins, every question is made eligible or withheld at random. The probability follows
from how often it was eligible and asked so far, so its share of the respondents stays below a maximum.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from eddi.errors import StrategyError

Mask = NDArray[np.bool_]
Numbers = NDArray[np.float64]


@dataclass(frozen=True)
class ExposureCounts:
    """How many respondents might have been asked each question, and how many were.

    Args:
        n_eligible: respondents for whom it was eligible [questions].
        n_asked: respondents who were asked [questions].
    """

    n_eligible: NDArray[np.int64]
    n_asked: NDArray[np.int64]

    @classmethod
    def empty(cls, n_questions: int) -> "ExposureCounts":
        """The counts before the first respondent."""
        return cls(np.zeros(n_questions, dtype=np.int64), np.zeros(n_questions, dtype=np.int64))

    def plus(self, eligible: Mask, asked: Mask) -> "ExposureCounts":
        """The counts after more respondents [rows, questions]."""
        return ExposureCounts(self.n_eligible + eligible.sum(0), self.n_asked + asked.sum(0))


@dataclass(frozen=True)
class Exposure:
    """A maximum share of respondents who are asked the same question.

    Args:
        max_rate: the share, above 0 and at most 1.
    """

    max_rate: float

    def __post_init__(self) -> None:
        if not 0 < self.max_rate <= 1:
            raise StrategyError(f"max_rate must be above 0 and at most 1, got {self.max_rate:g}.")

    def probabilities(self, counts: ExposureCounts) -> Numbers:
        """The probability that each question is eligible for the next respondent [questions]."""
        rate = np.where(counts.n_asked > 0, counts.n_asked / np.maximum(counts.n_eligible, 1), 0.0)
        return np.minimum(self.max_rate / np.maximum(rate, self.max_rate), 1.0)

    def draw_withheld(self, counts: ExposureCounts, uniform: Numbers) -> Mask:
        """The questions that are not asked, for random numbers in [0, 1) [rows, questions]."""
        return np.asarray(uniform >= self.probabilities(counts))
