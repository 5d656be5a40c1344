"""Supervised models on one fixed order of questions: boosted trees, extra trees and shrunk linear models.

The order is greedy: each question is the one whose answers most reduce the held-out loss of a quick fit.
Then a model is fitted to every prefix of the order, with hyperparameters chosen by the held-out loss. The
same order is asked of every row. A row that has no answer to a question skips it, and the model of the
longer prefix treats the answer as missing.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray
from scipy.stats import rankdata
from sklearn.dummy import DummyClassifier, DummyRegressor
from sklearn.ensemble import (
    ExtraTreesClassifier,
    ExtraTreesRegressor,
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
)
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler
from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]

Numbers = NDArray[np.float64]
Mask = NDArray[np.bool_]

N_FOLDS = 3
MAX_FOLD_ROWS = 400  # with more rows, one fold is accurate enough
MAX_SEARCH_ROWS = 1_000  # to choose the order
MIN_PROBABILITY = 1e-6  # of a level, such as one that is not in the training rows
TREE_ITERATIONS, TREE_LEAF_ROWS = (40, 150), (5, 20)
EXTRA_TREES, EXTRA_LEAF_ROWS, QUICK_EXTRA_TREES = 300, (1, 3, 10), 50
MANY_LEVELS = 3  # each boosting iteration fits a tree per level
LOGISTIC_C = (0.003, 0.03, 0.3, 3.0, 30.0)
RIDGE_ALPHA = (0.1, 1.0, 10.0, 100.0, 1000.0)  # of standardised columns


@dataclass(frozen=True)
class AnswerTable:
    """Rows with their answers as columns.

    Args:
        columns: values [rows, columns]; NaN where a row has no answer.
        truth: standardised number or index of a level [rows].
        reveals: which question reveals which column [questions, columns].
        defaults: the median, or the indicators of the mode, of each column [columns].
        n_levels: of the target; 0 for a real-valued target.
    """

    columns: Numbers
    truth: Numbers
    reveals: Mask
    defaults: Numbers
    n_levels: int

    def __len__(self) -> int:
        return len(self.truth)

    def __getitem__(self, rows: NDArray[np.int64] | Mask) -> "AnswerTable":
        columns, truth = self.columns[rows], self.truth[rows]
        return AnswerTable(columns, truth, self.reveals, self.defaults, self.n_levels)

    def columns_of(self, questions: Sequence[int]) -> Mask:
        """The columns that some of ``questions`` reveal."""
        return np.asarray(self.reveals[list(questions)].any(0))


class Learner(Protocol):
    """A family of estimators for any columns of a table."""

    def quick(self, table: AnswerTable, used: Mask) -> Any:
        """An estimator that is fast to fit, for choosing the order."""

    def candidates(self, table: AnswerTable, used: Mask) -> list[Any]:
        """Estimators with different hyperparameters."""


class BoostedTrees:
    """Histogram gradient boosting, which treats missing values as a value of their own."""

    def quick(self, table: AnswerTable, used: Mask) -> Any:  # noqa: ARG002  # works on any columns
        n_iterations = 20 if table.n_levels <= MANY_LEVELS else 10
        return _boosting(table, n_iterations, 10, learning_rate=0.2, max_leaf_nodes=8)

    def candidates(self, table: AnswerTable, used: Mask) -> list[Any]:  # noqa: ARG002
        return [
            _boosting(table, n_iterations, n_leaf_rows, learning_rate=0.1, max_leaf_nodes=16)
            for n_iterations in TREE_ITERATIONS
            for n_leaf_rows in TREE_LEAF_ROWS
        ]


class ExtraTrees:
    """Extremely randomised trees (Geurts et al. 2006), missing values imputed."""

    def quick(self, table: AnswerTable, used: Mask) -> Any:
        return self._estimator(table, used, n_trees=QUICK_EXTRA_TREES, n_leaf_rows=EXTRA_LEAF_ROWS[1])

    def candidates(self, table: AnswerTable, used: Mask) -> list[Any]:
        return [
            self._estimator(table, used, n_trees=EXTRA_TREES, n_leaf_rows=n_leaf_rows)
            for n_leaf_rows in EXTRA_LEAF_ROWS
        ]

    @staticmethod
    def _estimator(table: AnswerTable, used: Mask, *, n_trees: int, n_leaf_rows: int) -> Any:
        family = ExtraTreesClassifier if table.n_levels else ExtraTreesRegressor
        model = family(n_trees, min_samples_leaf=n_leaf_rows, max_features=1.0, random_state=0)
        return make_pipeline(_imputation(table, used), model)


class ShrunkLinear:
    """Ridge or logistic regression on standardised columns, missing values imputed."""

    def quick(self, table: AnswerTable, used: Mask) -> Any:
        return self._estimator(table, used, LogisticRegression() if table.n_levels else Ridge())

    def candidates(self, table: AnswerTable, used: Mask) -> list[Any]:
        models: list[Any] = (
            [LogisticRegression(C=c, max_iter=500) for c in LOGISTIC_C]
            if table.n_levels
            else [Ridge(alpha) for alpha in RIDGE_ALPHA]
        )
        return [self._estimator(table, used, model) for model in models]

    @staticmethod
    def _estimator(table: AnswerTable, used: Mask, model: Any) -> Any:
        return make_pipeline(_imputation(table, used), StandardScaler(), model)


def _imputation(table: AnswerTable, used: Mask) -> Any:
    defaults = table.defaults[used]
    return FunctionTransformer(lambda columns: np.where(np.isnan(columns), defaults, columns))


@dataclass(frozen=True)
class FixedOrderModel:
    """An order of questions and a model for each of its prefixes."""

    order: tuple[int, ...]
    predictors: tuple[Callable[[Numbers], Numbers], ...]  # of the prefixes, the empty one first
    error_sd: Numbers  # [prefixes] root mean squared held-out error of a real-valued target

    @classmethod
    def fit(
        cls, learner: Learner, train: AnswerTable, *, n_ordered: int, seed: int
    ) -> "FixedOrderModel":
        """Choose an order of ``n_ordered`` questions and fit a model to each prefix."""
        random = np.random.default_rng(seed)
        with threadpool_limits(1):  # a run uses one thread
            rows = random.permutation(len(train))[:MAX_SEARCH_ROWS]
            order = greedy_order(learner, train[rows], n_ordered, random)
            folds = list(make_folds(train, random))
            prefixes = [order[:length] for length in range(len(order) + 1)]
            fitted = [_fit_prefix(learner, train, prefix, folds) for prefix in prefixes]
        predictors, error_sd = zip(*fitted, strict=True)
        return cls(order, predictors, np.array(error_sd))

    def predict(self, columns: Numbers) -> Numbers:
        """Log probabilities or the mean, for each prefix [prefixes, rows, outputs]."""
        with threadpool_limits(1):
            return np.stack([predict(columns) for predict in self.predictors])

    def interview(self, answerable: Mask, n_steps: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Ask each row the first ``n_steps`` questions of the order that it can answer.

        Args:
            answerable: whether a row has an answer [rows, questions].
            n_steps: maximum number of questions.

        Returns:
            The questions asked [rows, steps], -1 if none was left, and the length of the prefix that
            they belong to [rows, steps + 1].
        """
        rank = answerable[:, self.order].cumsum(1)  # [rows, order]
        steps = np.arange(1, n_steps + 1)
        position = (rank[:, None] < steps[:, None]).sum(-1)  # of the answer of each step [rows, steps]
        is_asked = position < len(self.order)
        asked = np.append(self.order, -1)[position]
        prefix = np.maximum.accumulate(np.where(is_asked, position + 1, 0), axis=1)
        return asked, np.pad(prefix, ((0, 0), (1, 0)))


