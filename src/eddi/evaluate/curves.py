"""Information curves: how wrong the prediction of the target is after each question."""

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from functools import cached_property
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.stats import rankdata

from eddi.errors import EvaluationError
from eddi.model.prediction import COVERAGE
from eddi.table.variable import Level

Numbers = NDArray[np.float64]
Metric = Literal["rmse", "draw_rmse", "nll", "accuracy", "brier"]
"""Metrics that are a mean over rows (or its root), so that every row has its share in them."""

N_BINS = 10  # equal bins of confidence behind the calibration error of levels (Guo et al. 2017)
BY_STEP = ("mean", "draw_squares", "log_prob", "probabilities", "rank", "covered", "spent")
SUMMARIES = (
    *("rmse", "draw_rmse", "nll", "accuracy", "auroc", "brier", "calibration_error", "coverage"),
    *("standard_error", "auic", "row_auic"),
)


@dataclass(frozen=True, eq=False)
class Curves:
    """What a simulation saw, a row and step at a time; step 0 is before the first question.

    Metrics are taken over the rows whose target is known, and have one entry a step.

    Args:
        target: the name of what was predicted.
        questions: the names of all questions.
        truth: each row's target in the table's numbers, levels as positions; NaN = not known.
        mean: the mean prediction, likewise; NaN for a category, which has none.
        draw_squares: squared error averaged over posterior draws of z, where a draw predicts the mean
            of the likelihood at that z, without the likelihood's noise (as the paper's published code
            does). For a category half the squared distance of the draw's probabilities from the truth.
        log_prob: log-likelihood of the true target in nats; a density, in its units, for real targets.
        order: position among ``questions`` of what was asked at each step; -1 where nothing was.
        spent: what the questions asked so far have cost.
        probabilities: of each level; None for quantities.
        rank: share of the belief below the truth (half of what lies exactly on it, for counts);
            uniform over rows for a calibrated model. None for levels.
        covered: whether the truth lies in the central 90% interval; None for levels.
        levels: of the target; empty for quantities.
        unit: of the target.
    """

    target: str
    questions: tuple[str, ...]
    truth: Numbers  # [rows]
    mean: Numbers  # [rows, steps + 1]
    draw_squares: Numbers  # [rows, steps + 1]
    log_prob: Numbers  # [rows, steps + 1]
    order: NDArray[np.int64]  # [rows, steps]
    spent: Numbers  # [rows, steps + 1]
    probabilities: Numbers | None = None  # [rows, steps + 1, levels]
    rank: Numbers | None = None  # [rows, steps + 1]
    covered: NDArray[np.bool_] | None = None  # [rows, steps + 1]
    levels: tuple[Level, ...] = ()
    unit: str = ""

    @property
    def n_rows(self) -> int:
        return len(self.truth)

    @property
    def n_steps(self) -> int:
        """The most questions any row was asked."""
        return int(self.order.shape[1])

    @cached_property
    def known(self) -> NDArray[np.bool_]:
        """Rows whose target is known, over which metrics are taken [rows]."""
        return ~np.isnan(self.truth)

    @cached_property
    def n_asked(self) -> NDArray[np.int64]:
        """How many questions each row was asked [rows]."""
        return np.asarray((self.order >= 0).sum(1))

    @cached_property
    def errors(self) -> Numbers:
        """How far the prediction is from the truth, NaN where that is not known [rows, steps + 1].

        Mean minus truth, signed; for a category, whose levels have no distance, the distance of its
        probabilities from the truth over the square root of 2, which for two levels is the same.
        """
        if self.probabilities is None or not np.isnan(self.mean).all():
            return self.mean - self.truth[:, None]
        distance = np.sqrt(np.square(self.probabilities - self._true_levels).sum(-1) / 2)
        return np.where(self.known[:, None], distance, np.nan)

    @cached_property
    def rmse(self) -> Numbers:
        """Root mean squared error of the mean prediction [steps + 1]."""
        return self._average("rmse")

    @cached_property
    def draw_rmse(self) -> Numbers:
        """The paper's RMSE: the root of the squared error of posterior draws [steps + 1].

        Draws are decoder means (see ``draw_squares``), so it exceeds `rmse` by their spread.
        """
        return self._average("draw_rmse")

    @cached_property
    def nll(self) -> Numbers:
        """Mean negative log-likelihood of the truth in nats [steps + 1]."""
        return self._average("nll")

    @cached_property
    def accuracy(self) -> Numbers | None:
        """Share of rows whose most likely level is the true one [steps + 1]; None for quantities."""
        return None if self.probabilities is None else self._average("accuracy")

    @cached_property
    def brier(self) -> Numbers | None:
        """Brier score [steps + 1]; None for quantities.

        Squared distance of the probabilities from the truth; halved for two levels, which is (p - y)².
        """
        return None if self.probabilities is None else self._average("brier")

    @cached_property
    def auroc(self) -> Numbers | None:
        """Area under the ROC curve [steps + 1]; None for quantities.

        Of the second level of two; otherwise the mean over levels, each against the rest. Levels that
        no row has, or all, are left out; NaN where that leaves none.
        """
        if self.probabilities is None:
            return None
        wanted = [1] if len(self.levels) == 2 else range(len(self.levels))
        chances, truth = self.probabilities[self.known], self.truth[self.known]
        areas = [_auroc(chances[..., k], truth == k) for k in wanted if 0 < (truth == k).mean() < 1]
        return np.mean(areas, axis=0) if areas else np.full(self.n_steps + 1, np.nan)

    @cached_property
    def coverage(self) -> Numbers | None:
        """Share of rows whose truth lies in the 90% interval [steps + 1]; None for levels."""
        if self.covered is None:
            return None
        return np.asarray(self.covered[self.known].mean(0))

    @cached_property
    def calibration_error(self) -> Numbers:
        """How far stated certainty is from what came true [steps + 1].

        Levels: the expected calibration error, over ten equal bins of the most likely level's
        probability. Quantities: how far the coverage of the 90% interval is from 90%.
        """
        if self.coverage is not None:
            return np.abs(self.coverage - COVERAGE)
        assert self.probabilities is not None  # noqa: S101  # what has no coverage has levels
        confidence = self.probabilities[self.known].max(-1)
        return _expected_calibration_error(confidence, self.per_row("accuracy")[self.known])

    @cached_property
    def standard_error(self) -> Numbers:
        """Standard error of `rmse` over rows [steps + 1], by the delta method."""
        return self.standard_error_of("rmse")

    @property
    def auic(self) -> float:
        """Area under the information curve: the mean of `rmse` over the steps, step 0 included."""
        return float(self.rmse.mean())

    @cached_property
    def row_auic(self) -> Numbers:
        """Each row's own area: its absolute error, averaged over the steps [rows]."""
        return self.row_area("rmse")

    def row_area(self, metric: Metric) -> Numbers:
        """Each row's share in a metric, averaged over the steps [rows]; NaN without a truth."""
        return np.asarray(self.row_values(metric).mean(1))

    def row_values(self, metric: Metric) -> Numbers:
        """A metric of each row by itself [rows, steps + 1]: its root taken where the metric's is."""
        values = self.per_row(metric)
        return np.sqrt(values) if metric in ("rmse", "draw_rmse") else values

    def per_row(self, metric: Metric) -> Numbers:
        """What the metric is the mean of, or the root of the mean of [rows, steps + 1]."""
        if metric not in get_args(Metric):
            known = ", ".join(get_args(Metric))
            raise EvaluationError(f"there is no metric {metric!r}. Use one of {known}.")
        if metric == "rmse":
            values = np.square(self.errors)
        elif metric == "draw_rmse":
            values = self.draw_squares
        elif metric == "nll":
            values = -self.log_prob
        else:
            values = self._per_row_of_levels(metric)
        return np.where(self.known[:, None], values, np.nan)

    def standard_error_of(self, metric: Metric) -> Numbers:
        """Standard error over rows of a metric [steps + 1]; 0 for a single row, which has none."""
        values = self.per_row(metric)[self.known]
        if len(values) < 2:
            return np.zeros(values.shape[1])
        of_mean = np.asarray(values.std(0, ddof=1) / np.sqrt(len(values)))
        if metric not in ("rmse", "draw_rmse"):
            return of_mean
        root = np.sqrt(values.mean(0))
        # d sqrt(m) = dm / (2 sqrt(m)); without any error there is none to be uncertain about.
        return np.asarray(np.divide(of_mean, 2 * root, out=np.zeros_like(root), where=root > 0))

    def by_cost(self, grid: ArrayLike) -> "Curves":
        """The same against cost: step k is how each row stood when it had spent at most ``grid[k]``.

        ``order`` then names the last question asked since the point before, -1 where none was.
        """
        points = np.atleast_1d(np.asarray(grid, dtype=np.float64))
        steps = np.stack([(self.spent <= point).sum(1) - 1 for point in points], axis=1)
        steps = np.clip(steps, 0, self.n_asked[:, None])  # [rows, points]
        rows = np.arange(self.n_rows)[:, None]
        padded = np.concatenate([np.full((self.n_rows, 1), -1), self.order], axis=1)
        order = np.where(np.diff(steps, axis=1) > 0, padded[rows, steps[:, 1:]], -1)
        whole = {name: getattr(self, name) for name in BY_STEP}
        taken: dict[str, Any] = {
            name: None if each is None else each[rows, steps] for name, each in whole.items()
        }
        return replace(self, order=order, **taken)

    def to_document(self) -> dict[str, Any]:
        """All fields and metrics by name as plain JSON; what is not a number is null."""
        names = [*(field.name for field in fields(self)), *SUMMARIES]
        return {name: _plain(getattr(self, name)) for name in names}

    def _average(self, metric: Metric) -> Numbers:
        mean = np.asarray(self.per_row(metric)[self.known].mean(0))
        return np.sqrt(mean) if metric in ("rmse", "draw_rmse") else mean

    def _per_row_of_levels(self, metric: Metric) -> Numbers:
        if self.probabilities is None:
            raise EvaluationError(
                f"{self.target!r} is a quantity and has no {metric}. Use rmse, draw_rmse or nll."
            )
        if metric == "accuracy":
            return np.asarray(self.probabilities.argmax(-1) == self.truth[:, None], dtype=np.float64)
        squares = np.square(self.probabilities - self._true_levels).sum(-1)
        return np.asarray(squares / 2 if len(self.levels) == 2 else squares)

    @cached_property
    def _true_levels(self) -> Numbers:
        """1 at the true level [rows, 1, levels]."""
        return np.asarray(self.truth[:, None, None] == np.arange(len(self.levels)), dtype=np.float64)


