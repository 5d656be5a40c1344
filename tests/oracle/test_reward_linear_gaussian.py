"""Both rewards of a linear-Gaussian model equal mutual informations in closed form.

With exact posteriors, the expected divergence caused by an answer is a mutual information:
E KL[p(z | x_i, x_O) || p(z | x_O)] = I(z; x_i | x_O), and likewise
E KL[p(z | x_phi, x_i, x_O) || p(z | x_phi, x_O)] = I(z; x_i | x_phi, x_O). By the chain rule

    I(z; x_i | x_O) - I(z; x_i | x_phi, x_O) = I(x_i; x_phi | x_O) - I(x_i; x_phi | z, x_O).

The last term is 0, because variables are independent given z. So the latent reward is I(x_i; x_phi | x_O),
which follows from the determinants of conditional covariances. The target reward adds the information
about each target variable, the sum of I(x_i; x_d | x_O) over d in phi.

The model below has such posteriors: every variable loads on one latent dimension, so they are diagonal,
and natural parameters (precision, precision times mean) are additive like codes.
"""

from dataclasses import dataclass

import numpy as np
import pytest
import torch
from torch.distributions import Normal, kl_divergence

from eddi import Schema, Variable
from eddi.model.cache import Cache
from eddi.model.inference.answer_support import AnswerProbabilities
from eddi.model.inference.frozen import Encoding
from eddi.model.inference.support_head import SupportOutputs
from eddi.model.network.features import Features
from eddi.model.network.posterior import Posterior
from eddi.model.network.quasi_random import joint_noise
from eddi.reward.mutual_information import mutual_information
from eddi.reward.paper.torch_backend import TorchBackend
from eddi.table.evidence import Evidence

DIMENSION = np.array([0, 0, 0, 1, 1, 1, 1, 2])  # the latent dimension that each variable loads on
LOADING = np.array([1.0, -0.8, 0.5, 1.2, 0.7, -0.4, 0.9, 1.0])
NOISE = np.array([0.5, 0.7, 0.4, 0.6, 0.5, 0.8, 1.0, 0.5])
N_VARIABLES, N_LATENT = len(DIMENSION), 3
N_DRAWS = 8_192
N_NODES = 8  # of the Gauss-Hermite quadrature over answers

LOADINGS = np.zeros((N_VARIABLES, N_LATENT))
LOADINGS[np.arange(N_VARIABLES), DIMENSION] = LOADING
COVARIANCE = LOADINGS @ LOADINGS.T + np.diag(NOISE**2)

SCHEMA = Schema(tuple(Variable(f"x{place}", "real") for place in range(N_VARIABLES)))
SCHEMA = SCHEMA.with_question("near", reveals=["x1", "x2"]).with_question("far", reveals=["x4", "x7"])


class FactorModel:
    """x_d = loading_d z_k(d) + noise_d; the code of a row is the natural parameters of its posterior."""

    schema = SCHEMA

    def __init__(self):
        self.cache = Cache()
        self.marginal_predictor = FactorPredictor()

    def code(self, evidence):
        terms = self.term(torch.from_numpy(evidence.values), torch.arange(N_VARIABLES))
        return (terms * torch.from_numpy(evidence.observed)[..., None]).sum(-2)

    def find_ignored(self, _variables):
        return ()

    def group_by_ignored(self, variables):
        return [variables]

    def relevant_evidence(self, evidence, _variables):
        return evidence

    def encode(self, evidence):
        return self.marginal_predictor.frozen.encode(self.code(evidence))

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
        noise, level = joint_noise(n_draws, N_LATENT, N_VARIABLES, seed=seed)
        z = posterior.draw(noise[:, None])
        errors = torch.special.ndtri(level)[:, None] * torch.tensor(NOISE).float()
        return z @ torch.from_numpy(LOADINGS.T).float() + errors

    def level_probabilities(self, *_, **__):
        return {}


