"""The latent reward in plain PyTorch, the reference for the other back ends."""

import numpy as np
import pytest
import torch

from eddi.reward.paper import torch_backend
from eddi.reward.paper.options import JointDraws
from eddi.reward.paper.torch_backend import TorchBackend


@pytest.fixture
def rows(fitted, people):
    """Partially observed rows."""
    hidden = np.random.default_rng(1).random((12, 8)) < 0.6
    return fitted.evidence(people(12, 3)).hide(hidden)


@pytest.mark.parametrize("limit", ["BATCH_PASSES", "MAX_TERM_NUMBERS"])
@pytest.mark.parametrize("target", [["weight"], ["smoker"], ["age", "stage"]])
def test_the_size_of_a_batch_does_not_change_rewards(fitted, rows, target, limit, monkeypatch):
    positions = fitted.schema.positions(target)
    at_once = TorchBackend(fitted).rewards(rows, positions, n_draws=20, seed=0)
    monkeypatch.setattr(torch_backend, limit, 1)
    in_batches = TorchBackend(fitted).rewards(rows, positions, n_draws=20, seed=0)
    torch.testing.assert_close(in_batches, at_once, rtol=1e-5, atol=1e-5)


def test_the_reward_is_the_difference_of_two_divergences(fitted, rows):
    """Both terms, computed one question and one target at a time with `Posterior.kl`."""
    code = fitted.code(rows)
    draws = JointDraws.from_code(fitted, code, 7, seed=0)
    age, weight = (fitted.term(draws.values[..., [place]], [place])[..., 0, :] for place in (0, 5))
    first = fitted.posterior(code + age).kl(fitted.posterior(code)).mean(0)
    second = fitted.posterior(code + weight + age).kl(fitted.posterior(code + weight)).mean(0)
    rewards = TorchBackend(fitted).rewards(rows, [5], n_draws=7, seed=0)[:, 0]
    is_open = torch.from_numpy(~rows.observed[:, 0] & ~rows.observed[:, 5])
    assert is_open.any()
    torch.testing.assert_close(rewards[is_open], (first - second)[is_open], rtol=1e-5, atol=1e-5)
