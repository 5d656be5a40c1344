"""Contrasts of levels."""

import torch

from eddi.model.network.factors.level_contrasts import find_contrasts, standardise
from eddi.model.network.likelihood import VariableSpec
from eddi.table.variable import Kind


def test_a_quantity_is_standardised_over_its_weighted_values():
    values, weights = torch.tensor([1.0, 3.0, 9.0]), torch.tensor([1.0, 1.0, 0.0])
    column = standardise(values, weights, VariableSpec(Kind.REAL))
    assert column[:, 0].tolist() == [-1.0, 1.0, 0.0]


def test_a_category_has_a_column_per_level():
    column = standardise(torch.tensor([0.0, 2.0]), torch.ones(2), VariableSpec(Kind.CATEGORY, 3))
    assert column.shape == (2, 3)


def test_contrasts_separate_the_levels_whose_other_values_differ():
    levels = torch.tensor([0, 0, 1, 1, 2, 2])
    others = torch.tensor([-1.0, -1.2, 1.1, 0.9, 1.0, 1.0])[:, None].double()
    one_hot = torch.nn.functional.one_hot(levels, 3).double()
    contrasts = find_contrasts(one_hot, others, n_inputs=1)[:, 0]
    first, second, third = contrasts.tolist()
    assert abs(second - third) < 0.2 < abs(first - second)
