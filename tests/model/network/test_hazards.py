"""The likelihood of survival variables, by brute force."""

import numpy as np
import pytest
import torch

from eddi.model.network.hazards import N_EFFECTS, DiscreteHazard
from eddi.model.network.likelihood import VariableSpec
from eddi.table.survival.time_bins import SurvivalTimes
from eddi.table.variable import Kind
from eddi.testing import check_likelihood

N_BINS = [4, 7]


@pytest.fixture(scope="module")
def likelihood():
    """Two survival variables with different numbers of bins, in float64."""
    built = DiscreteHazard([VariableSpec(Kind.SURVIVAL, n) for n in N_BINS]).double()
    torch.manual_seed(0)
    built.log_base.copy_(torch.randn_like(built.log_base) - 1.5)
    return built


@pytest.fixture(scope="module")
def outputs(likelihood):
    """Outputs for five rows."""
    torch.manual_seed(1)
    return torch.randn(5, likelihood.n_outputs, dtype=torch.float64)


def hazards(likelihood, outputs, place):
    """The hazards of the bins of one variable, computed bin by bin [rows, bins - 1]."""
    own = outputs[:, N_EFFECTS * place : N_EFFECTS * (place + 1)].numpy()
    n = N_BINS[place] - 1
    x = 2 * (np.arange(n) + 0.5) / n - 1
    change = own[:, :1] + own[:, 1:2] * x + own[:, 2:] * (1.5 * x**2 - 0.5)
    return np.exp(likelihood.log_base[place, :n].numpy() + change)


def bin_probabilities(hazards):
    """The probabilities of the bins [rows, bins], by the product of survival over bins."""
    passed = np.ones(len(hazards))
    parts = []
    for column in hazards.T:
        parts.append(passed * (1 - np.exp(-column)))
        passed = passed * np.exp(-column)
    return np.stack([*parts, passed], axis=1)


def test_it_keeps_the_contract():
    check_likelihood(DiscreteHazard([VariableSpec(Kind.SURVIVAL, n) for n in N_BINS]), 2)


def test_probabilities_are_products_of_survival_over_bins(likelihood, outputs):
    for place, n in enumerate(N_BINS):
        expected = bin_probabilities(hazards(likelihood, outputs, place))
        found = likelihood.probabilities(outputs)[:, place]
        assert np.allclose(found[:, :n], expected)
        assert np.allclose(found[:, n:], 0.0)


def test_an_event_has_the_probability_of_its_bin(likelihood, outputs):
    probabilities = likelihood.probabilities(outputs)
    for position in range(4):
        values = torch.full((5, 2), float(position), dtype=torch.float64)
        assert torch.allclose(likelihood.log_prob(outputs, values).exp(), probabilities[..., position])


def test_a_censored_time_has_the_sum_of_all_later_probabilities(likelihood, outputs):
    probabilities = likelihood.probabilities(outputs)
    for position in range(4):
        values = torch.full((5, 2), position - 0.75, dtype=torch.float64)
        later = probabilities[..., position:].sum(-1)
        assert torch.allclose(likelihood.log_prob(outputs, values).exp(), later)


def test_a_part_of_a_bin_has_a_part_of_its_hazard(likelihood, outputs):
    values = torch.full((5, 2), 1 - 0.75 + 0.5 * 0.3, dtype=torch.float64)
    for place in range(2):
        own = hazards(likelihood, outputs, place)
        expected = np.exp(-own[:, 0] - 0.3 * own[:, 1])
        assert np.allclose(likelihood.log_prob(outputs, values).exp()[:, place], expected)


def test_the_divergence_is_the_sum_over_bins(likelihood, outputs):
    other = outputs.flip(0)
    for place, n in enumerate(N_BINS):
        p, q = (bin_probabilities(hazards(likelihood, out, place)) for out in (outputs, other))
        expected = (p * np.log(p / q)).sum(1)
        assert p.shape[1] == n
        assert np.allclose(likelihood.kl(outputs, other)[:, place], expected)


def test_hazards_without_covariates_are_those_of_kaplan_and_meier():
    random = np.random.default_rng(0)
    times = random.integers(1, 9, 200).astype(float)  # whole numbers: nobody is censored within a bin
    events = (random.random(200) < 0.6).astype(float)
    edges = tuple(np.arange(1.0, 9.0))
    numbers = SurvivalTimes(times, events).to_numbers(edges)
    built = DiscreteHazard([VariableSpec(Kind.SURVIVAL, len(edges) + 1)])
    built.init_from_data(torch.tensor(numbers)[:, None], torch.ones(200, 1, dtype=torch.bool))
    survival = 1 - built.probabilities(torch.zeros(1, N_EFFECTS))[0, 0, :-1].cumsum(-1)
    kaplan_meier = np.cumprod(
        [1 - ((times == t) & (events == 1)).sum() / (times >= t).sum() for t in edges]
    )
    assert np.allclose(survival, kaplan_meier, atol=1e-5)


def test_extreme_outputs_give_finite_likelihoods(likelihood):
    extreme = torch.tensor([[1e6] * 6, [-1e6] * 6], dtype=torch.float64)
    values = torch.tensor([[0.0, 3.0], [2.5, 5.25]], dtype=torch.float64)
    assert torch.isfinite(likelihood.log_prob(extreme, values)).all()