def greedy_order(
    learner: Learner, table: AnswerTable, n_ordered: int, random: np.random.Generator
) -> tuple[int, ...]:
    """Append the question that most reduces the held-out loss, ``n_ordered`` times."""
    folds = list(make_folds(table, random))
    order: list[int] = []
    while len(order) < n_ordered:
        losses = {
            question: held_out_loss(learner, table, [*order, question], folds)
            for question in range(len(table.reveals))
            if question not in order
        }
        order.append(min(losses, key=lambda question: losses[question]))
    return tuple(order)


def make_folds(table: AnswerTable, random: np.random.Generator) -> Iterator[tuple[Mask, Mask]]:
    """Masks of training and held-out rows, stratified by the target; one fold if there are many rows."""
    rank = rankdata(table.truth + 1e-9 * random.random(len(table)), method="ordinal")
    n_folds = N_FOLDS if len(table) <= MAX_FOLD_ROWS else 1
    for fold in range(n_folds):
        held_out = rank % N_FOLDS == fold
        yield ~held_out, held_out


def held_out_loss(
    learner: Learner, table: AnswerTable, questions: Sequence[int], folds: Sequence[tuple[Mask, Mask]]
) -> float:
    """The mean cross entropy or squared error of a quick fit on held-out rows."""
    used = table.columns_of(questions)
    return float(np.mean(_held_out_losses(learner.quick(table, used), table, used, folds)))


