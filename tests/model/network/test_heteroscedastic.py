"""Likelihoods whose spread the network tells, against closed forms and sums."""

import pytest
import torch
from torch.distributions import Normal, kl_divergence

from eddi.model.network.heteroscedastic import HeteroscedasticCount, HeteroscedasticGaussian
from eddi.model.network.likelihood import VariableSpec
from eddi.table.variable import Kind


@pytest.fixture
def gaussian():
    return HeteroscedasticGaussian([VariableSpec(Kind.REAL)] * 2, floor=0.02).double()


def outputs(*rows):
    """Places and told spreads of two variables."""
    return torch.tensor(rows, dtype=torch.float64)


def test_a_normal_belief_has_the_normal_divergence(gaussian):
    one, other = outputs([0.3, -1.0, 0.5, 2.0]), outputs([0.0, 0.7, -0.4, 1.0])
    expected = kl_divergence(*(Normal(*gaussian.place_and_spread(each)) for each in (one, other)))
    torch.testing.assert_close(gaussian.kl(one, other), expected)


def test_the_examination_is_the_ranked_probability_score(gaussian):
    told = outputs([0.3, -1.0, 0.5, 2.0])
    truth = torch.tensor([[1.1, -2.0]], dtype=torch.float64)
    grid = torch.linspace(-40, 40, 200_001, dtype=torch.float64)[:, None, None]
    below = gaussian.cdf(told[None], grid.expand(-1, 1, 2))
    score = (below - (grid >= truth).double()).square().sum(0) * (grid[1] - grid[0])
    torch.testing.assert_close(-gaussian.validation_score(told, truth), score, rtol=1e-3, atol=1e-3)


def test_a_dial_stretches_a_spread_and_leaves_its_place(gaussian):
    told = outputs([0.3, -1.0, 0.5, 2.0])
    place, spread = gaussian.place_and_spread(told)
    gaussian.calibration_params = torch.tensor([[3.0, 1.0], [1.0, 2.0]], dtype=torch.float64)
    moved = gaussian.place_and_spread(told)
    torch.testing.assert_close(moved[0], place)
    torch.testing.assert_close(moved[1], torch.stack([3 * spread[:, 0], spread[:, 1] ** 2], dim=1))


def test_the_divergence_of_counts_is_the_sum_over_all_of_them():
    counts = HeteroscedasticCount([VariableSpec(Kind.COUNT, 0, 1.0, 0.5)], floor=0.02).double()
    one, other = outputs([0.6, -0.5]), outputs([0.1, -0.2])
    coded = counts._code(torch.arange(4_000, dtype=torch.float64))[:, None, None]
    log_one, log_other = (counts.log_prob(each[None], coded) for each in (one, other))
    expected = (log_one.exp() * (log_one - log_other)).sum(0)
    torch.testing.assert_close(counts.kl(one, other), expected, rtol=0.1, atol=0.01)
