"""Enumerated answers: the possible answers of some rows to open questions, as flat tensors."""

from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from eddi.model.inference.answer_support import AnswerProbabilities, AnswerSupport
from eddi.model.inference.traced import is_tracing
from eddi.reward.candidates import RevealedVariables


@dataclass(frozen=True)
class EnumeratedAnswers:
    """Possible answers to open questions that reveal one variable."""

    rows: Tensor  # [answers] counted from the first of the selected rows
    places: Tensor  # [answers] among the answers of the support
    questions: Tensor  # [answers]
    variables: Tensor  # [answers]
    values: Tensor  # [answers] coded
    probabilities: Tensor  # [answers]
    depends_on_row: Tensor | None = None  # [answers] whether the value does; None if none does

    def __getitem__(self, part: slice) -> "EnumeratedAnswers":
        if part.start == 0 and len(self.rows) <= part.stop:
            return self
        fields = {name: field[part] for name, field in vars(self).items() if field is not None}
        return EnumeratedAnswers(**fields)

    @property
    def other(self) -> Tensor | None:
        """The answers that the support does not contain, since they depend on the row; None if none."""
        if self.depends_on_row is None:
            return None
        places = self.depends_on_row.nonzero()[:, 0]
        return places if is_tracing() or len(places) else None


@dataclass(frozen=True)
class AnswerColumns:
    """The possible answers to every question, one column each.

    A pair is a question and a variable that it reveals (see `RevealedVariables`).
    """

    pair: Tensor  # [columns]
    place: Tensor  # [columns] among the answers of the support
    question: Tensor  # [columns]
    variable: Tensor  # [columns]

    @classmethod
    def from_support(
        cls, support: AnswerSupport, revealed: RevealedVariables, device: torch.device
    ) -> "AnswerColumns":
        """The columns of all pairs."""
        count = support.count[revealed.variable]  # [pairs]
        pair = np.repeat(np.arange(len(count)), count)
        first = support.first[revealed.variable] - count.cumsum() + count
        place = np.arange(len(pair)) + first[pair]
        columns = (pair, place, revealed.question[pair], revealed.variable[pair])
        return cls(*(torch.from_numpy(column).to(device) for column in columns))

    def select(self, answers: AnswerProbabilities, is_open: Tensor, rows: slice) -> EnumeratedAnswers:
        """The answers of some rows to their open pairs [rows, pairs] that are possible."""
        if len(is_open) == 1:
            return self._select_of_row(answers, is_open)
        probabilities = answers.probabilities[rows].index_select(1, self.place)  # [rows, columns]
        is_candidate = is_open[rows].index_select(1, self.pair) & (probabilities > 0)
        index = is_candidate.flatten().nonzero()[:, 0]
        row, column = index // len(self.place), index % len(self.place)
        place = self.place.index_select(0, column)
        cell = row * answers.values.shape[1] + place
        depends_on_row = answers.depends_on_row
        if depends_on_row is not None:
            depends_on_row = depends_on_row[rows].flatten().index_select(0, cell)
        return EnumeratedAnswers(
            rows=row,
            places=place,
            questions=self.question.index_select(0, column),
            variables=self.variable.index_select(0, column),
            values=answers.values[rows].flatten().index_select(0, cell),
            probabilities=probabilities.flatten().index_select(0, index),
            depends_on_row=depends_on_row,
        )

    def _select_of_row(self, answers: AnswerProbabilities, is_open: Tensor) -> EnumeratedAnswers:
        """The same for a single row, with fewer operations."""
        probabilities = answers.probabilities[0].index_select(0, self.place)  # [columns]
        is_candidate = is_open[0].index_select(0, self.pair) & (probabilities > 0)
        column = is_candidate.nonzero()[:, 0]
        place = self.place.index_select(0, column)
        depends_on_row = answers.depends_on_row
        if depends_on_row is not None:
            depends_on_row = depends_on_row[0].index_select(0, place)
        return EnumeratedAnswers(
            rows=torch.zeros_like(place),
            places=place,
            questions=self.question.index_select(0, column),
            variables=self.variable.index_select(0, column),
            values=answers.values[0].index_select(0, place),
            probabilities=probabilities.index_select(0, column),
            depends_on_row=depends_on_row,
        )