def predict(code):
    """Mean and sd of every variable for natural parameters, each [..., variables]."""
    posterior = FactorModel.posterior(None, code)
    loadings = torch.from_numpy(LOADINGS.T).float()
    variance = posterior.log_var.exp() @ loadings.square() + torch.tensor(NOISE).float().square()
    return posterior.mean @ loadings, variance.sqrt()


class FactorPredictor:
    """Exact marginal predictions; hidden features are the code itself."""

    def __init__(self):
        self.frozen = FactorLayers()

    def target_head(self, target):
        return FactorTargetHead(list(target))

    def answer_support(self, _n_points):
        return FactorAnswers()

    def support_head(self, features):
        outputs = torch.cat(predict(features.inputs), dim=-1)  # means of all variables, then sds
        return SupportOutputs(outputs, outputs.new_zeros((len(outputs), 0, 0)))


class FactorLayers:
    """Layers that pass the code through."""

    factors = None
    device = torch.device("cpu")

    def first_layer(self, code):
        return code

    def first_layer_delta(self, terms):
        return terms

    def first_layer_term(self, values, variables):
        return FactorModel.term(None, values, variables)

    def factor_inputs(self, _values, _variables):
        return None

    def factor_posterior(self, _code):
        return None

    def features_from(self, first, _factors):
        return Features(first, None)

    def encode(self, code):
        return Encoding(code, code, None, Features(code, None))

    def features(self, code):
        return Features(code, None)

    def posterior_from_features(self, features):
        return FactorModel.posterior(None, features)


@dataclass(frozen=True)
class FactorTargetHead:
    """Exact predictions of the target variables."""

    target: list[int]

    @property
    def order(self):
        return torch.arange(len(self.target))

    @property
    def rows(self):
        return torch.tensor([*self.target, *(N_VARIABLES + place for place in self.target)])

    def __call__(self, features):
        mean, sd = predict(features.inputs)
        return torch.cat([mean[..., self.target], sd[..., self.target]], dim=-1)

    def kl_by_variable(self, after, before):
        return kl_divergence(Normal(*after.chunk(2, dim=-1)), Normal(*before.chunk(2, dim=-1)))

    def divergence_terms(self, after, before):
        (mean, sd), (mean2, sd2) = after.chunk(2, dim=-1), before.chunk(2, dim=-1)
        shift = (mean - mean2) / sd2
        moment = (sd / sd2).square() - 1 + shift.square()
        return [torch.stack([self.kl_by_variable(after, before), shift, moment], dim=-1)]

    def information_by_variable(self, mean_terms, before):
        """The second divergence is 0 here, because the mean of the exact predictions is the present one."""
        divergence, shift, moment = mean_terms[0].unbind(-1)
        mean, sd = before.chunk(2, dim=-1)
        mixed_sd = sd * (1 + moment - shift.square()).sqrt()
        mixture, present = Normal(mean + sd * shift, mixed_sd), Normal(mean, sd).expand(shift.shape)
        return divergence - kl_divergence(mixture, present)


class FactorAnswers:
    """Gauss-Hermite nodes of every variable's prediction: exact, since divergences are quadratic."""

    first = np.arange(N_VARIABLES) * N_NODES
    count = np.full(N_VARIABLES, N_NODES)
    terms = torch.zeros(N_VARIABLES * N_NODES, 2 * N_LATENT)  # all answers depend on the row
    inputs = None

    def enumerate(self, outputs):
        mean, sd = outputs.by_output.chunk(2, dim=-1)  # [rows, variables]
        nodes, weights = np.polynomial.hermite_e.hermegauss(N_NODES)
        values = mean[..., None] + sd[..., None] * torch.from_numpy(nodes).float()
        probabilities = torch.from_numpy(weights / weights.sum()).float().expand_as(values)
        depends_on_row = torch.ones_like(values, dtype=torch.bool)
        return AnswerProbabilities(
            values.flatten(1), probabilities.flatten(1), depends_on_row.flatten(1)
        )


