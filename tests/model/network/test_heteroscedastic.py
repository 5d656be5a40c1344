"""Likelihoods with a scale from the network, against closed forms and sums."""

import pytest
import torch
from torch.distributions import Normal, kl_divergence

from eddi.model.network.heteroscedastic import HeteroscedasticCount, HeteroscedasticGaussian
from eddi.model.network.likelihood import VariableSpec
from eddi.table.variable import Kind

OUTPUTS = torch.tensor([[0.3, -1.0, 0.5, 2.0]], dtype=torch.float64)  # two means, two raw scales
OTHER = torch.tensor([[0.0, 0.7, -0.4, 1.0]], dtype=torch.float64)


@pytest.fixture
def gaussian():
    return HeteroscedasticGaussian([VariableSpec(Kind.REAL)] * 2, floor=0.02).double()


@pytest.fixture
def count():
    return HeteroscedasticCount([VariableSpec(Kind.COUNT, 0, 1.0, 0.5)], floor=0.02).double()


def test_the_log_probability_cdf_and_quantile_are_those_of_a_normal_distribution(gaussian):
    normal = Normal(*gaussian.mean_and_sd(OUTPUTS))
    values = torch.tensor([[1.1, -2.0]], dtype=torch.float64)
    torch.testing.assert_close(gaussian.log_prob(OUTPUTS, values), normal.log_prob(values))
    torch.testing.assert_close(gaussian.cdf(OUTPUTS, values), normal.cdf(values))
    level = torch.tensor([[0.1, 0.8]], dtype=torch.float64)
    torch.testing.assert_close(gaussian.quantile(OUTPUTS, level), normal.icdf(level))


def test_the_kl_is_that_of_normal_distributions(gaussian):
    expected = kl_divergence(*(Normal(*gaussian.mean_and_sd(outputs)) for outputs in (OUTPUTS, OTHER)))
    torch.testing.assert_close(gaussian.kl(OUTPUTS, OTHER), expected)


def test_the_validation_score_is_minus_the_continuous_ranked_probability_score(gaussian):
    truth = torch.tensor([[1.1, -2.0]], dtype=torch.float64)
    grid = torch.linspace(-40, 40, 200_001, dtype=torch.float64)[:, None, None]
    below = gaussian.cdf(OUTPUTS[None], grid.expand(-1, 1, 2))
    score = (below - (grid >= truth).double()).square().sum(0) * (grid[1] - grid[0])
    torch.testing.assert_close(-gaussian.validation_score(OUTPUTS, truth), score, rtol=1e-3, atol=1e-3)


def test_calibration_stretches_the_scale_and_does_not_move_the_mean(gaussian):
    mean, sd = gaussian.mean_and_sd(OUTPUTS)
    gaussian.calibration_params = torch.tensor([[3.0, 1.0], [1.0, 2.0]], dtype=torch.float64)
    calibrated_mean, calibrated_sd = gaussian.mean_and_sd(OUTPUTS)
    torch.testing.assert_close(calibrated_mean, mean)
    torch.testing.assert_close(calibrated_sd, torch.stack([3 * sd[:, 0], sd[:, 1] ** 2], dim=1))


def test_the_scale_cannot_fall_below_its_floor(gaussian, count):
    lowest = torch.full((1, 4), -1e4, dtype=torch.float64)
    assert gaussian.predictive_scale(lowest).tolist() == [pytest.approx([0.02, 0.02])]
    assert count.predictive_scale(lowest[:, :2]).tolist() == [pytest.approx([0.02])]


def test_the_kl_of_counts_is_the_sum_over_all_numbers(count):
    first, second = (
        torch.tensor([outputs], dtype=torch.float64) for outputs in ([0.6, -0.5], [0.1, -0.2])
    )
    coded = count._code(torch.arange(4_000, dtype=torch.float64))[:, None, None]
    log_p, log_q = (count.log_prob(outputs[None], coded) for outputs in (first, second))
    expected = (log_p.exp() * (log_p - log_q)).sum(0)
    torch.testing.assert_close(count.kl(first, second), expected, rtol=0.1, atol=0.01)


def test_the_mixture_of_normal_predictions_has_their_moments(gaussian):
    reference = torch.tensor([[0.2, 0.1, 0.3, -0.5]], dtype=torch.float64)
    weights = torch.tensor([0.3, 0.7], dtype=torch.float64)
    outputs = torch.cat([OUTPUTS, OTHER])
    means, sds = gaussian.mean_and_sd(outputs)
    mean = weights @ means
    sd = (weights @ (sds.square() + means.square()) - mean.square()).sqrt()
    expected = kl_divergence(Normal(mean, sd), Normal(*gaussian.mean_and_sd(reference)))[0]
    terms = (weights[:, None, None] * gaussian.divergence_terms(outputs, reference)).sum(0, keepdim=True)
    torch.testing.assert_close(gaussian.mixture_kl(terms[..., 1:], reference)[0], expected)


def test_the_mixture_of_counts_is_not_known(count):
    outputs = torch.tensor([[0.4, 0.1]], dtype=torch.float64)
    terms = count.divergence_terms(outputs, outputs + 1)
    assert terms.shape == (1, 1, 1)
    assert count.mixture_kl(terms[..., 1:], outputs).tolist() == [[0.0]]
