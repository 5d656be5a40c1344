"""Limit how often a question is asked: item eligibility (van der Linden and Veldkamp 2004).

Before an interview begins, every question is made eligible or withheld at random. The probability follows
from how often it was eligible and asked so far, so its share of the respondents stays below a maximum. A
question whose share has reached the maximum is withheld in any case (Revuelta and Ponsoda 1998).

Questions are drawn by systematic sampling (Madow 1949) in a random order of the sections and of their
questions. So the number of eligible questions hardly varies, in an interview and in each section.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from eddi.errors import StrategyError

Mask = NDArray[np.bool_]
Numbers = NDArray[np.float64]
Counts = NDArray[np.int64]

ROUNDING = 1e-9  # of sums of probabilities


@dataclass(frozen=True)
class ExposureCounts:
    """How many respondents might have been asked each question, and how many were.

    Args:
        n_respondents: respondents so far.
        n_eligible: those for whom a question was eligible [questions].
        n_asked: those who were asked [questions].
    """

    n_respondents: int
    n_eligible: Counts
    n_asked: Counts

    @classmethod
    def empty(cls, n_questions: int) -> "ExposureCounts":
        """The counts before the first respondent."""
        return cls(0, np.zeros(n_questions, dtype=np.int64), np.zeros(n_questions, dtype=np.int64))

    def plus(self, eligible: Mask, asked: Mask) -> "ExposureCounts":
        """The counts after more respondents [rows, questions]."""
        return ExposureCounts(
            self.n_respondents + len(eligible),
            self.n_eligible + eligible.sum(0),
            self.n_asked + asked.sum(0),
        )


@dataclass(frozen=True)
class Exposure:
    """A maximum share of respondents who are asked the same question.

    The limit can be met only if interviews are short: with a maximum of 0.3, at most 30% of all questions
    can be asked on average. If no eligible question is left, a question that was withheld is asked.

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
        probabilities = np.minimum(self.max_rate / np.maximum(rate, self.max_rate), 1.0)
        is_full = counts.n_asked >= self.max_rate * (counts.n_respondents + 1)
        return np.where(is_full, 0.0, probabilities)

    def draw_withheld(
        self, counts: ExposureCounts, sections: NDArray[np.generic], *, uniform: Numbers
    ) -> Mask:
        """The questions that are withheld from each row [rows, questions].

        Args:
            counts: of the respondents so far.
            sections: the section of each question [questions].
            uniform: random numbers in [0, 1) [rows, 1 + 2 * questions].
        """
        n_questions = len(sections)
        start, by_section, by_question = np.split(uniform, [1, 1 + n_questions], axis=1)
        _, section = np.unique(sections, return_inverse=True)
        order = np.lexsort((by_question, by_section[:, section]))  # sections first [rows, questions]
        total = np.cumsum(self.probabilities(counts)[order], axis=1) + start
        before = np.concatenate([start, total[:, :-1]], axis=1)
        eligible = np.empty(order.shape, dtype=bool)
        drawn = np.floor(total + ROUNDING) > np.floor(before + ROUNDING)
        np.put_along_axis(eligible, order, drawn, axis=1)
        return ~eligible
