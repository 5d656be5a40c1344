"""Information curves from running sums, for more rows than fit in memory."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cached_property, reduce
from operator import add
from typing import Any, get_args

import numpy as np
from numpy.typing import NDArray

from eddi.evaluate.curves import Curves, Metric, Numbers, from_row_error, from_row_mean, pad_steps


@dataclass(frozen=True, eq=False)
class StreamingCurves:
    """The metrics of `Curves` that are means over rows (or their roots), and the questions asked.

    The metrics are exact up to rounding. Those that need all rows at once (ranks, AUROC, calibration)
    are not available.

    Args:
        target: name of the predicted variable.
        unit: unit of the target.
        questions: names of all questions.
        n_rows: number of interviewed rows.
        n_known: number of rows whose target is observed, over which means are taken.
        sums: sum of each metric over rows.
        squares: sum of each metric's square over rows.
        asked: number of rows that were asked each question at each step.
    """

    target: str
    unit: str
    questions: tuple[str, ...]
    n_rows: int
    n_known: int
    sums: dict[Metric, Numbers]  # each [steps + 1]
    squares: dict[Metric, Numbers]  # each [steps + 1]
    asked: NDArray[np.int64]  # [steps, questions]

    @classmethod
    def from_curves(cls, curves: Curves) -> "StreamingCurves":
        """Sum curves over their rows."""
        metrics: tuple[Metric, ...] = get_args(Metric) if curves.levels else ("rmse", "draw_rmse", "nll")
        values = {metric: curves.per_row(metric)[curves.known] for metric in metrics}
        return cls(
            target=curves.target,
            unit=curves.unit,
            questions=curves.questions,
            n_rows=curves.n_rows,
            n_known=int(curves.known.sum()),
            sums={metric: rows.sum(0) for metric, rows in values.items()},
            squares={metric: np.square(rows).sum(0) for metric, rows in values.items()},
            asked=curves.asked,
        )

    @classmethod
    def concatenate(cls, parts: Iterable["StreamingCurves"]) -> "StreamingCurves":
        """Curves of the rows of all parts."""
        return reduce(add, parts)

    def __add__(self, other: "StreamingCurves") -> "StreamingCurves":
        """Curves of the rows of both. Rows of the shorter curves keep their last prediction."""
        n_steps = max(self.n_steps, other.n_steps)
        a, b = self._pad(n_steps), other._pad(n_steps)
        return replace(
            a,
            n_rows=a.n_rows + b.n_rows,
            n_known=a.n_known + b.n_known,
            sums={metric: a.sums[metric] + b.sums[metric] for metric in a.sums},
            squares={metric: a.squares[metric] + b.squares[metric] for metric in a.squares},
            asked=a.asked + b.asked,
        )

    def _pad(self, n_steps: int) -> "StreamingCurves":
        return replace(
            self,
            sums={metric: pad_steps(values, n_steps) for metric, values in self.sums.items()},
            squares={metric: pad_steps(values, n_steps) for metric, values in self.squares.items()},
            asked=np.pad(self.asked, ((0, n_steps - self.n_steps), (0, 0))),
        )

    @property
    def n_steps(self) -> int:
        """The largest number of questions asked of any row."""
        return len(self.asked)

    @cached_property
    def rmse(self) -> Numbers:
        """Root mean squared error of the mean prediction [steps + 1]."""
        return self.metric("rmse")

    @cached_property
    def nll(self) -> Numbers:
        """Mean negative log-likelihood of the truth in nats [steps + 1]."""
        return self.metric("nll")

    @cached_property
    def accuracy(self) -> Numbers | None:
        """Share of rows whose most likely level is the true one [steps + 1]; None for quantities."""
        return self.metric("accuracy") if "accuracy" in self.sums else None

    @property
    def auic(self) -> float:
        """Area under the information curve: the mean of `rmse` over all steps, including step 0."""
        return float(self.rmse.mean())

    def metric(self, metric: Metric) -> Numbers:
        """A metric at every step [steps + 1]."""
        return from_row_mean(metric, self.sums[metric] / self.n_known)

    def standard_error_of(self, metric: Metric) -> Numbers:
        """Standard error of a metric over rows [steps + 1]; 0 if there is only one row."""
        if self.n_known < 2:
            return np.zeros(self.n_steps + 1)
        mean = self.sums[metric] / self.n_known
        variance = np.maximum(self.squares[metric] / self.n_known - mean**2, 0.0)
        return from_row_error(metric, np.sqrt(variance / (self.n_known - 1)), mean)

    def to_document(self) -> dict[str, Any]:
        """Metrics, their standard errors and the questions asked, by name, as plain JSON."""
        return {
            "target": self.target,
            "unit": self.unit,
            "questions": list(self.questions),
            "n_rows": self.n_rows,
            "n_known": self.n_known,
            "asked": self.asked.tolist(),
            **{metric: self.metric(metric).tolist() for metric in self.sums},
            "standard_errors": {metric: self.standard_error_of(metric).tolist() for metric in self.sums},
            "auic": self.auic,
        }
