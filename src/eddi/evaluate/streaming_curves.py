"""Information curves from sums, for more rows than memory holds: what is added up, not each row."""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, get_args

import numpy as np
from numpy.typing import NDArray

from eddi.evaluate.curves import Curves, Metric, Numbers

ROOTS = ("rmse", "draw_rmse")


@dataclass(frozen=True, eq=False)
class Tally:
    """The metrics of `Curves` that are means over rows (or their roots), and what was asked when.

    Exact but for rounding. What needs all rows at once (ranks, AUROC, calibration) is not here.

    Args:
        target: the name of what was predicted.
        unit: of the target.
        questions: the names of all questions.
        n_rows: how many were interviewed.
        n_known: how many of them know the target, over which means are taken.
        sums: of each metric over rows.
        squares: of each metric's square over rows.
        asked: how many rows were asked each question at each step.
    """

    target: str
    unit: str
    questions: tuple[str, ...]
    n_rows: int
    n_known: int
    sums: dict[str, Numbers]  # each [steps + 1]
    squares: dict[str, Numbers]  # each [steps + 1]
    asked: NDArray[np.int64]  # [steps, questions]

    @classmethod
    def of(cls, curves: Curves) -> "Tally":
        """The tally of rows that were followed."""
        wanted = get_args(Metric) if curves.levels else ("rmse", "draw_rmse", "nll")
        each = {metric: curves.per_row(metric)[curves.known] for metric in wanted}
        n_questions = len(curves.questions)
        asked = [np.bincount(step[step >= 0], minlength=n_questions) for step in curves.order.T]
        return cls(
            curves.target,
            curves.unit,
            curves.questions,
            curves.n_rows,
            int(curves.known.sum()),
            {metric: values.sum(0) for metric, values in each.items()},
            {metric: np.square(values).sum(0) for metric, values in each.items()},
            np.array(asked, dtype=np.int64).reshape(-1, n_questions),
        )

    @classmethod
    def total(cls, tallies: Iterable["Tally"]) -> "Tally":
        """All of them together."""
        first, *rest = tallies
        for one in rest:
            first = first.plus(one)
        return first

    def plus(self, other: "Tally") -> "Tally":
        """Both together; rows of the one that stopped early keep their last prediction."""
        n_steps = max(self.n_steps, other.n_steps)
        sums, squares = (
            {name: _longer(a[name], n_steps) + _longer(b[name], n_steps) for name in a}
            for a, b in ((self.sums, other.sums), (self.squares, other.squares))
        )
        asked = np.zeros((n_steps, len(self.questions)), np.int64)
        for one in (self, other):
            asked[: one.n_steps] += one.asked
        return Tally(
            self.target,
            self.unit,
            self.questions,
            self.n_rows + other.n_rows,
            self.n_known + other.n_known,
            sums,
            squares,
            asked,
        )

    @property
    def n_steps(self) -> int:
        """The most questions any row was asked."""
        return len(self.asked)

    @cached_property
    def rmse(self) -> Numbers:
        """Root mean squared error of the mean prediction [steps + 1]."""
        return self._average("rmse")

    @cached_property
    def nll(self) -> Numbers:
        """Mean negative log-likelihood of the truth in nats [steps + 1]."""
        return self._average("nll")

    @cached_property
    def accuracy(self) -> Numbers | None:
        """Share of rows whose most likely level is the true one [steps + 1]; None for quantities."""
        return self._average("accuracy") if "accuracy" in self.sums else None

    @property
    def auic(self) -> float:
        """Area under the information curve: the mean of `rmse` over the steps, step 0 included."""
        return float(self.rmse.mean())

    def standard_error_of(self, metric: Metric) -> Numbers:
        """Standard error over rows of a metric [steps + 1], by the delta method for a root."""
        if self.n_known < 2:
            return np.zeros(self.n_steps + 1)
        mean = self.sums[metric] / self.n_known
        variance = np.maximum(self.squares[metric] / self.n_known - mean**2, 0.0)
        of_mean = np.sqrt(variance / (self.n_known - 1))
        if metric not in ROOTS:
            return of_mean
        root = np.sqrt(mean)
        return np.asarray(np.divide(of_mean, 2 * root, out=np.zeros_like(root), where=root > 0))

    def to_document(self) -> dict[str, Any]:
        """Metrics, their standard errors and what was asked, by name, as plain JSON."""
        metrics: dict[str, Any] = {metric: self._average(metric).tolist() for metric in self.sums}
        errors = {metric: self.standard_error_of(metric).tolist() for metric in self.sums}  # type: ignore[arg-type]
        facts = {"target": self.target, "unit": self.unit, "questions": list(self.questions)}
        counts = {"n_rows": self.n_rows, "n_known": self.n_known, "asked": self.asked.tolist()}
        return {**facts, **counts, **metrics, "standard_errors": errors, "auic": self.auic}

    def _average(self, metric: str) -> Numbers:
        mean = self.sums[metric] / self.n_known
        return np.sqrt(mean) if metric in ROOTS else mean


def _longer(values: Numbers, n_steps: int) -> Numbers:
    return np.concatenate([values, np.repeat(values[-1:], n_steps + 1 - len(values))])
