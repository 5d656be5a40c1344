"""A problem's table as numbers for the baselines: one column per quantity, or per level of a category."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import torch
from numpy.typing import NDArray

from eddi.table import formats
from eddi.table.coding import Coding
from eddi.table.columns import table_to_numbers
from eddi.table.evidence import Evidence
from eddi.table.variable import Kind
from eddi_benchmarks.baselines.masked import Layout, Rows
from eddi_benchmarks.decisions.problem import Problem
from eddi_benchmarks.report.statistics import Numbers


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
        values = unscaled.columns(coding.encode(numbers))
        n_observed = np.maximum((~np.isnan(values)).sum(0), 1)  # a column may have no value
        mean = np.nansum(values, axis=0) / n_observed
        variance = np.nansum(np.square(values - mean), axis=0) / n_observed
        return cls(problem, coding, mean, np.where(variance > 0, np.sqrt(variance), 1.0))

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
        imputed = np.nan_to_num((self.columns(evidence) - self.shift) / self.scale, nan=0.0)
        truth = torch.from_numpy(self.truth(evidence))
        return Rows(
            torch.from_numpy(imputed.astype(np.float32)),
            torch.from_numpy(self.answerable(evidence)),
            truth.long() if self.layout.n_levels else truth,
        )

    def columns(self, evidence: Evidence) -> Numbers:
        """Values before standardisation [rows, columns], NaN where unobserved."""
        parts = [
            evidence.values[:, position]
            if level is None
            else evidence.values[:, position].round() == level
            for position, level in self.column_sources
        ]
        values = np.stack(parts, axis=1).astype(np.float64)
        observed = evidence.observed[:, [position for position, _ in self.column_sources]]
        return np.where(observed, values, np.nan)

    def answerable(self, evidence: Evidence) -> NDArray[np.bool_]:
        """Whether a row has an answer to each of `questions` [rows, questions]."""
        is_revealed = evidence.observed.astype(np.float32) @ self._reveals().T.astype(np.float32)
        return np.asarray(is_revealed > 0)

    def truth(self, evidence: Evidence) -> Numbers:
        """The target: standardised numbers, or indices of levels [rows]."""
        return np.asarray(evidence.values[:, self.problem.schema.position(self.problem.target)])

    def evidence(self, table: object) -> Evidence:
        return self.coding.encode(_read_numbers(self.problem, table))

    def _reveals(self) -> NDArray[np.bool_]:
        """Which of `questions` reveals which variable [questions, variables]."""
        schema = self.problem.schema
        reveals = np.zeros((len(self.questions), len(schema.variables)), dtype=bool)
        for row, question in enumerate(self.questions):
            reveals[row, schema.positions(schema.questions[question].reveals)] = True
        return reveals


def _read_numbers(problem: Problem, table: object) -> Numbers:
    return table_to_numbers(formats.read(table), problem.schema)
