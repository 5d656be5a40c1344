"""Information curves: the error of the predicted target after each question."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass, fields, replace
from functools import cached_property
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

from eddi.errors import EvaluationError
from eddi.evaluate.survival.survival_summaries import SurvivalSummaries
from eddi.model.prediction import COVERAGE
from eddi.model.quality import auroc
from eddi.table.survival.survival import Survival
from eddi.table.text import format_html_table
from eddi.table.variable import Level

Numbers = NDArray[np.float64]
Metric = Literal["rmse", "draw_rmse", "nll", "accuracy", "brier"]
"""Metrics that are a mean over rows, or the square root of one."""

ROOT_METRICS: tuple[Metric, ...] = ("rmse", "draw_rmse")  # square roots of a mean over rows
N_BINS = 10  # equal bins of confidence for the calibration error of levels (Guo et al. 2017)
STEP_FIELDS = (
    *("mean", "draw_squares", "log_prob", "probabilities", "rank", "covered", "spent"),
    "bin_probabilities",
)
SUMMARIES = (
    *("rmse", "draw_rmse", "nll", "accuracy", "auroc", "brier", "calibration_error", "coverage"),
    *("standard_error", "auic", "row_auic", "concordance", "uno_concordance", "integrated_brier"),
)


@dataclass(frozen=True, eq=False)
class Curves(SurvivalSummaries):
    """Predictions of simulated interviews for every row and step. Step 0 precedes the first question.

    Metrics have one entry per step. They use only the rows whose target is observed.

    Args:
        target: name of the predicted variable.
        questions: names of all questions.
        truth: true target of each row in the table's own numbers, levels as positions; NaN = not
            observed.
        mean: mean of the prediction, in the same numbers; NaN for a category, which has no mean.
        draw_squares: squared error averaged over posterior draws of z. A draw predicts the mean of the
            likelihood at its z, without the noise of the likelihood, as the paper's published code does.
            For a category, half the squared distance between the draw's probabilities and the truth.
        log_prob: log-likelihood of the true target in nats; a density in the target's units if the
            target is real.
        order: position in ``questions`` of the question asked at each step; -1 if none was asked.
        spent: total cost of the questions asked so far.
        probabilities: probability of each level; None for quantities.
        rank: predicted probability of a value below the truth (for counts, plus half the probability of
            the truth itself); uniform over rows if the model is calibrated. None for levels.
        covered: whether the central 90% interval contains the truth; None for levels.
        levels: levels of the target; empty for quantities.
        unit: unit of the target.
        survival: bins and horizons of a survival target; None for others. ``truth`` is then its time, and
            ``mean`` the predicted mean time up to the last edge. The error of a row, behind `rmse`, is the
            root of its part of the integrated Brier score.
        events: 1 if the event of a survival target happened, 0 if the row is censored.
        bin_probabilities: probability of each time bin of a survival target.
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
    survival: Survival | None = None
    events: Numbers | None = None  # [rows]
    bin_probabilities: Numbers | None = None  # [rows, steps + 1, bins]

    def __repr__(self) -> str:
        rows, auic = f"{len(self.truth):,} rows", f"{self.auic:.4g}"
        return f"<Curves of {self.target!r}: {rows}, {self.n_steps} questions, AUIC {auic}>"

    def _repr_html_(self) -> str:
        metrics = {"RMSE": self.rmse, "NLL": self.nll, "accuracy": self.accuracy}
        metrics |= {"concordance": self.concordance}
        shown = {name: values for name, values in metrics.items() if values is not None}
        rows = [
            (step, *(f"{values[step]:.4g}" for values in shown.values()), self._most_frequent(step))
            for step in range(self.n_steps + 1)
        ]
        return format_html_table(repr(self), ("asked", *shown, "most frequent question"), rows)

    def _most_frequent(self, step: int) -> str:
        """The question that was asked most often at a step, with its share of the rows."""
        if step == 0 or not self.asked[step - 1].any():
            return ""
        question = int(self.asked[step - 1].argmax())
        return f"{self.questions[question]} ({self.asked[step - 1, question] / self.n_rows:.0%})"

    @classmethod
    def concatenate(cls, parts: Sequence["Curves"]) -> "Curves":
        """Curves of consecutive rows as one. Shorter curves are padded to the longest."""
        n_steps = max(part.n_steps for part in parts)
        padded = [part.pad(n_steps) for part in parts]
        names = ("truth", "events", *STEP_FIELDS)
        columns = {name: [getattr(part, name) for part in padded] for name in names}
        rows: dict[str, Any] = {
            name: None if arrays[0] is None else np.concatenate(arrays)
            for name, arrays in columns.items()
        }
        return replace(parts[0], order=np.concatenate([part.order for part in padded]), **rows)

    @property
    def n_rows(self) -> int:
        return len(self.truth)

    @property
    def n_steps(self) -> int:
        """The largest number of questions asked of any row."""
        return int(self.order.shape[1])

    @cached_property
    def known(self) -> NDArray[np.bool_]:
        """Whether a row's target is observed, so that it counts in metrics [rows]."""
        return ~np.isnan(self.truth)

    @cached_property
    def n_asked(self) -> NDArray[np.int64]:
        """Number of questions asked of each row [rows]."""
        return np.asarray((self.order >= 0).sum(1))

    @cached_property
    def asked(self) -> NDArray[np.int64]:
        """Number of rows that were asked each question at each step [steps, questions]."""
        n_questions = len(self.questions)
        counts = [np.bincount(step[step >= 0], minlength=n_questions) for step in self.order.T]
        return np.array(counts, dtype=np.int64).reshape(-1, n_questions)

    @cached_property
    def errors(self) -> Numbers:
        """Error of each prediction [rows, steps + 1]; NaN if the target is not observed.

        The error is mean minus truth. Levels of a category have no distance. Its error is the distance
        between the probabilities and the truth, divided by the square root of 2. For two levels this is
        the same.
        """
        if self.survival_metrics is not None:
            errors = np.full(self.mean.shape, np.nan)
            errors[self.known] = np.sqrt(self.survival_metrics.brier_by_row)
            return errors
        if self.probabilities is None or not np.isnan(self.mean).all():
            return self.mean - self.truth[:, None]
        distance = np.sqrt(np.square(self.probabilities - self._true_levels).sum(-1) / 2)
        return np.where(self.known[:, None], distance, np.nan)

    @cached_property
    def rmse(self) -> Numbers:
        """Root mean squared error of the mean prediction [steps + 1]."""
        return self.metric("rmse")

    @cached_property
    def draw_rmse(self) -> Numbers:
        """The paper's RMSE: root mean squared error of posterior draws [steps + 1].

        Draws are decoder means (see ``draw_squares``). Their variance makes it larger than `rmse`.
        """
        return self.metric("draw_rmse")

    @cached_property
    def nll(self) -> Numbers:
        """Mean negative log-likelihood of the truth in nats [steps + 1]."""
        return self.metric("nll")

    @cached_property
    def accuracy(self) -> Numbers | None:
        """Share of rows whose most likely level is the true one [steps + 1]; None for quantities."""
        return None if self.probabilities is None else self.metric("accuracy")

    @cached_property
    def brier(self) -> Numbers | None:
        """Brier score [steps + 1]; None for quantities.

        The squared distance between probabilities and truth, halved for two levels: (p - y)².
        """
        return None if self.probabilities is None else self.metric("brier")

    @cached_property
    def auroc(self) -> Numbers | None:
        """Area under the ROC curve [steps + 1]; None for quantities.

        With two levels, the area of the second level. Otherwise the mean over levels of one level against
        the rest. Levels that no row or every row has are skipped; NaN if no level remains.
        """
        if self.probabilities is None:
            return None
        levels = [1] if len(self.levels) == 2 else range(len(self.levels))
        probabilities, truth = self.probabilities[self.known], self.truth[self.known]
        areas = [
            auroc(probabilities[..., level], truth == level)
            for level in levels
            if 0 < (truth == level).mean() < 1
        ]
        return np.mean(areas, axis=0) if areas else np.full(self.n_steps + 1, np.nan)

    @cached_property
    def coverage(self) -> Numbers | None:
        """Share of rows whose truth lies in the 90% interval [steps + 1]; None for levels."""
        if self.covered is None:
            return None
        return np.asarray(self.covered[self.known].mean(0))

    @cached_property
    def calibration_error(self) -> Numbers:
        """Difference between predicted confidence and observed frequency [steps + 1].

        Levels: expected calibration error over ten equal bins of the most likely level's probability.
        Quantities: distance between the coverage of the 90% interval and 90%. Survival: distance between the
        predicted and the Kaplan-Meier risk at its horizons, by groups of predicted risk.
        """
        if self.survival_metrics is not None and self.survival is not None:
            return self.survival_metrics.calibration_error(self.survival.shown_horizons)
        if self.coverage is not None:
            return np.abs(self.coverage - COVERAGE)
        assert self.probabilities is not None  # noqa: S101  # a target without coverage has levels
        confidence = self.probabilities[self.known].max(-1)
        return _expected_calibration_error(confidence, self.per_row("accuracy")[self.known])

    @cached_property
    def standard_error(self) -> Numbers:
        """Standard error of `rmse` over rows [steps + 1], by the delta method."""
        return self.standard_error_of("rmse")

    @property
    def auic(self) -> float:
        """Area under the information curve: the mean of `rmse` over all steps, including step 0."""
        return float(self.rmse.mean())

    @cached_property
    def row_auic(self) -> Numbers:
        """Area of each row: its absolute error averaged over the steps [rows]."""
        return self.row_area("rmse")

    def metric(self, metric: Metric) -> Numbers:
        """A metric at every step [steps + 1]."""
        return from_row_mean(metric, np.asarray(self.per_row(metric)[self.known].mean(0)))

    def row_area(self, metric: Metric) -> Numbers:
        """A metric of each row averaged over the steps [rows]; NaN if the target is not observed."""
        return np.asarray(self.row_values(metric).mean(1))

    def row_values(self, metric: Metric) -> Numbers:
        """A metric of each row alone [rows, steps + 1]."""
        return from_row_mean(metric, self.per_row(metric))

    def per_row(self, metric: Metric) -> Numbers:
        """The terms whose mean over rows, or its square root, is the metric [rows, steps + 1]."""
        if metric not in get_args(Metric):
            raise EvaluationError(
                f"there is no metric {metric!r}. Use one of {', '.join(get_args(Metric))}."
            )
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
        """Standard error of a metric over rows [steps + 1]; 0 if there is only one row."""
        values = self.per_row(metric)[self.known]
        if len(values) < 2:
            return np.zeros(values.shape[1])
        error_of_mean = np.asarray(values.std(0, ddof=1) / np.sqrt(len(values)))
        return from_row_error(metric, error_of_mean, values.mean(0))

    def by_cost(self, grid: ArrayLike) -> "Curves":
        """Curves over cost: step k is the last step at which a row had spent at most ``grid[k]``.

        ``order`` then contains the last question asked since the previous grid point, or -1.
        """
        points = np.atleast_1d(np.asarray(grid, dtype=np.float64))
        steps = np.stack([(self.spent <= point).sum(1) - 1 for point in points], axis=1)
        steps = np.clip(steps, 0, self.n_asked[:, None])  # [rows, points]
        rows = np.arange(self.n_rows)[:, None]
        order = np.concatenate([np.full((self.n_rows, 1), -1), self.order], axis=1)
        order = np.where(np.diff(steps, axis=1) > 0, order[rows, steps[:, 1:]], -1)
        return replace(self, order=order, **self._map_steps(lambda values: values[rows, steps]))

    def pad(self, n_steps: int) -> "Curves":
        """Extend the curves to ``n_steps`` steps. Every row keeps its last prediction."""
        if n_steps < self.n_steps:
            raise EvaluationError(
                f"cannot pad curves of {self.n_steps} steps to {n_steps}, which is fewer."
            )
        order = np.full((self.n_rows, n_steps - self.n_steps), -1, dtype=np.int64)
        return replace(
            self,
            order=np.concatenate([self.order, order], axis=1),
            **self._map_steps(lambda values: pad_steps(values, n_steps, axis=1)),
        )

    def to_document(self) -> dict[str, Any]:
        """All fields and metrics by name as plain JSON; NaN and infinity become null."""
        names = [*(field.name for field in fields(self)), *SUMMARIES]
        return {name: _to_json(getattr(self, name)) for name in names}

    def _map_steps(self, function: Any) -> dict[str, Any]:
        """Apply a function to every field that has a step axis."""
        arrays = {name: getattr(self, name) for name in STEP_FIELDS}
        return {name: None if array is None else function(array) for name, array in arrays.items()}

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
        """One-hot encoding of the true level [rows, 1, levels]."""
        return np.asarray(self.truth[:, None, None] == np.arange(len(self.levels)), dtype=np.float64)


