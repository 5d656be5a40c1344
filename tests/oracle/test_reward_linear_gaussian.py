"""In a linear-Gaussian model the information reward is a conditional mutual information in closed form.

With exact posteriors, the expected divergence from the posterior before an answer to the one after it is
a mutual information: E KL[p(z | x_i, x_O) || p(z | x_O)] = I(z; x_i | x_O), and likewise
E KL[p(z | x_phi, x_i, x_O) || p(z | x_phi, x_O)] = I(z; x_i | x_phi, x_O). By the chain rule

    I(z; x_i | x_O) - I(z; x_i | x_phi, x_O) = I(x_i; x_phi | x_O) - I(x_i; x_phi | z, x_O),

and the last term is 0, for given z the variables are independent. So the reward must be
I(x_i; x_phi | x_O), which the determinants of conditional covariances give.

The model below has such posteriors exactly: every variable loads on one latent dimension, so they are
diagonal, and natural parameters (precision, precision times mean) add up like codes.
"""

import numpy as np
import pytest
import torch

from eddi import Schema, Variable
from eddi.model.inference.predictive import uniform
from eddi.model.network.posterior import Posterior
from eddi.reward.paper.latent_information import information
from eddi.table.evidence import Evidence

DIMENSION = np.array([0, 0, 0, 1, 1, 1, 1, 2])  # which latent dimension each variable loads on
LOADING = np.array([1.0, -0.8, 0.5, 1.2, 0.7, -0.4, 0.9, 1.0])
NOISE = np.array([0.5, 0.7, 0.4, 0.6, 0.5, 0.8, 1.0, 0.5])
N_LATENT = 3
N_DRAWS = 8_192

LOADINGS = np.zeros((8, N_LATENT))
LOADINGS[np.arange(8), DIMENSION] = LOADING
COVARIANCE = LOADINGS @ LOADINGS.T + np.diag(NOISE**2)

SCHEMA = Schema(tuple(Variable(f"x{place}", "real") for place in range(8)))
SCHEMA = SCHEMA.with_question("near", reveals=["x1", "x2"]).with_question("far", reveals=["x4", "x7"])


class FactorModel:
    """x_d = loading_d z_k(d) + noise_d, with exact posteriors from additive natural parameters."""

    schema_ = SCHEMA

    def code(self, evidence):
        terms = self.term(torch.from_numpy(evidence.values), torch.arange(8))
        return (terms * torch.from_numpy(evidence.observed)[..., None]).sum(-2)

    def term(self, values, variables):
        variables = torch.as_tensor(variables)
        loading = torch.from_numpy(LOADINGS / NOISE[:, None] ** 2).float()[variables]
        precision = torch.from_numpy(LOADINGS**2 / NOISE[:, None] ** 2).float()[variables]
        shift = values[..., None] * loading
        return torch.cat([shift, precision.expand_as(shift)], dim=-1)

    def posterior(self, code):
        shift, precision = code[..., :N_LATENT], 1 + code[..., N_LATENT:]
        return Posterior(shift / precision, -precision.log())

    def draw(self, posterior, n_draws, *, seed):
        noise = torch.special.ndtri(uniform(n_draws, N_LATENT + 8, seed=seed))[:, None]
        z = posterior.draw(noise[..., :N_LATENT])
        return (
            z @ torch.from_numpy(LOADINGS.T).float()
            + noise[..., N_LATENT:] * torch.tensor(NOISE).float()
        )

    def chances(self, *_, **__):
        return {}

    alone_ = None
    direct_ = None


def log_det(given, wanted):
    """Log determinant of the covariance of ``wanted`` given ``given``."""
    cross = COVARIANCE[np.ix_(wanted, given)]
    known = cross @ np.linalg.solve(COVARIANCE[np.ix_(given, given)], cross.T) if given else 0
    return np.linalg.slogdet(COVARIANCE[np.ix_(wanted, wanted)] - known)[1]


def exact(seen, target, asked):
    """I(x_asked; x_target | x_seen) in nats; variables already seen tell nothing."""
    target = [place for place in target if place not in seen]
    asked = [place for place in asked if place not in seen]
    if not target or not asked:
        return 0.0
    both = log_det(seen, asked) + log_det(seen, target) - log_det(seen, asked + target)
    return 0.5 * both


def row(seen, seed=0):
    factors = np.random.default_rng(seed).normal(size=N_LATENT)
    values = (LOADINGS @ factors + NOISE * np.random.default_rng(seed + 1).normal(size=8))[None]
    return Evidence(values.astype(np.float32), np.isin(np.arange(8), seen)[None])


CASES = [
    ([], [0]),
    ([1], [0]),
    ([2, 3], [0]),
    ([], [3, 0]),
    ([4], [3, 5, 6]),
    ([0, 7], [1, 3]),
    ([0], [0, 3]),  # part of the target is already known
    ([4, 5, 6], [0, 3, 7]),
]
"""Variables seen, and those of the target."""


@pytest.mark.parametrize(("seen", "target"), CASES)
def test_the_reward_is_the_exact_conditional_mutual_information(seen, target):
    names = [f"x{place}" for place in target]
    found = information(FactorModel(), row(seen), names, n_draws=N_DRAWS, seed=0)[0]
    for question, reward in zip(SCHEMA.questions, found.tolist(), strict=True):
        asked = SCHEMA.positions(question.reveals)
        expected = 0.0 if set(asked) & set(target) else exact(seen, target, asked)
        assert reward == pytest.approx(expected, abs=0.01), question.name


def test_the_cases_include_rewards_large_enough_to_miss():
    values = [
        exact(seen, target, SCHEMA.positions(question.reveals))
        for seen, target in CASES
        for question in SCHEMA.questions
        if not set(SCHEMA.positions(question.reveals)) & set(target)
    ]
    assert np.sum(np.array(values) > 0.05) >= 12
    assert max(values) > 0.4


def test_what_loads_on_other_dimensions_tells_nothing():
    found = information(FactorModel(), row([]), ["x0"], n_draws=N_DRAWS, seed=0)[0]
    assert float(found[[q.name for q in SCHEMA.questions].index("far")]) == pytest.approx(0, abs=5e-3)


def test_fifty_draws_are_right_on_average():
    seeds = [information(FactorModel(), row([1]), ["x0"], n_draws=50, seed=s)[0] for s in range(60)]
    mean = torch.stack(seeds).mean(0)
    assert float(mean[SCHEMA.questions.index(SCHEMA.question("near"))]) == pytest.approx(
        exact([1], [0], [2]), abs=0.02
    )
