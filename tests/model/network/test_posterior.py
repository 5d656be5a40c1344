"""The diagonal Gaussian over the latent, against torch.distributions."""

import torch
from torch.distributions import Independent, Normal, kl_divergence

from eddi.model.network.posterior import Posterior


def draw_posterior(seed):
    torch.manual_seed(seed)
    return Posterior(torch.randn(3, 2, 5), torch.randn(3, 2, 5))


def to_torch(posterior):
    return Independent(Normal(posterior.mean, torch.exp(0.5 * posterior.log_var)), 1)


def test_the_kl_is_that_of_torch_for_any_leading_shape():
    first, second = draw_posterior(0), draw_posterior(1)
    expected = kl_divergence(to_torch(first), to_torch(second))
    assert torch.allclose(first.kl(second), expected, rtol=1e-5)


def test_the_kl_from_the_prior_is_that_of_torch():
    posterior = draw_posterior(0)
    prior = Independent(Normal(torch.zeros(3, 2, 5), torch.ones(3, 2, 5)), 1)
    assert torch.allclose(posterior.kl_from_prior(), kl_divergence(to_torch(posterior), prior))


def test_the_kl_of_a_posterior_from_itself_is_zero():
    assert torch.allclose(draw_posterior(0).kl(draw_posterior(0)), torch.zeros(3, 2), atol=1e-6)


def test_draws_have_the_mean_and_sd_of_the_posterior():
    posterior = Posterior(torch.tensor([2.0, -1.0]), torch.log(torch.tensor([0.25, 4.0])))
    draws = posterior.draw(torch.randn(20_000, 2, generator=torch.Generator().manual_seed(0)))
    assert torch.allclose(draws.mean(0), posterior.mean, atol=0.05)
    assert torch.allclose(draws.std(0), torch.tensor([0.5, 2.0]), rtol=0.03)
