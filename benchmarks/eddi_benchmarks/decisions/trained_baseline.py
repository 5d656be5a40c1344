"""GDFS and DIME on a problem: its rows as tensors, training, and interviews as curves.

Missing values are replaced by the mean and masked. Neither paper defines a predictive distribution for a
real-valued target. Here it is normal, with the standard deviation of the errors on validation rows after
the same number of answers.
"""

import math
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from scipy import stats
from torch import Tensor

from eddi.evaluate.curves import Curves, Numbers
from eddi.model.prediction import COVERAGE
from eddi.table import columns, formats
from eddi.table.coding import Coding
from eddi.table.evidence import Evidence
from eddi.table.variable import Kind
from eddi_benchmarks.baselines.dime import Dime
from eddi_benchmarks.baselines.gdfs import Gdfs
from eddi_benchmarks.baselines.masked import (
    Layout,
    Rows,
    ScoreFunction,
    TrainingSettings,
    simulate_interviews,
)
from eddi_benchmarks.decisions.problem import Problem

VALIDATION_SHARE = 0.15  # of the training rows
MAX_VALIDATION_ROWS = 1_000
FIT_FUNCTIONS: Mapping[str, Callable[..., Gdfs | Dime]] = {"gdfs": Gdfs.fit, "dime": Dime.fit}


@dataclass(frozen=True)
class TableEncoder:
    """Encodes a table as standardised numbers, with one column per level of a category."""

    problem: Problem
    coding: Coding
    shift: Numbers  # [columns]
    scale: Numbers  # [columns]

    @classmethod
    def from_problem(cls, problem: Problem) -> "TableEncoder":
        """Learn the encoding from the training rows."""
        numbers = _read_numbers(problem, problem.train)
        coding = Coding.fit(problem.schema, numbers, "standard")
        unscaled = cls(problem, coding, np.zeros(1), np.ones(1))
        values, observed = unscaled._columns(coding.encode(numbers))
        values = np.where(observed, values, np.nan)
        scale = np.nanstd(values, axis=0)
        return cls(problem, coding, np.nanmean(values, axis=0), np.where(scale > 0, scale, 1.0))

    @cached_property
    def column_sources(self) -> list[tuple[int, int | None]]:
        """The variable of each column, and the level if it indicates one."""
        sources: list[tuple[int, int | None]] = []
        for position, variable in enumerate(self.problem.schema.variables):
            if variable.name == self.problem.target:
                continue
            levels = range(variable.n_levels) if variable.kind is Kind.CATEGORY else (None,)
            sources += [(position, level) for level in levels]
        return sources

    @cached_property
    def questions(self) -> list[int]:
        """Indices of the questions that do not reveal the target."""
        return [
            index
            for index, question in enumerate(self.problem.schema.questions)
            if self.problem.target not in question.reveals
        ]

    @cached_property
    def layout(self) -> Layout:
        variable = self.problem.schema[self.problem.target]
        reveals = self._reveals()[:, [position for position, _ in self.column_sources]]
        return Layout(torch.from_numpy(reveals.astype(np.float32)), variable.n_levels)

    def encode(self, evidence: Evidence) -> Rows:
        """Encode rows for the networks."""
        values, observed = self._columns(evidence)
        imputed = np.where(observed, (values - self.shift) / self.scale, 0.0)
        answerable = evidence.observed.astype(np.float32) @ self._reveals().T.astype(np.float32) > 0
        target = evidence.values[:, self.problem.schema.position(self.problem.target)]
        truth = torch.from_numpy(target)
        return Rows(
            torch.from_numpy(imputed.astype(np.float32)),
            torch.from_numpy(answerable),
            truth.long() if self.layout.n_levels else truth,
        )

    def evidence(self, table: object) -> Evidence:
        return self.coding.encode(_read_numbers(self.problem, table))

    def _columns(self, evidence: Evidence) -> tuple[Numbers, NDArray[np.bool_]]:
        """Values and mask [rows, columns]."""
        parts = [
            evidence.values[:, position]
            if level is None
            else evidence.values[:, position].round() == level
            for position, level in self.column_sources
        ]
        values = np.stack(parts, axis=1).astype(np.float64)
        return values, evidence.observed[:, [position for position, _ in self.column_sources]]

    def _reveals(self) -> NDArray[np.bool_]:
        """Which of `questions` reveals which variable [questions, variables]."""
        schema = self.problem.schema
        reveals = np.zeros((len(self.questions), len(schema.variables)), dtype=bool)
        for row, question in enumerate(self.questions):
            reveals[row, schema.positions(schema.questions[question].reveals)] = True
        return reveals


