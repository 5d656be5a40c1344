"""Predictive distributions as mixtures over draws of z."""

import numpy as np
import pytest
import torch
from scipy import stats

from eddi.model.inference.predictive import PredictiveDistribution
from eddi.model.network.likelihood import VariableSpec
from eddi.model.network.network import Network
from eddi.model.recipe import DEFAULT, PAPER
from eddi.table.variable import Kind

SPECS = (
    VariableSpec(Kind.REAL, 0, 50.0, 8.0),
    VariableSpec(Kind.COUNT, 0, 1.0, 0.5),
    VariableSpec(Kind.BINARY, 2),
    VariableSpec(Kind.ORDINAL, 4),
    VariableSpec(Kind.CATEGORY, 3),
)


@pytest.fixture(scope="module")
def prediction():
    """Two rows with three draws of z that differ widely."""
    torch.manual_seed(0)
    network = Network(SPECS, "pnp", DEFAULT).requires_grad_(False)
    return PredictiveDistribution.from_outputs(network, 1.5 * torch.randn(3, 2, network.n_outputs))


def constant_level(level):
    """The same level for every row and variable."""
    return torch.full((2, len(SPECS)), level)


def components(prediction, row=0):
    """The normal distribution of the real variable for each draw."""
    sd = prediction.heads.likelihoods["real"].sd().item()
    return [stats.norm(draw[row, 0].item(), sd) for draw in prediction.outputs]


def test_the_moments_are_those_of_the_mixture(prediction):
    mean, sd = prediction.moments()
    draws = np.concatenate([part.rvs(200_000, random_state=7) for part in components(prediction)])
    assert mean[0, 0].item() == pytest.approx(50 + 8 * draws.mean(), rel=1e-3)
    assert sd[0, 0].item() == pytest.approx(8 * draws.std(), rel=1e-2)


def test_the_log_probability_is_that_of_the_mixture(prediction):
    values = torch.tensor([[0.3, 0.0, 1.0, 2.0, 1.0]]).expand(2, -1)
    expected = np.log(np.mean([part.pdf(0.3) for part in components(prediction)]))
    assert prediction.log_prob(values)[0, 0].item() == pytest.approx(expected, rel=1e-4)


@pytest.mark.parametrize("level", [0.05, 0.5, 0.95])
def test_the_quantiles_of_a_real_variable_are_those_of_the_mixture(prediction, level):
    found = prediction.quantile(constant_level(level), [0])[0, 0].item()
    assert np.mean([part.cdf(found) for part in components(prediction)]) == pytest.approx(
        level, abs=1e-4
    )


@pytest.mark.parametrize("level", [0.05, 0.5, 0.95])
def test_the_quantile_of_levels_is_the_first_level_that_reaches_the_probability(prediction, level):
    probabilities = dict(prediction.probabilities())
    for variable in (2, 3, 4):
        is_reached = probabilities[variable].cumsum(-1) >= level - 1e-6
        expected = is_reached.int().argmax(-1).float()
        found = prediction.quantile(constant_level(level), [variable])[:, 0]
        assert torch.allclose(found, expected, atol=1e-3)


def test_quantiles_are_in_the_requested_order(prediction):
    level = constant_level(0.3)
    both = prediction.quantile(level, [3, 0])
    assert torch.equal(both[:, 0], prediction.quantile(level, [3])[:, 0])
    assert torch.equal(both[:, 1], prediction.quantile(level, [0])[:, 0])


def test_the_interval_leaves_the_tail_mass_on_either_side(prediction):
    low, high = prediction.interval([0])
    assert torch.equal(low, prediction.quantile(constant_level(0.05), [0]))
    assert torch.equal(high, prediction.quantile(constant_level(0.95), [0]))


def test_only_variables_with_levels_have_probabilities(prediction):
    found = dict(prediction.probabilities())
    shapes = {variable: probabilities.shape for variable, probabilities in found.items()}
    assert shapes == {2: (2, 2), 3: (2, 4), 4: (2, 3)}
    assert all(torch.allclose(p.sum(-1), torch.ones(2)) for p in found.values())


def test_levels_coded_as_numbers_get_the_probability_nearest_to_their_position():
    torch.manual_seed(0)
    specs = (
        VariableSpec(Kind.REAL, 4, 0.0, 3.0),
        VariableSpec(Kind.REAL),
        VariableSpec(Kind.REAL, 2, 0.0, 1.0),
    )
    network = Network(specs, "pnp", PAPER).requires_grad_(False)
    outputs = torch.tensor([[[0.4, 0.0, 1.2]]])
    found = dict(PredictiveDistribution.from_outputs(network, outputs).probabilities())
    below = stats.norm(0.4, 0.1 * 2**0.5).cdf(np.array([0.5, 1.5, 2.5]) / 3)
    assert np.allclose(found[0][0], np.diff([0, *below, 1]), atol=1e-6)
    assert found[2].shape == (1, 2)
    assert found[2].sum().item() == pytest.approx(1)
    assert 1 not in found
