"""Trees and linear models on a problem: a fixed greedy order, and a model for each prefix."""

import time
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from eddi.evaluate.curves import Curves
from eddi_benchmarks.baselines.fixed_order import (
    AnswerTable,
    BoostedTrees,
    ExtraTrees,
    FixedOrderModel,
    Learner,
    ShrunkLinear,
)
from eddi_benchmarks.decisions.baseline_curves import make_curves
from eddi_benchmarks.decisions.problem import Problem
from eddi_benchmarks.decisions.table_encoder import TableEncoder
from eddi_benchmarks.report.statistics import Numbers

LEARNERS: Mapping[str, Learner] = {
    "trees": BoostedTrees(),
    "extra_trees": ExtraTrees(),
    "linear": ShrunkLinear(),
}


@dataclass(frozen=True)
class FixedOrderBaseline:
    """A fitted order that interviews the held-out rows of its problem."""

    encoder: TableEncoder
    model: FixedOrderModel
    seconds: float  # of training

    @classmethod
    def fit(cls, method: str, problem: Problem, *, seed: int) -> "FixedOrderBaseline":
        """Choose the order and fit all prefixes on the training rows.

        The order has as many questions as an interview. If rows lack answers, it has all questions, so
        that a row can skip some.
        """
        start = time.perf_counter()
        encoder = TableEncoder.from_problem(problem)
        evidence = encoder.evidence(problem.train)
        columns = encoder.columns(evidence)
        train = AnswerTable(
            columns,
            truth=encoder.truth(evidence).astype(np.float64),
            reveals=encoder.layout.reveals.numpy() > 0,
            defaults=_default_values(encoder, columns),
            n_levels=encoder.layout.n_levels,
        )
        is_complete = encoder.answerable(evidence).all()
        n_ordered = problem.n_steps if is_complete else len(encoder.questions)
        model = FixedOrderModel.fit(LEARNERS[method], train, n_ordered=n_ordered, seed=seed)
        return cls(encoder, model, time.perf_counter() - start)

    def interview(self) -> Curves:
        """Interview the held-out rows."""
        problem = self.encoder.problem
        evidence = self.encoder.evidence(problem.test)
        asked, prefix = self.model.interview(self.encoder.answerable(evidence), problem.n_steps)
        outputs = self.model.predict(self.encoder.columns(evidence))  # [prefixes, rows, outputs]
        return make_curves(
            self.encoder,
            evidence,
            asked=asked,
            outputs=outputs[prefix, np.arange(len(prefix))[:, None]],
            error_sd=self.model.error_sd[prefix],
        )


def _default_values(encoder: TableEncoder, columns: Numbers) -> Numbers:
    """The median of each column [columns]; for the columns of a category, its most frequent level."""
    defaults = np.zeros(columns.shape[1])  # if a column has no value in the training rows
    has_value = ~np.isnan(columns).all(0)
    defaults[has_value] = np.nanmedian(columns[:, has_value], axis=0)
    by_category: dict[int, list[int]] = {}
    for column, (position, level) in enumerate(encoder.column_sources):
        if level is not None:
            by_category.setdefault(position, []).append(column)
    for indicators in by_category.values():
        frequency = np.nansum(columns[:, indicators], axis=0)
        defaults[indicators] = np.arange(len(indicators)) == frequency.argmax()
    return defaults
