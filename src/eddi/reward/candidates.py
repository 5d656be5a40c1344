"""Candidate questions: which open question would reveal which variables of which row.

Rows and open questions are flat pairs, so that questions that are not open cost no time.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from eddi.model.base import NetworkModel

Mask = NDArray[np.bool_]


@dataclass(frozen=True)
class RevealedVariables:
    """The variables that each question reveals, for questions that do not reveal a target.

    Older measurements, which follow from earlier answers, are left out, and so are variables that
    predictions of the target ignore.
    Question and variable are parallel arrays, ordered by question.
    """

    question: NDArray[np.int64]
    variable: NDArray[np.int64]
    is_single: bool  # whether every question reveals one variable

    def find_open(self, observed: Mask, target: Sequence[int]) -> Mask:
        """Whether the question would reveal the unobserved variable to a row [rows, pairs].

        Rows whose target is fully observed have no open question.
        """
        is_done = observed[:, target].all(axis=1, keepdims=True)
        return np.asarray(~(observed[:, self.variable] | is_done))

    def find_only(self, is_open: Mask) -> Mask:
        """Whether the variable is the only one that the question would reveal [rows, pairs]."""
        if self.is_single or not len(self.question):
            return is_open
        starts = np.flatnonzero(np.append(True, self.question[1:] != self.question[:-1]))
        n_new = np.add.reduceat(is_open, starts, axis=1, dtype=np.int64)  # [rows, questions]
        owner = np.searchsorted(starts, np.arange(len(self.question)), side="right") - 1
        return np.asarray(is_open & (n_new[:, owner] == 1))

    @classmethod
    def from_model(cls, model: NetworkModel, target: Sequence[int]) -> "RevealedVariables":
        """The revealed variables for target variables at these positions; computed once per model."""
        key = tuple(target)
        return model.cache.get(("revealed_variables", key), lambda: cls._compute(model, set(key)))

    @classmethod
    def _compute(cls, model: NetworkModel, target: set[int]) -> "RevealedVariables":
        time, ignored = model.schema.time, model.find_ignored(sorted(target))
        derived = frozenset(() if time is None else time.derived_names())
        pairs = [
            (place, variable)
            for place, question in enumerate(model.schema.questions)
            if question.name not in derived
            if target.isdisjoint(positions := model.schema.positions(question.reveals))
            for variable in positions
            if variable not in ignored
        ]
        question, variable = np.array(pairs, dtype=np.int64).reshape(-1, 2).T.copy()
        return cls(question, variable, len(set(question.tolist())) == len(question))


@dataclass(frozen=True)
class CandidateCells:
    """Unobserved cells that open questions would reveal, ordered by row and question."""

    row: NDArray[np.int64]
    question: NDArray[np.int64]
    variable: NDArray[np.int64]
    n_variables: int
    is_single: bool  # whether every question reveals one variable

    @classmethod
    def from_observed(
        cls, model: NetworkModel, observed: NDArray[np.bool_], target: Sequence[int]
    ) -> "CandidateCells":
        """The cells of rows whose target is not fully observed [rows, variables]."""
        revealed = RevealedVariables.from_model(model, target)
        return cls.from_mask(revealed, revealed.find_open(observed, target), observed.shape[1])

    @classmethod
    def from_mask(cls, revealed: RevealedVariables, mask: Mask, n_variables: int) -> "CandidateCells":
        """The cells where ``mask`` [rows, pairs] of questions and variables is set."""
        row, pair = mask.nonzero()
        question, variable = revealed.question[pair], revealed.variable[pair]
        return cls(row, question, variable, n_variables, revealed.is_single)

    def is_first_cell(self) -> NDArray[np.bool_]:
        """Whether a cell is the first of its pair of row and question [cells]."""
        row, question = self.row, self.question
        return np.append(True, (row[1:] != row[:-1]) | (question[1:] != question[:-1]))[: len(row)]

    def is_only_cell(self) -> NDArray[np.bool_]:
        """Whether a cell is the only one of its pair [cells]."""
        first = self.is_first_cell()
        return np.asarray(first & np.append(first[1:], True)[: len(first)])

    def n_levels(self, n_levels: Mapping[int, int]) -> NDArray[np.int64]:
        """The number of levels of cells that are the only one of their pair, else 0 [cells]."""
        by_variable = np.zeros(self.n_variables, dtype=np.int64)
        by_variable[list(n_levels)] = list(n_levels.values())
        return np.where(self.is_only_cell(), by_variable[self.variable], 0)

    def where(self, mask: NDArray[np.bool_]) -> "CandidateCells":
        """The cells selected by ``mask``."""
        return replace(
            self, row=self.row[mask], question=self.question[mask], variable=self.variable[mask]
        )

    def pairs(self) -> "CandidatePairs":
        """The pairs of row and question that the cells belong to."""
        cells, variables = self.row * self.n_variables + self.variable, self.variable
        if self.is_single or (first := self.is_first_cell()).all():
            return CandidatePairs(*map(torch.from_numpy, (self.row, self.question, cells, variables)))
        pairs = (self.row[first], self.question[first], cells, variables, first.cumsum() - 1)
        return CandidatePairs(*map(torch.from_numpy, pairs))


@dataclass(frozen=True)
class CandidatePairs:
    """Pairs of a row and an open question, with the cells that the answer would reveal."""

    rows: Tensor  # [pairs]
    questions: Tensor  # [pairs]
    cells: Tensor  # [cells] positions among all cells of all rows; those of a pair are adjacent
    variables: Tensor  # [cells]
    owner: Tensor | None = None  # [cells] the cell's pair; None if every pair has one cell

    @classmethod
    def by_n_levels(
        cls,
        model: NetworkModel,
        observed: NDArray[np.bool_],
        target: Sequence[int],
        n_levels: Mapping[int, int],
    ) -> "dict[int, CandidatePairs]":
        """All candidate pairs, grouped by the number of levels of the answer.

        ``n_levels`` names the variables whose levels are enumerated. Pairs that reveal another variable,
        or several variables, are under 0.
        """
        cells = CandidateCells.from_observed(model, observed, target)
        if not n_levels:
            return {0: cells.pairs()}
        levels = cells.n_levels(n_levels)  # [cells]
        return {int(n): cells.where(levels == n).pairs() for n in np.unique(levels)}

    def __len__(self) -> int:
        return len(self.rows)

    def to(self, device: torch.device) -> "CandidatePairs":
        """The same pairs on another device."""
        if device.type == "cpu":
            return self
        moved = {name: value.to(device) for name, value in vars(self).items() if value is not None}
        return replace(self, **moved)

    def batches(self, size: int) -> Iterator[slice]:
        """Slices of at most ``size`` pairs."""
        return (slice(start, start + size) for start in range(0, len(self), size))

    def sum_cells(self, by_cell: Tensor) -> Tensor:
        """Sum over the cells of each pair: [draws, cells, width] to [draws, pairs, width]."""
        if self.owner is None:
            return by_cell
        total = by_cell.new_zeros((len(by_cell), len(self), by_cell.shape[-1]))
        return total.index_add_(1, self.owner, by_cell)
