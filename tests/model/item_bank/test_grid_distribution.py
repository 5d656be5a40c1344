"""The distribution on a grid behaves as a continuous distribution should."""

import pytest
import torch

from eddi.model.item_bank.grid_distribution import GridDistribution
from eddi.model.network.likelihood import VariableSpec
from eddi.table.variable import Kind

GRID = torch.linspace(-6, 6, 161, dtype=torch.float64)
SPEC = VariableSpec(Kind.REAL, shift=50.0, scale=10.0)
NORMAL = GridDistribution([SPEC], GRID[None])
MEAN, SD = 0.7, 0.8
OUTPUTS = -0.5 * ((GRID - MEAN) / SD).square()[None]  # [rows, points]


def test_moments_are_those_of_the_weights_in_reported_units():
    mean, variance = NORMAL.moments(OUTPUTS)
    assert float(mean) == pytest.approx(57)
    assert float(variance) == pytest.approx(64)


def test_a_quantile_inverts_the_distribution_function():
    level = torch.tensor([[0.05], [0.5], [0.99]], dtype=torch.float64)
    values = NORMAL.quantile(OUTPUTS, level)
    torch.testing.assert_close(NORMAL.cdf(OUTPUTS, values), level)
    assert float(values[1]) == pytest.approx(MEAN, abs=1e-4)


def test_the_density_is_that_of_the_normal_distribution():
    values = torch.tensor([[0.6], [-1.05]], dtype=torch.float64)
    expected = torch.distributions.Normal(MEAN, SD).log_prob(values)
    torch.testing.assert_close(NORMAL.log_prob(OUTPUTS, values), expected, atol=2e-3, rtol=0)


def test_the_divergence_of_two_normal_distributions_is_the_closed_form():
    other = -0.5 * GRID.square()[None]
    expected = 0.5 * (SD**2 + MEAN**2 - 1) - torch.log(torch.tensor(SD))
    assert float(NORMAL.kl(OUTPUTS, other)) == pytest.approx(float(expected), abs=1e-6)
