"""Which questions are still open for which rows, as flat pairs, so that no closed one costs time."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from eddi.table.schema import Schema


@dataclass(frozen=True)
class Pairs:
    """Pairs of a row and a question that would show it something new.

    A pair has one cell for each variable it would newly reveal; a pair's cells stand together.
    """

    rows: Tensor  # [pairs]
    questions: Tensor  # [pairs]
    cell_rows: Tensor  # [cells]
    cell_variables: Tensor  # [cells]
    first_cell: NDArray[np.int64]  # [pairs + 1] where each pair's cells begin; last, where all end

    @classmethod
    def open(cls, schema: Schema, observed: NDArray[np.bool_], target: Sequence[int]) -> "Pairs":
        """Every pair whose question touches no target and reveals something unobserved."""
        question, variable = _edges(schema, set(target))  # [edges]
        cell_row, edge = np.nonzero(~observed[:, variable])
        cell_question = question[edge]
        is_first = np.ones(len(edge), dtype=bool)
        is_first[1:] = (np.diff(cell_row) != 0) | (np.diff(cell_question) != 0)
        first = np.flatnonzero(is_first)
        return cls(
            torch.from_numpy(cell_row[first]),
            torch.from_numpy(cell_question[first]),
            torch.from_numpy(cell_row),
            torch.from_numpy(variable[edge]),
            np.append(first, len(edge)),
        )

    def __len__(self) -> int:
        return len(self.rows)

    def split(self, at_once: int) -> Iterator["Pairs"]:
        """The same pairs, at most ``at_once`` at a time."""
        for start in range(0, len(self), at_once):
            stop = min(start + at_once, len(self))
            first = self.first_cell[start : stop + 1]
            cells = slice(int(first[0]), int(first[-1]))
            yield Pairs(
                self.rows[start:stop],
                self.questions[start:stop],
                self.cell_rows[cells],
                self.cell_variables[cells],
                first - first[0],
            )

    def sum(self, by_cell: Tensor) -> Tensor:
        """Add up what the cells of each pair bring: [draws, cells, width] to [draws, pairs, width]."""
        if len(self.cell_rows) == len(self):
            return by_cell
        owner = np.repeat(np.arange(len(self)), np.diff(self.first_cell))
        total = by_cell.new_zeros((len(by_cell), len(self), by_cell.shape[-1]))
        return total.index_add_(1, torch.from_numpy(owner).to(by_cell.device), by_cell)


def _edges(schema: Schema, target: set[int]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Question and variable of everything that any question may reveal, in question order."""
    edges = [
        (place, variable)
        for place, question in enumerate(schema.questions)
        if not target & set(positions := schema.positions(question.reveals))
        for variable in positions
    ]
    question, variable = np.array(edges, dtype=np.int64).reshape(-1, 2).T
    return question, variable
