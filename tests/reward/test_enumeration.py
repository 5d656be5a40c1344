"""Enumerated answers to open questions."""

import numpy as np
import torch

from eddi.model.inference.answer_support import AnswerProbabilities, AnswerSupport
from eddi.reward.candidates import RevealedVariables
from eddi.reward.enumeration import AnswerColumns

REVEALED = RevealedVariables(question=np.array([0, 1]), variable=np.array([2, 0]), is_single=True)
SUPPORT = AnswerSupport(
    head=None,
    parts=(),
    first=np.array([0, 2, 4]),
    count=np.array([2, 2, 3]),
    terms=torch.zeros(7, 1),
    inputs=None,
)


def columns():
    return AnswerColumns.from_support(SUPPORT, REVEALED, torch.device("cpu"))


def answers(depends_on_row=None):
    """Answers of two rows; the second answer to variable 2 is impossible for the first row."""
    values = torch.arange(14.0).view(2, 7)
    probabilities = torch.full((2, 7), 0.5)
    probabilities[0, 5] = 0.0
    return AnswerProbabilities(values, probabilities, depends_on_row)


def test_every_pair_has_the_answers_to_its_variable():
    assert columns().pair.tolist() == [0, 0, 0, 1, 1]
    assert columns().place.tolist() == [4, 5, 6, 0, 1]


def test_open_and_possible_answers_are_selected_with_their_values():
    is_open = torch.tensor([[True, True], [False, True]])
    selected = columns().select(answers(), is_open, slice(0, 2))
    assert selected.rows.tolist() == [0, 0, 0, 0, 1, 1]
    assert selected.questions.tolist() == [0, 0, 1, 1, 1, 1]
    assert selected.values.tolist() == [4, 6, 0, 1, 7, 8]
    assert selected.other is None


def test_rows_are_counted_from_the_first_selected_row():
    is_open = torch.ones((2, 2), dtype=torch.bool)
    selected = columns().select(answers(), is_open, slice(1, 2))
    assert set(selected.rows.tolist()) == {0}
    assert selected.values.tolist() == [11, 12, 13, 7, 8]


def test_answers_that_depend_on_the_row_are_found():
    depends_on_row = torch.zeros((2, 7), dtype=torch.bool)
    depends_on_row[1, 4:] = True
    is_open = torch.ones((2, 2), dtype=torch.bool)
    selected = columns().select(answers(depends_on_row), is_open, slice(0, 2))
    assert selected.values[selected.other].tolist() == [11, 12, 13]
