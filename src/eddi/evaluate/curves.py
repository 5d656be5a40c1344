"""Information curves: how wrong the prediction of the target is after each question."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True)
class Curves:
    """What a simulation saw, a row and step at a time; step 0 is before the first question.

    Args:
        errors: prediction minus truth of each row's target, in the table's numbers.
        log_prob: log-likelihood of the true target, in nats.
        order: position among ``questions`` of what was asked at each step; -1 where nothing was.
        questions: the names of all questions.
    """

    errors: NDArray[np.float64]  # [rows, steps + 1]
    log_prob: NDArray[np.float64]  # [rows, steps + 1]
    order: NDArray[np.int64]  # [rows, steps]
    questions: tuple[str, ...]

    @cached_property
    def rmse(self) -> NDArray[np.float64]:
        """Root mean squared error of the mean prediction after each step [steps + 1]."""
        rmse: NDArray[np.float64] = np.sqrt(np.nanmean(self.errors**2, axis=0))
        return rmse

    @cached_property
    def nll(self) -> NDArray[np.float64]:
        """Mean negative log-likelihood after each step [steps + 1]."""
        nll: NDArray[np.float64] = -np.nanmean(self.log_prob, axis=0)
        return nll

    @property
    def auic(self) -> float:
        """Area under the information curve: the mean of `rmse` over the steps."""
        return float(self.rmse.mean())
