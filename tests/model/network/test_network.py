"""The torch module: layer sizes, and posteriors from codes."""

from dataclasses import replace

import numpy as np
import pytest
import torch

from eddi.model.network.likelihood import VariableSpec
from eddi.model.network.network import LOG_VAR_RANGE, Network
from eddi.model.recipe import DEFAULT, PAPER
from eddi.model.training.loop import train
from eddi.model.training.objective import Batch, loss
from eddi.table.evidence import Evidence
from eddi.table.variable import Kind

TINY = replace(DEFAULT, latent=2, identity=3, term=4, hidden=(6, 6))
SPECS = (VariableSpec(Kind.CATEGORY, 3), VariableSpec(Kind.REAL), VariableSpec(Kind.COUNT, 0, 1.0, 0.5))
ENCODERS = ("zi", "zi-m", "pn", "pnp")


@pytest.fixture
def network():
    torch.manual_seed(0)
    return Network(SPECS, "pnp", TINY).requires_grad_(False)


def test_the_log_variance_of_a_posterior_is_bounded_for_any_code(network):
    extreme = network.posterior(torch.tensor([[1e6, -1e6, 1e6, 1e6]]))
    assert (extreme.log_var >= LOG_VAR_RANGE[0]).all()
    assert (extreme.log_var <= LOG_VAR_RANGE[1]).all()


def test_posteriors_take_any_leading_shape(network):
    codes = torch.rand(2, 3, 5, 4)
    assert torch.allclose(network.posterior(codes).mean[1, 2], network.posterior(codes[1, 2]).mean)


def test_the_posterior_is_a_linear_layer_of_the_features(network):
    codes = torch.rand(5, 4)
    posterior = network.posterior_from_features(network.features(codes).inputs)
    assert torch.equal(posterior.mean, network.posterior(codes).mean)
    assert torch.allclose(posterior.mean, network.tail(codes)[:, :2])


@pytest.mark.parametrize(
    ("set_encoder", "recipe", "needs_data"),
    [("pnp", DEFAULT, True), ("zi", DEFAULT, True), ("pnp", PAPER, False), ("zi", PAPER, False)],
)
def test_only_splines_and_atoms_need_a_table(set_encoder, recipe, needs_data):
    assert Network(SPECS, set_encoder, recipe).needs_data_init == needs_data


def test_knots_and_atoms_are_placed_at_the_values_of_a_table(network):
    values = np.zeros((40, 3), np.float32)
    values[:, 1] = np.arange(40) / 10
    network.init_from_data(Evidence(values, np.ones((40, 3), bool)))
    place = network.set_encoder.nonlinear.tolist().index(1)
    assert network.set_encoder.splines.knots[place, 0] == 0
    assert network.set_encoder.splines.knots[place, -1] == pytest.approx(3.9)
    atoms = network.marginals.atoms.values[0]
    assert 0 < atoms[0] < atoms[-1] < 3.9


def layer_widths(layers):
    return [len(parameter) for parameter in layers.parameters() if parameter.dim() == 1]


@pytest.mark.parametrize("name", ["zi", "zi-m"])
def test_zi_in_the_paper_is_an_ordinary_network_of_the_given_widths(name):
    network = Network(SPECS[1:2], name, PAPER)
    assert network.set_encoder.width == 100
    assert layer_widths(network.tail) == [50, 20]
    assert layer_widths(network.decoder) == [50, 100, 1]


@pytest.mark.parametrize("name", ["pn", "pnp"])
def test_pn_in_the_paper_sums_terms_before_layers_of_the_given_widths(name):
    network = Network(SPECS[1:2], name, PAPER)
    assert network.set_encoder.width == 20
    assert layer_widths(network.tail) == [100, 50, 20]


@pytest.mark.parametrize("set_encoder", ENCODERS)
@pytest.mark.parametrize(("n_variables", "kind"), [(14, Kind.REAL), (784, Kind.BINARY)])
def test_a_new_network_starts_far_from_its_bounds_and_learns(set_encoder, n_variables, kind):
    recipe = replace(PAPER, latent=20, identity=20, term=500, hidden=(500, 500, 200), max_steps=50)
    random = np.random.default_rng(0)
    values = (random.random((200, n_variables)) < 0.2).astype(np.float32)
    torch.manual_seed(0)
    network = Network([VariableSpec(kind, 2)] * n_variables, set_encoder, recipe)
    rows = torch.from_numpy(values)
    everything = torch.ones_like(rows)
    log_var = network.tail(network.code(rows, everything)).detach().chunk(2, dim=-1)[1]
    low, high = LOG_VAR_RANGE
    assert low < float(log_var.min())
    assert float(log_var.max()) < high
    assert float(log_var.abs().max()) < 3  # far enough from the bounds to move

    noise = torch.randn((1, 200, 20), generator=torch.Generator().manual_seed(0))
    batch = Batch(rows, everything, everything, noise)
    before = float(loss(network, "observed", batch).detach())
    evidence = Evidence(values, np.ones_like(values, dtype=bool))
    train(network, evidence, recipe, seed=0, device=torch.device("cpu"))
    assert float(loss(network, "observed", batch).detach()) < before