def _auroc(chances: Numbers, true: NDArray[np.bool_]) -> Numbers:
    """The chance that a row with the level is ranked above one without; ties count half [steps]."""
    n_with, n_without = true.sum(), (~true).sum()
    ranks = rankdata(chances, axis=0)[true].sum(0)  # Mann and Whitney (1947)
    return np.asarray((ranks - n_with * (n_with + 1) / 2) / (n_with * n_without))


def _expected_calibration_error(confidence: Numbers, hits: Numbers) -> Numbers:
    """Both [rows, steps]; the mean over bins, weighted by rows, of |accuracy - confidence| [steps]."""
    bins = bin_of(confidence)
    gaps = [np.abs(np.where(bins == place, hits - confidence, 0.0).sum(0)) for place in range(N_BINS)]
    return np.asarray(np.sum(gaps, axis=0) / len(confidence))


def bin_of(probability: Numbers) -> NDArray[np.int64]:
    """Which of `N_BINS` equal bins each probability lies in; 1 lies in the last."""
    return np.minimum((probability * N_BINS).astype(np.int64), N_BINS - 1)


def _plain(value: Any) -> Any:
    if isinstance(value, np.ndarray):
        return _plain(value.tolist())
    if isinstance(value, Sequence) and not isinstance(value, str):
        return [_plain(each) for each in value]
    return None if isinstance(value, float) and not np.isfinite(value) else value
