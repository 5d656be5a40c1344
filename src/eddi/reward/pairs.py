"""Which questions are still open for which rows, as flat pairs, so that no closed one costs time."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from eddi.table.schema import Schema

CACHED_SCHEMAS = 16  # whose edges are kept at hand


@dataclass(frozen=True)
class Pairs:
    """Pairs of a row and a question that would show it something new.

    A pair has one cell for each variable it would newly reveal; a pair's cells stand together.
    """

    rows: Tensor  # [pairs]
    questions: Tensor  # [pairs]
    cells: Tensor  # [cells] positions among all cells of all rows
    cell_variables: Tensor  # [cells]
    first_cell: NDArray[np.int64]  # [pairs + 1] where each pair's cells begin; last, where all end

    @classmethod
    def open(cls, schema: Schema, observed: NDArray[np.bool_], target: Sequence[int]) -> "Pairs":
        """Every pair whose question touches no target and reveals something unobserved."""
        question, variable = _edges(_Same(schema))  # [edges]
        is_target = np.zeros(observed.shape[1], dtype=bool)
        is_target[target] = True
        touching = np.zeros(len(schema.questions), dtype=bool)
        touching[question[is_target[variable]]] = True
        row, edge = np.nonzero(~(observed[:, variable] | touching[question]))  # [cells]
        cell_question, cell_variable = question[edge], variable[edge]
        starts = np.ones(len(edge), dtype=bool)
        starts[1:] = (row[1:] != row[:-1]) | (cell_question[1:] != cell_question[:-1])
        first = np.flatnonzero(starts)
        return cls(
            torch.from_numpy(row[first]),
            torch.from_numpy(cell_question[first]),
            torch.from_numpy(row * observed.shape[1] + cell_variable),
            torch.from_numpy(cell_variable),
            np.append(first, len(edge)),
        )

    def __len__(self) -> int:
        return len(self.rows)

    def to(self, device: torch.device) -> "Pairs":
        """The same pairs, ready to index tensors of that device."""
        tensors = (self.rows, self.questions, self.cells, self.cell_variables)
        return self if device.type == "cpu" else Pairs(*(t.to(device) for t in tensors), self.first_cell)

    def split(self, at_once: int) -> Iterator["Pairs"]:
        """The same pairs, at most ``at_once`` at a time."""
        if 0 < len(self) <= at_once:
            yield self
            return
        for start in range(0, len(self), at_once):
            stop = min(start + at_once, len(self))
            first = self.first_cell[start : stop + 1]
            cells = slice(int(first[0]), int(first[-1]))
            yield Pairs(
                self.rows[start:stop],
                self.questions[start:stop],
                self.cells[cells],
                self.cell_variables[cells],
                first - first[0],
            )

    def sum(self, by_cell: Tensor) -> Tensor:
        """Add up what the cells of each pair bring: [draws, cells, width] to [draws, pairs, width]."""
        if len(self.cells) == len(self):
            return by_cell
        owner = np.repeat(np.arange(len(self)), np.diff(self.first_cell))
        total = by_cell.new_zeros((len(by_cell), len(self), by_cell.shape[-1]))
        return total.index_add_(1, torch.from_numpy(owner).to(by_cell.device), by_cell)


class _Same:
    """A schema as a key by identity, since comparing hundreds of variables takes longer than asking."""

    def __init__(self, schema: Schema) -> None:
        self.schema = schema

    def __hash__(self) -> int:
        return id(self.schema)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Same) and self.schema is other.schema


@lru_cache(CACHED_SCHEMAS)
def _edges(key: _Same) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Question and variable of everything that any question may reveal, in question order."""
    edges = [
        (place, variable)
        for place, question in enumerate(key.schema.questions)
        for variable in key.schema.positions(question.reveals)
    ]
    question, variable = np.array(edges, dtype=np.int64).reshape(-1, 2).T.copy()
    return question, variable
