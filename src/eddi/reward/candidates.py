"""Which questions are still open for which rows, as flat pairs, so that no closed one costs time."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from eddi.table.schema import Schema

Edges = tuple[NDArray[np.int64], NDArray[np.int64], bool]

MAX_KEPT = 16  # combinations of model, schema and target whose edges and openings are kept at hand


@dataclass(frozen=True)
class Pairs:
    """Pairs of a row and a question that would show it something new.

    A pair has one cell for each variable it would newly reveal; a pair's cells stand together.
    """

    rows: Tensor  # [pairs]
    questions: Tensor  # [pairs]
    cells: Tensor  # [cells] positions among all cells of all rows
    variables: Tensor  # [cells]
    owner: Tensor | None = None  # [cells] which pair; None where every pair has one cell

    @classmethod
    def open(
        cls,
        schema: Schema,
        observed: NDArray[np.bool_],
        target: Sequence[int],
        n_levels: Mapping[int, int],
    ) -> "dict[int, Pairs]":
        """Every pair whose question touches no target and could tell something about it.

        That is, it reveals something unobserved, and the target is not all observed. The pairs are
        sorted by the number of levels of the answer, where ``n_levels`` names one for its only
        variable, and lie under 0 otherwise.
        """
        cells = Cells.open(schema, observed, target)
        if not n_levels:
            return {0: cells.pairs()}
        levels = cells.levels(n_levels)  # [cells]
        return {int(n): cells.where(levels == n).pairs() for n in np.unique(levels)}

    def __len__(self) -> int:
        return len(self.rows)

    def to(self, device: torch.device) -> "Pairs":
        """The same pairs, ready to index tensors of that device."""
        if device.type == "cpu":
            return self
        moved = {name: value.to(device) for name, value in vars(self).items() if value is not None}
        return replace(self, **moved)

    def split(self, at_once: int) -> Iterator[slice]:
        """Where to cut the pairs so that at most ``at_once`` stand together."""
        return (slice(start, start + at_once) for start in range(0, len(self), at_once))

    def sum(self, by_cell: Tensor) -> Tensor:
        """Add up what the cells of each pair bring: [draws, cells, width] to [draws, pairs, width]."""
        if self.owner is None:
            return by_cell
        total = by_cell.new_zeros((len(by_cell), len(self), by_cell.shape[-1]))
        return total.index_add_(1, self.owner, by_cell)


@dataclass(frozen=True)
class Cells:
    """Cells that open questions would reveal, in the order of rows and questions."""

    row: NDArray[np.int64]
    question: NDArray[np.int64]
    variable: NDArray[np.int64]
    n_variables: int
    single: bool  # whether every question reveals one variable

    @classmethod
    def open(cls, schema: Schema, observed: NDArray[np.bool_], target: Sequence[int]) -> "Cells":
        """What questions that touch no target would newly show of rows whose target is open."""
        question, variable, single = edges(schema, target)  # [edges]
        done = observed[:, target].all(axis=1, keepdims=True)  # of such a row nothing is left to tell
        row, edge = (~(observed[:, variable] | done)).nonzero()
        return cls(row, question[edge], variable[edge], observed.shape[1], single)

    def split(self) -> "tuple[Cells, Cells | None]":
        """Those of questions that would show one variable, and those of the others if there are any."""
        if self.single:
            return self, None
        alone = self.is_alone()
        return self.where(alone), self.where(~alone)

    def is_first(self) -> NDArray[np.bool_]:
        """Whether a cell is the first of its pair [cells]."""
        row, question = self.row, self.question
        return np.append(True, (row[1:] != row[:-1]) | (question[1:] != question[:-1]))[: len(row)]

    def is_alone(self) -> NDArray[np.bool_]:
        """Whether a cell is its pair's only one [cells]."""
        first = self.is_first()
        return np.asarray(first & np.append(first[1:], True)[: len(first)])

    def levels(self, n_levels: Mapping[int, int]) -> NDArray[np.int64]:
        """The number of levels where a cell is its pair's only one, else 0 [cells]."""
        by_variable = np.zeros(self.n_variables, dtype=np.int64)
        by_variable[list(n_levels)] = list(n_levels.values())
        return np.where(self.is_alone(), by_variable[self.variable], 0)

    def where(self, kept: NDArray[np.bool_]) -> "Cells":
        return replace(
            self, row=self.row[kept], question=self.question[kept], variable=self.variable[kept]
        )

    def pairs(self) -> Pairs:
        cells, variables = self.row * self.n_variables + self.variable, self.variable
        if self.single or (first := self.is_first()).all():
            return Pairs(*map(torch.from_numpy, (self.row, self.question, cells, variables)))
        pairs = (self.row[first], self.question[first], cells, variables, first.cumsum() - 1)
        return Pairs(*map(torch.from_numpy, pairs))


class Same:
    """A schema as a key by identity, since comparing hundreds of variables takes longer than asking."""

    def __init__(self, schema: Schema) -> None:
        self.schema = schema

    def __hash__(self) -> int:
        return id(self.schema)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Same) and self.schema is other.schema


def edges(schema: Schema, target: Sequence[int]) -> Edges:
    """Question and variable of all that questions not touching the target may reveal, in order.

    Last, whether each of them reveals only one.
    """
    return _edges(Same(schema), tuple(target))


@lru_cache(MAX_KEPT)
def _edges(key: Same, target: tuple[int, ...]) -> Edges:
    edges = [
        (place, variable)
        for place, question in enumerate(key.schema.questions)
        if set(target).isdisjoint(positions := key.schema.positions(question.reveals))
        for variable in positions
    ]
    question, variable = np.array(edges, dtype=np.int64).reshape(-1, 2).T.copy()
    return question, variable, len(set(question.tolist())) == len(question)
