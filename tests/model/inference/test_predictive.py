"""Mixtures over draws of z."""

import numpy as np
import pytest
import torch
from scipy import stats

from eddi.model.inference.predictive import PredictiveDistribution, standard_normal, uniform
from eddi.model.network.likelihood import VariableSpec
from eddi.model.network.network import Network
from eddi.model.network.posterior import Posterior
from eddi.model.recipe import DEFAULT, PAPER
from eddi.table.variable import Kind

FORMS = (
    VariableSpec(Kind.REAL, 0, 50.0, 8.0),
    VariableSpec(Kind.COUNT, 0, 1.0, 0.5),
    VariableSpec(Kind.BINARY, 2),
    VariableSpec(Kind.ORDINAL, 4),
    VariableSpec(Kind.CATEGORY, 3),
)


@pytest.fixture(scope="module")
def belief():
    """Two rows, three draws of z: beliefs that are clearly mixtures."""
    torch.manual_seed(0)
    network = Network(FORMS, "pnp", DEFAULT).requires_grad_(False)
    outputs = 1.5 * torch.randn(3, 2, network.n_outputs)
    return PredictiveDistribution(network, outputs, network.interval_tail_mass(outputs))


def every(level):
    """The same level for every row and variable."""
    return torch.full((2, len(FORMS)), level)


def parts(belief, row=0):
    """Each draw's own normal over the real variable."""
    sd = belief.network.likelihoods["real"].sd().item()
    return [stats.norm(draw[row, 0].item(), sd) for draw in belief.outputs]


def test_moments_are_those_of_the_mixture(belief):
    mean, sd = belief.moments()
    draws = np.concatenate([part.rvs(200_000, random_state=7) for part in parts(belief)])
    assert mean[0, 0].item() == pytest.approx(50 + 8 * draws.mean(), rel=1e-3)
    assert sd[0, 0].item() == pytest.approx(8 * draws.std(), rel=1e-2)


def test_log_prob_is_that_of_the_mixture(belief):
    values = torch.tensor([[0.3, 0.0, 1.0, 2.0, 1.0]]).expand(2, -1)
    expected = np.log(np.mean([part.pdf(0.3) for part in parts(belief)]))
    assert belief.log_prob(values)[0, 0].item() == pytest.approx(expected, rel=1e-4)


def test_quantiles_of_a_real_are_those_of_the_mixture(belief):
    for level in (0.05, 0.5, 0.95):
        found = belief.quantile(every(level), [0])[0, 0].item()
        assert np.mean([part.cdf(found) for part in parts(belief)]) == pytest.approx(level, abs=1e-4)


def test_quantiles_of_levels_are_the_first_level_that_reaches(belief):
    below = dict(belief.probabilities())
    for variable in (2, 3, 4):
        for level in (0.05, 0.5, 0.95):
            reached = below[variable].cumsum(-1) >= level - 1e-6
            expected = reached.int().argmax(-1).float()
            assert torch.allclose(belief.quantile(every(level), [variable])[:, 0], expected, atol=1e-3)


def test_quantiles_come_in_the_order_asked(belief):
    both = belief.quantile(every(0.3), [3, 0])
    assert torch.equal(both[:, 0], belief.quantile(every(0.3), [3])[:, 0])
    assert torch.equal(both[:, 1], belief.quantile(every(0.3), [0])[:, 0])


def test_probabilities_are_told_for_every_variable_of_levels_and_no_other(belief):
    found = dict(belief.probabilities())
    assert {variable: chances.shape for variable, chances in found.items()} == {
        2: (2, 2),
        3: (2, 4),
        4: (2, 3),
    }
    assert all(torch.allclose(chances.sum(-1), torch.ones(2)) for chances in found.values())


def test_levels_coded_as_numbers_take_the_belief_nearest_to_their_position():
    torch.manual_seed(0)
    specs = (
        VariableSpec(Kind.REAL, 4, 0.0, 3.0),
        VariableSpec(Kind.REAL),
        VariableSpec(Kind.REAL, 2, 0.0, 1.0),
    )
    network = Network(specs, "pnp", PAPER).requires_grad_(False)
    outputs = torch.tensor([[[0.4, 0.0, 1.2]]])
    found = dict(
        PredictiveDistribution(network, outputs, network.interval_tail_mass(outputs)).probabilities()
    )
    normal = stats.norm(0.4, 0.1 * 2**0.5)
    group_edges = normal.cdf(np.array([0.5, 1.5, 2.5]) / 3)
    expected = np.diff(np.concatenate([[0], group_edges, [1]]))
    assert np.allclose(found[0][0], expected, atol=1e-6)
    assert found[2].shape == (1, 2)
    assert found[2].sum().item() == pytest.approx(1)
    assert 1 not in found


def test_every_row_gets_the_same_draws_of_z():
    torch.manual_seed(0)
    network = Network(FORMS, "pnp", DEFAULT).requires_grad_(False)
    twice = Posterior(torch.zeros(2, DEFAULT.latent), torch.zeros(2, DEFAULT.latent))
    outputs = PredictiveDistribution.of(
        network, twice, standard_normal(8, DEFAULT.latent, seed=0)
    ).outputs
    assert torch.equal(outputs[:, 0], outputs[:, 1])
    assert outputs.std(0).min() > 0


def test_quasi_random_numbers_are_evener_than_chance():
    points = standard_normal(128, 4, seed=0)
    assert points.mean(0).abs().max() < 0.05
    assert (points.std(0) - 1).abs().max() < 0.05
    assert torch.corrcoef(points.T).fill_diagonal_(0).abs().max() < 0.15


def test_more_dimensions_than_sobol_has_still_get_numbers():
    points = uniform(3, 30_000, seed=0)
    assert points.shape == (3, 30_000)
    assert 0 < points.min() < points.max() < 1
    assert points.mean().item() == pytest.approx(0.5, abs=0.01)


def test_random_numbers_are_a_function_of_the_seed():
    assert torch.equal(uniform(4, 3, seed=1), uniform(4, 3, seed=1))
    assert not torch.equal(uniform(4, 3, seed=1), uniform(4, 3, seed=2))
