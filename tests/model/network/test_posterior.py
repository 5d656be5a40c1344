"""The diagonal Gaussian over the latent."""

import torch
from torch.distributions import Independent, Normal, kl_divergence

from eddi.model.network.posterior import Posterior


def posterior(seed):
    torch.manual_seed(seed)
    return Posterior(torch.randn(3, 2, 5), torch.randn(3, 2, 5))


def as_torch(one):
    return Independent(Normal(one.mean, torch.exp(0.5 * one.log_var)), 1)


def test_kl_is_torchs_for_any_leading_shape():
    first, second = posterior(0), posterior(1)
    expected = kl_divergence(as_torch(first), as_torch(second))
    assert torch.allclose(first.kl(second), expected, rtol=1e-5)


def test_kl_from_the_prior_is_torchs():
    one = posterior(0)
    prior = Independent(Normal(torch.zeros(3, 2, 5), torch.ones(3, 2, 5)), 1)
    assert torch.allclose(one.kl_from_prior(), kl_divergence(as_torch(one), prior))


def test_kl_to_itself_is_nothing():
    assert torch.allclose(posterior(0).kl(posterior(0)), torch.zeros(3, 2), atol=1e-6)


def test_draws_have_the_posteriors_mean_and_sd():
    one = Posterior(torch.tensor([2.0, -1.0]), torch.log(torch.tensor([0.25, 4.0])))
    draws = one.draw(torch.randn(20_000, 2, generator=torch.Generator().manual_seed(0)))
    assert torch.allclose(draws.mean(0), one.mean, atol=0.05)
    assert torch.allclose(draws.std(0), torch.tensor([0.5, 2.0]), rtol=0.03)