def _held_out_losses(
    estimator: Any, table: AnswerTable, used: Mask, folds: Sequence[tuple[Mask, Mask]]
) -> Numbers:
    """The loss of every held-out row."""
    parts = []
    for train, held_out in folds:
        outputs = _fit_estimator(estimator, table[train], used)(table.columns[held_out])
        parts.append(_losses(outputs, table.truth[held_out], table.n_levels))
    return np.concatenate(parts)


def _losses(outputs: Numbers, truth: Numbers, n_levels: int) -> Numbers:
    if not n_levels:
        return np.square(outputs[:, 0] - truth)
    return -outputs[np.arange(len(truth)), truth.astype(np.int64)]


def _fit_prefix(
    learner: Learner,
    table: AnswerTable,
    questions: Sequence[int],
    folds: Sequence[tuple[Mask, Mask]],
) -> tuple[Callable[[Numbers], Numbers], float]:
    """The estimator with the lowest held-out loss, fitted to all rows, and the root of that loss."""
    used = table.columns_of(questions)
    candidates = learner.candidates(table, used) if questions else [_constant(table)]
    losses = [float(np.mean(_held_out_losses(c, table, used, folds))) for c in candidates]
    best = int(np.argmin(losses))
    return _fit_estimator(candidates[best], table, used), losses[best] ** 0.5


def _fit_estimator(estimator: Any, table: AnswerTable, used: Mask) -> Callable[[Numbers], Numbers]:
    """Fit to the columns ``used``; returns a function from all columns to [rows, outputs]."""
    if not table.n_levels:
        regressor = estimator.fit(table.columns[:, used], table.truth)
        return lambda columns: np.asarray(regressor.predict(columns[:, used]))[:, None]
    classes = table.truth.astype(np.int64)
    if len(np.unique(classes)) == 1:
        estimator = _constant(table)
    classifier = estimator.fit(table.columns[:, used], classes)

    def predict(columns: Numbers) -> Numbers:
        probabilities = np.full((len(columns), table.n_levels), MIN_PROBABILITY)
        probabilities[:, classifier.classes_] += classifier.predict_proba(columns[:, used])
        return np.asarray(np.log(probabilities / probabilities.sum(1, keepdims=True)))

    return predict


def _constant(table: AnswerTable) -> Any:
    """A prediction that does not use any column."""
    return DummyClassifier(strategy="prior") if table.n_levels else DummyRegressor()


def _boosting(table: AnswerTable, n_iterations: int, n_leaf_rows: int, **settings: Any) -> Any:
    boosting = HistGradientBoostingClassifier if table.n_levels else HistGradientBoostingRegressor
    return boosting(
        max_iter=n_iterations,
        min_samples_leaf=n_leaf_rows,
        early_stopping=False,
        random_state=0,
        **settings,
    )