def log_det(given, variables):
    """Log determinant of the covariance of ``variables`` given the variables ``given``."""
    cross = COVARIANCE[np.ix_(variables, given)]
    explained = cross @ np.linalg.solve(COVARIANCE[np.ix_(given, given)], cross.T) if given else 0
    return np.linalg.slogdet(COVARIANCE[np.ix_(variables, variables)] - explained)[1]


def exact_information(observed, target, question):
    """I(x_question; x_target | x_observed) in nats; observed variables give no information."""
    target = [place for place in target if place not in observed]
    question = [place for place in question if place not in observed]
    if not target or not question:
        return 0.0
    joint = log_det(observed, question + target)
    return 0.5 * (log_det(observed, question) + log_det(observed, target) - joint)


def draw_row(observed, seed=0):
    factors = np.random.default_rng(seed).normal(size=N_LATENT)
    noise = NOISE * np.random.default_rng(seed + 1).normal(size=N_VARIABLES)
    values = (LOADINGS @ factors + noise)[None].astype(np.float32)
    return Evidence(values, np.isin(np.arange(N_VARIABLES), observed)[None])


def latent_rewards(observed, target, *, n_draws=N_DRAWS, seed=0):
    backend = TorchBackend(FactorModel())
    return backend.rewards(draw_row(observed), list(target), n_draws=n_draws, seed=seed)[0]


def target_rewards(observed, target, *, n_draws=N_DRAWS, seed=0):
    names = [f"x{place}" for place in target]
    return mutual_information(FactorModel(), draw_row(observed), names, n_draws=n_draws, seed=seed)[0]


CASES = [
    ([], [0]),
    ([1], [0]),
    ([2, 3], [0]),
    ([], [3, 0]),
    ([4], [3, 5, 6]),
    ([0, 7], [1, 3]),
    ([0], [0, 3]),  # a part of the target is already observed
    ([4, 5, 6], [0, 3, 7]),
]
"""Observed variables, and target variables."""


def open_questions(target):
    """Each question that does not reveal a target: its place and the variables it reveals."""
    for place, question in enumerate(SCHEMA.questions):
        reveals = SCHEMA.positions(question.reveals)
        if not set(reveals) & set(target):
            yield place, reveals


@pytest.mark.parametrize(("observed", "target"), CASES)
def test_the_latent_reward_is_the_conditional_mutual_information(observed, target):
    rewards = latent_rewards(observed, target)
    expected = torch.zeros(len(SCHEMA.questions))
    for place, reveals in open_questions(target):
        expected[place] = exact_information(observed, target, reveals)
    torch.testing.assert_close(rewards, expected, atol=0.01, rtol=0)


@pytest.mark.parametrize(("observed", "target"), CASES)
def test_the_target_reward_is_the_sum_of_the_information_about_each_target_variable(observed, target):
    rewards = target_rewards(observed, target)
    expected = torch.zeros(len(SCHEMA.questions))
    for place, reveals in open_questions(target):
        expected[place] = sum(exact_information(observed, [d], reveals) for d in target)
    torch.testing.assert_close(rewards, expected, atol=0.01, rtol=0)


def test_the_cases_include_large_rewards():
    information = [
        exact_information(observed, target, reveals)
        for observed, target in CASES
        for _, reveals in open_questions(target)
    ]
    assert np.sum(np.array(information) > 0.05) >= 12
    assert max(information) > 0.4


@pytest.mark.parametrize("rewards", [latent_rewards, target_rewards])
def test_variables_that_load_on_other_dimensions_give_no_information(rewards):
    far = [question.name for question in SCHEMA.questions].index("far")
    assert float(rewards([], [0])[far]) == pytest.approx(0, abs=5e-3)


@pytest.mark.parametrize("rewards", [latent_rewards, target_rewards])
def test_the_mean_of_many_estimates_with_fifty_draws_is_unbiased(rewards):
    near = [question.name for question in SCHEMA.questions].index("near")
    estimates = [rewards([1], [0], n_draws=50, seed=seed)[near] for seed in range(60)]
    expected = exact_information([1], [0], [2])
    assert float(torch.stack(estimates).mean()) == pytest.approx(expected, abs=0.02)