@dataclass(frozen=True)
class TrainedBaseline:
    """A trained GDFS or DIME model that interviews the held-out rows of its problem."""

    encoder: TableEncoder
    model: Gdfs | Dime
    error_sd: Numbers  # [steps + 1] of a real-valued target on validation rows, standardised
    seconds: float  # of training

    @classmethod
    def fit(
        cls, method: str, problem: Problem, *, seed: int, settings: TrainingSettings
    ) -> "TrainedBaseline":
        """Train on a part of the training rows, with early stopping by the others."""
        start = time.perf_counter()
        encoder = TableEncoder.from_problem(problem)
        order = np.random.default_rng([seed, 11]).permutation(len(problem.train))
        n_valid = min(MAX_VALIDATION_ROWS, math.ceil(VALIDATION_SHARE * len(order)))
        rows = encoder.encode(encoder.evidence(problem.train))
        valid, train = (rows[torch.from_numpy(part)] for part in (order[:n_valid], order[n_valid:]))
        model = FIT_FUNCTIONS[method](
            train,
            valid,
            layout=encoder.layout,
            n_steps=problem.n_steps,
            seed=seed,
            settings=settings,
        )
        error_sd = np.zeros(0) if problem.is_class else _error_sd(model, valid, problem.n_steps)
        return cls(encoder, model, error_sd, time.perf_counter() - start)

    def interview(self, *, per_cost: bool = False) -> Curves:
        """Interview the held-out rows."""
        problem = self.encoder.problem
        evidence = self.encoder.evidence(problem.test)
        rows = self.encoder.encode(evidence)
        score = self.score_function(per_cost=per_cost)
        masks, asked = simulate_interviews(rows, score, problem.n_steps)
        with torch.no_grad():
            outputs = [self.model.predictor(rows.columns, mask) for mask in masks]
        order = np.append(self.encoder.questions, -1)[asked.T.numpy()]  # [rows, steps]; -1 stays -1
        costs = np.append(problem.schema.costs, 0.0)[order]
        target = problem.schema[problem.target]
        truth = self.encoder.coding.decode(evidence.values)[:, problem.schema.position(target.name)]
        return Curves(
            target=target.name,
            questions=tuple(question.name for question in problem.schema.questions),
            levels=target.levels,
            truth=np.rint(truth) if problem.is_class else truth,
            order=order,
            spent=np.pad(costs.cumsum(1), ((0, 0), (1, 0))),
            **self._predictions(torch.stack(outputs, dim=1), rows),
        )

    def score_function(self, *, per_cost: bool = False) -> ScoreFunction:
        """The scores of the method, or these per unit of cost."""
        if not per_cost:
            return self.model.scores
        costs = torch.from_numpy(self.encoder.problem.schema.costs[self.encoder.questions]).float()
        return lambda columns, mask: self.model.scores(columns, mask) / costs

    @torch.no_grad()
    def decision_milliseconds(self, n_repeats: int = 30) -> float:
        """The median time of one decision for one row with half of its answers."""
        row = self.encoder.encode(self.encoder.evidence(self.encoder.problem.test.head(1)))
        mask = row.empty_mask
        mask[:, : mask.shape[1] // 2] = 1.0
        seconds = []
        for _ in range(n_repeats):
            start = time.perf_counter()
            self.model.scores(row.columns, mask).argmax()
            seconds.append(time.perf_counter() - start)
        return 1e3 * float(np.median(seconds))

    def _predictions(self, outputs: Tensor, rows: Rows) -> dict[str, Any]:
        """The fields of `Curves` from network outputs [rows, steps + 1, outputs]."""
        if self.encoder.problem.is_class:
            log_probabilities = torch.log_softmax(outputs.double(), dim=-1).numpy()
            return class_predictions(log_probabilities, rows.truth.numpy())
        return self._real_predictions(outputs[..., 0].double().numpy(), rows)

    def _real_predictions(self, mean: Numbers, rows: Rows) -> dict[str, Any]:
        problem, coding = self.encoder.problem, self.encoder.coding
        position = problem.schema.position(problem.target)
        shift, scale = coding.shift[position], coding.scale[position]
        errors = rows.truth.double().numpy()[:, None] - mean  # [rows, steps + 1]
        quantile = stats.norm.cdf(errors / self.error_sd)
        tail = (1 - COVERAGE) / 2
        return {
            "mean": mean * scale + shift,
            "draw_squares": np.square(errors * scale),
            "log_prob": stats.norm.logpdf(errors, scale=self.error_sd) - math.log(scale),
            "rank": quantile,
            "covered": (quantile >= tail) & (quantile <= 1 - tail),
        }


def class_predictions(log_probabilities: Numbers, truth: NDArray[np.int64]) -> dict[str, Any]:
    """The fields of `Curves` from log probabilities [rows, steps + 1, levels]."""
    probabilities, n_levels = np.exp(log_probabilities), log_probabilities.shape[-1]
    brier = np.square(probabilities - np.eye(n_levels)[truth][:, None]).sum(-1) / 2
    mean = probabilities[..., 1] if n_levels == 2 else np.full(brier.shape, np.nan)
    log_prob = np.take_along_axis(log_probabilities, truth[:, None, None], axis=-1)[..., 0]
    return {
        "mean": mean,
        "draw_squares": brier,
        "log_prob": log_prob,
        "probabilities": probabilities,
    }


@torch.no_grad()
def _error_sd(model: Gdfs | Dime, valid: Rows, n_steps: int) -> Numbers:
    """The root mean squared error on validation rows after each number of answers."""
    masks, _ = simulate_interviews(valid, model.scores, n_steps)
    squares = [
        (model.predictor(valid.columns, mask)[:, 0] - valid.truth).square().mean() for mask in masks
    ]
    return np.asarray(torch.stack(squares).double().sqrt().numpy())


def _read_numbers(problem: Problem, table: object) -> Numbers:
    return columns.table_to_numbers(formats.read(table), problem.schema)
