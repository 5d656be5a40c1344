"""GDFS and DIME on a problem: its rows as their networks take them, and their walks as curves.

Holes are filled with the mean and masked. Neither paper gives a quantity's belief a width, so here it is
normal, with the spread that the errors on validation rows have after as many answers.
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
from eddi_benchmarks.baselines.masked import Choose, Layout, Pace, Rows, walk
from eddi_benchmarks.decisions.problem import Problem

VALIDATION = 0.15  # share of the training rows that say when to stop
MOST_VALIDATION = 1_000  # rows; more would only take longer
FITS: Mapping[str, Callable[..., Gdfs | Dime]] = {"gdfs": Gdfs.fit, "dime": Dime.fit}


@dataclass(frozen=True)
class Sheet:
    """How a table becomes columns: numbers by their mean and sd, categories a column a level."""

    problem: Problem
    coding: Coding
    shift: Numbers  # [columns]
    scale: Numbers  # [columns]

    @classmethod
    def of(cls, problem: Problem) -> "Sheet":
        """Learned from the training rows."""
        numbers = _numbers(problem, problem.train)
        coding = Coding.fit(problem.schema, numbers, "standard")
        bare = cls(problem, coding, np.zeros(1), np.ones(1))
        values, observed = bare._columns(coding.encode(numbers))
        known = np.where(observed, values, np.nan)
        scale = np.nanstd(known, axis=0)
        return cls(problem, coding, np.nanmean(known, axis=0), np.where(scale > 0, scale, 1.0))

    @cached_property
    def owners(self) -> list[tuple[int, int | None]]:
        """Each column's variable, and its level where it stands for one."""
        found: list[tuple[int, int | None]] = []
        for place, variable in enumerate(self.problem.schema.variables):
            if variable.name == self.problem.target:
                continue
            levels = range(variable.n_levels) if variable.kind is Kind.CATEGORY else (None,)
            found += [(place, level) for level in levels]
        return found

    @cached_property
    def questions(self) -> list[int]:
        """Places of the questions that may be asked."""
        asked = enumerate(self.problem.schema.questions)
        return [place for place, question in asked if self.problem.target not in question.reveals]

    @cached_property
    def layout(self) -> Layout:
        variable = self.problem.schema[self.problem.target]
        reveals = self._revealed()[:, [place for place, _ in self.owners]]
        return Layout(torch.from_numpy(reveals.astype(np.float32)), variable.n_levels)

    def rows(self, evidence: Evidence) -> Rows:
        """Some rows for the networks."""
        values, observed = self._columns(evidence)
        filled = np.where(observed, (values - self.shift) / self.scale, 0.0)
        answerable = evidence.observed.astype(np.float32) @ self._revealed().T.astype(np.float32) > 0
        truth = torch.from_numpy(evidence.values[:, self.problem.schema.position(self.problem.target)])
        return Rows(
            torch.from_numpy(filled.astype(np.float32)),
            torch.from_numpy(answerable),
            truth.long() if self.layout.n_levels else truth,
        )

    def evidence(self, table: object) -> Evidence:
        return self.coding.encode(_numbers(self.problem, table))

    def _columns(self, evidence: Evidence) -> tuple[Numbers, NDArray[np.bool_]]:
        """Values and whether they are observed [rows, columns]."""
        parts = [
            evidence.values[:, place] if level is None else evidence.values[:, place].round() == level
            for place, level in self.owners
        ]
        values = np.stack(parts, axis=1).astype(np.float64)
        return values, evidence.observed[:, [place for place, _ in self.owners]]

    def _revealed(self) -> NDArray[np.bool_]:
        """Which question that may be asked reveals which variable [questions, variables]."""
        schema = self.problem.schema
        revealed = np.zeros((len(self.questions), len(schema.variables)), dtype=bool)
        for row, place in enumerate(self.questions):
            revealed[row, schema.positions(schema.questions[place].reveals)] = True
        return revealed