def pad_steps(values: Numbers, n_steps: int, *, axis: int = -1) -> Numbers:
    """Repeat the last entry of an axis [steps + 1] until it covers ``n_steps`` steps.

    An interview that has stopped keeps its last prediction, so metrics of shorter and longer curves
    cover the same steps.
    """
    n_missing = n_steps + 1 - values.shape[axis]
    last = np.take(values, [-1], axis=axis)
    return np.concatenate([values, np.repeat(last, n_missing, axis=axis)], axis=axis)


def from_row_mean(metric: Metric, mean: Numbers) -> Numbers:
    """The metric, given the mean over rows of its terms (see `Curves.per_row`)."""
    return np.sqrt(mean) if metric in ROOT_METRICS else mean


def from_row_error(metric: Metric, error_of_mean: Numbers, mean: Numbers) -> Numbers:
    """Standard error of the metric, given that of the mean over rows (delta method for a root)."""
    if metric not in ROOT_METRICS:
        return error_of_mean
    root = np.sqrt(mean)
    # d sqrt(m) = dm / (2 sqrt(m)). If every error is zero, so is the standard error.
    return np.asarray(np.divide(error_of_mean, 2 * root, out=np.zeros_like(root), where=root > 0))


def bin_index(probability: Numbers) -> NDArray[np.int64]:
    """Index of the bin, out of `N_BINS` equal ones, that contains each probability; 1 is in the last."""
    return np.minimum((probability * N_BINS).astype(np.int64), N_BINS - 1)


def _expected_calibration_error(confidence: Numbers, is_correct: Numbers) -> Numbers:
    """Mean over bins of |accuracy - confidence|, weighted by rows [steps + 1].

    Both arguments are [rows, steps + 1].
    """
    bins = bin_index(confidence)
    gaps = [np.abs(np.where(bins == k, is_correct - confidence, 0.0).sum(0)) for k in range(N_BINS)]
    return np.asarray(np.sum(gaps, axis=0) / len(confidence))


def _to_json(value: Any) -> Any:
    if isinstance(value, Survival):
        return asdict(value)
    if isinstance(value, np.ndarray):
        return _to_json(value.tolist())
    if isinstance(value, Sequence) and not isinstance(value, str):
        return [_to_json(item) for item in value]
    return None if isinstance(value, float) and not np.isfinite(value) else value
