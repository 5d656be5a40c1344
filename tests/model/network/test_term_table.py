"""Pieces of lines: each variable finds its own, whatever its kind."""

import torch

from eddi.model.network.term_table import TermGroup, TermTable

LINE = TermGroup(  # variable 1: 2 x + 1, wherever x is
    variables=torch.tensor([1]),
    counts=torch.tensor([1]),
    start=torch.zeros(1),
    height=torch.tensor([[1.0]]),
    rise=torch.tensor([[2.0]]),
)
LEVELS = TermGroup(  # variable 2: a category of three levels
    variables=torch.tensor([2]),
    counts=torch.tensor([3]),
    start=torch.zeros(3),
    height=torch.tensor([[5.0], [-6.0], [7.0]]),
    rise=torch.zeros(3, 1),
)
CURVE = TermGroup(  # variable 0: flat at 1 up to 0, then rising, then flat again from 2 on
    variables=torch.tensor([0]),
    counts=torch.tensor([3]),
    start=torch.tensor([0.0, 0.0, 2.0]),
    height=torch.tensor([[1.0], [1.0], [9.0]]),
    rise=torch.tensor([[0.0], [4.0], [0.0]]),
)
KNOTS = torch.tensor([[0.0, 2.0], [torch.inf, torch.inf], [torch.inf, torch.inf]])


def pieces(*, bends: bool = True) -> TermTable:
    by_level = torch.tensor([False, False, True])
    return TermTable.of([LINE, LEVELS, CURVE], KNOTS, by_level=by_level, unit=None, bends=bends)


def test_each_value_finds_its_piece() -> None:
    values = torch.tensor([[-3.0, -3.0, 0.0], [1.0, 1.0, 1.0], [5.0, 0.0, 2.0]])
    terms = pieces(bends=False).term(values, torch.tensor([0, 1, 2]))[..., 0]
    assert terms.tolist() == [[1, -5, 5], [5, 3, -6], [9, 1, 7]]


def test_what_bends_is_never_below_zero() -> None:
    values = torch.tensor([[0.0, -3.0, 1.0]])
    assert pieces().term(values, torch.tensor([0, 1, 2]))[0, :, 0].tolist() == [1, 0, 0]


def test_the_code_of_one_row_is_the_sum_of_what_it_shows() -> None:
    values, observed = torch.tensor([[1.0, 1.0, 2.0]]), torch.tensor([[1.0, 0.0, 1.0]])
    assert pieces().code(values, observed, torch.tensor([0.5])).tolist() == [[5 + 7 + 0.5]]
    nothing = torch.zeros_like(observed)
    assert pieces().code(values, nothing, torch.tensor([0.5])).tolist() == [[0.5]]


def test_a_drawn_quantity_without_end_picks_no_level() -> None:
    terms = pieces().term(torch.tensor([[torch.inf]]), torch.tensor([1]))
    assert terms.isinf().all()