@dataclass(frozen=True)
class Peer:
    """A trained baseline, ready to interview."""

    sheet: Sheet
    made: Gdfs | Dime
    spread: Numbers  # [steps + 1] of a quantity's errors on validation rows, standardised
    seconds: float

    @classmethod
    def fit(cls, method: str, problem: Problem, *, seed: int, pace: Pace) -> "Peer":
        """Train on a part of the training rows, and stop by the rest of them."""
        began = time.perf_counter()
        sheet = Sheet.of(problem)
        order = np.random.default_rng([seed, 11]).permutation(len(problem.train))
        n_valid = min(MOST_VALIDATION, math.ceil(VALIDATION * len(order)))
        rows = sheet.rows(sheet.evidence(problem.train))
        valid, train = (rows[torch.from_numpy(part)] for part in (order[:n_valid], order[n_valid:]))
        made = FITS[method](train, valid, sheet.layout, problem.n_steps, seed=seed, pace=pace)
        spread = _spread(made, valid, problem.n_steps) if not problem.is_class else np.zeros(0)
        return cls(sheet, made, spread, time.perf_counter() - began)

    def interview(self, *, per_cost: bool = False) -> Curves:
        """Ask the held-out rows."""
        problem = self.sheet.problem
        evidence = self.sheet.evidence(problem.test)
        rows = self.sheet.rows(evidence)
        masks, asked = walk(rows, self.choose(per_cost=per_cost), problem.n_steps)
        with torch.no_grad():
            outputs = torch.stack([self.made.predictor(rows.columns, mask) for mask in masks], dim=1)
        places = np.append(self.sheet.questions, -1)[asked.T.numpy()]  # [rows, steps]; -1 stays -1
        paid = np.append(problem.schema.costs, 0.0)[places]
        target = problem.schema[problem.target]
        belief = self._levels(outputs, rows) if problem.is_class else self._quantity(outputs, rows)
        truth = self.sheet.coding.decode(evidence.values)[:, problem.schema.position(problem.target)]
        return Curves(
            target=target.name,
            questions=tuple(question.name for question in problem.schema.questions),
            levels=target.levels,
            truth=np.rint(truth) if problem.is_class else truth,
            order=places,
            spent=np.pad(paid.cumsum(1), ((0, 0), (1, 0))),
            **belief,
        )

    def choose(self, *, per_cost: bool = False) -> Choose:
        """The method's scores, or these per unit of cost."""
        if not per_cost:
            return self.made.scores
        costs = torch.from_numpy(self.sheet.problem.schema.costs[self.sheet.questions]).float()
        return lambda shown, mask: self.made.scores(shown, mask) / costs

    @torch.no_grad()
    def milliseconds(self, n_times: int = 30) -> float:
        """One decision for one row of which half is known; the median of several."""
        row = self.sheet.rows(self.sheet.evidence(self.sheet.problem.test.head(1)))
        mask = row.nothing
        mask[:, : mask.shape[1] // 2] = 1.0
        spent = []
        for _ in range(n_times):
            began = time.perf_counter()
            self.made.scores(row.columns, mask).argmax()
            spent.append(time.perf_counter() - began)
        return 1e3 * float(np.median(spent))

    def _quantity(self, outputs: Tensor, rows: Rows) -> dict[str, Any]:
        problem, coding = self.sheet.problem, self.sheet.coding
        position = problem.schema.position(problem.target)
        shift, scale = coding.shift[position], coding.scale[position]
        mean = outputs[..., 0].double().numpy()  # [rows, steps + 1]
        away = rows.truth.double().numpy()[:, None] - mean
        rank = stats.norm.cdf(away / self.spread)
        tail = (1 - COVERAGE) / 2
        return {
            "mean": mean * scale + shift,
            "draw_squares": np.square(away * scale),
            "log_prob": stats.norm.logpdf(away, scale=self.spread) - math.log(scale),
            "rank": rank,
            "covered": (rank >= tail) & (rank <= 1 - tail),
        }

    def _levels(self, outputs: Tensor, rows: Rows) -> dict[str, Any]:
        beliefs = torch.log_softmax(outputs.double(), dim=-1).numpy()  # [rows, steps + 1, levels]
        return level_beliefs(beliefs, rows.truth.numpy())


def level_beliefs(beliefs: Numbers, truth: NDArray[np.int64]) -> dict[str, Any]:
    """What `Curves` keeps of log probabilities [rows, steps + 1, levels]."""
    chances, n_levels = np.exp(beliefs), beliefs.shape[-1]
    away = np.square(chances - np.eye(n_levels)[truth][:, None]).sum(-1) / 2
    mean = chances[..., 1] if n_levels == 2 else np.full(away.shape, np.nan)
    log_prob = np.take_along_axis(beliefs, truth[:, None, None], axis=-1)[..., 0]
    return {"mean": mean, "draw_squares": away, "log_prob": log_prob, "probabilities": chances}


@torch.no_grad()
def _spread(made: Gdfs | Dime, valid: Rows, n_steps: int) -> Numbers:
    masks, _ = walk(valid, made.scores, n_steps)
    errors = [
        (made.predictor(valid.columns, mask)[:, 0] - valid.truth).square().mean() for mask in masks
    ]
    return np.asarray(torch.stack(errors).double().sqrt().numpy())


def _numbers(problem: Problem, table: object) -> Numbers:
    return columns.table_to_numbers(formats.read(table), problem.schema)
