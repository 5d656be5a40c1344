"""The lookup table of terms: every variable finds its segment, whatever its kind."""

import torch

from eddi.model.network.term_table import NO_KNOT, TermGroup, TermTable

LINE = TermGroup(  # variable 1: 2 x + 1 for all x
    variables=torch.tensor([1]),
    counts=torch.tensor([1]),
    start=torch.zeros(1),
    height=torch.tensor([[1.0]]),
    slope=torch.tensor([[2.0]]),
)
LEVELS = TermGroup(  # variable 2: a category with three levels
    variables=torch.tensor([2]),
    counts=torch.tensor([3]),
    start=torch.zeros(3),
    height=torch.tensor([[5.0], [-6.0], [7.0]]),
    slope=torch.zeros(3, 1),
)
SPLINE = TermGroup(  # variable 0: 1 up to x = 0, then rising, then 9 from x = 2 on
    variables=torch.tensor([0]),
    counts=torch.tensor([3]),
    start=torch.tensor([0.0, 0.0, 2.0]),
    height=torch.tensor([[1.0], [1.0], [9.0]]),
    slope=torch.tensor([[0.0], [4.0], [0.0]]),
)
KNOTS = torch.tensor([[0.0, 2.0], [NO_KNOT, NO_KNOT], [NO_KNOT, NO_KNOT]])


def build_table(*, has_relu: bool = True) -> TermTable:
    by_level = torch.tensor([False, False, True])
    groups = [LINE, LEVELS, SPLINE]
    return TermTable.from_groups(groups, KNOTS, by_level=by_level, unit=None, has_relu=has_relu)


def test_each_value_is_looked_up_in_its_segment() -> None:
    values = torch.tensor([[-3.0, -3.0, 0.0], [1.0, 1.0, 1.0], [5.0, 0.0, 2.0]])
    terms = build_table(has_relu=False).term(values, torch.tensor([0, 1, 2]))[..., 0]
    assert terms.tolist() == [[1, -5, 5], [5, 3, -6], [9, 1, 7]]


def test_terms_with_a_relu_are_never_negative() -> None:
    values = torch.tensor([[0.0, -3.0, 1.0]])
    assert build_table().term(values, torch.tensor([0, 1, 2]))[0, :, 0].tolist() == [1, 0, 0]


def test_an_infinite_quantity_selects_no_level() -> None:
    terms = build_table().term(torch.tensor([[torch.inf]]), torch.tensor([1]))
    assert terms.isinf().all()
