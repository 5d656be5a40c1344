"""The torch module: variables keep their places, and codes lead to posteriors."""

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
FORMS = (
    VariableSpec(Kind.CATEGORY, 3),
    VariableSpec(Kind.REAL, 0, 10.0, 2.0),
    VariableSpec(Kind.ORDINAL, 4),
    VariableSpec(Kind.BINARY, 2),
    VariableSpec(Kind.REAL, 0, -5.0, 1.0),
    VariableSpec(Kind.COUNT, 0, 1.0, 0.5),
)


@pytest.fixture
def network():
    torch.manual_seed(0)
    return Network(FORMS, "pnp", TINY).requires_grad_(False)


def test_every_verb_puts_each_kind_of_variable_back_in_its_place(network):
    outputs = network.decode(torch.randn(3, 2))
    values = torch.tensor([[2.0, 0.4, 3.0, 1.0, -1.0, 0.2]]).expand(3, -1)
    found = network.log_prob(outputs, values)
    for head in network.heads():
        out = outputs[:, head.outputs]
        expected = head.likelihood.log_prob(out, values[:, head.variables])
        assert torch.equal(found[:, head.variables], expected)
        moments = head.likelihood.moments(out)[0].double()
        assert torch.equal(network.moments(outputs)[0][:, head.variables], moments)


def test_heads_hold_the_variables_of_one_kind_each(network):
    kinds = [{network.specs[d].kind for d in head.variables.tolist()} for head in network.heads()]
    assert all(len(kind) == 1 for kind in kinds)
    assert sorted(d for head in network.heads() for d in head.variables.tolist()) == list(range(6))


def test_the_order_of_variables_does_not_matter_to_a_verb():
    torch.manual_seed(0)
    apart = Network((FORMS[1], FORMS[3], FORMS[4]), "zi", TINY).requires_grad_(False)
    outputs = torch.tensor([[0.5, -0.5, 2.0]])  # both reals, then the binary
    mean, _ = apart.moments(outputs)
    assert mean.tolist() == [pytest.approx([11.0, torch.sigmoid(torch.tensor(2.0)).item(), -5.5])]


def test_a_draw_has_the_cdf_it_was_drawn_at(network):
    outputs = network.decode(torch.randn(3, 2))
    level = torch.rand(3, 6, generator=torch.Generator().manual_seed(0))
    reached = network.cdf(outputs, network.quantile(outputs, level))
    assert (reached >= level - 1e-5).all()
    real = [1, 4]
    assert torch.allclose(reached[:, real], level[:, real], atol=1e-5)


def test_a_posterior_is_a_number_whatever_the_code(network):
    wild = network.posterior(torch.tensor([[1e6, -1e6, 1e6, 1e6]]))
    assert (wild.log_var >= LOG_VAR_RANGE[0]).all()
    assert (wild.log_var <= LOG_VAR_RANGE[1]).all()


def test_posteriors_take_any_leading_shape(network):
    codes = torch.rand(2, 3, 5, 4)
    assert torch.allclose(network.posterior(codes).mean[1, 2], network.posterior(codes[1, 2]).mean)


def widths(layers):
    return [len(one) for one in layers.parameters() if one.dim() == 1]


@pytest.mark.parametrize("name", ["zi", "zi-m"])
def test_the_papers_zi_is_an_ordinary_net_of_the_papers_widths(name):
    made = Network(FORMS[1:2], name, PAPER)
    assert made.set_encoder.width == 100
    assert widths(made.tail) == [50, 20]
    assert widths(made.decoder) == [50, 100, 1]


@pytest.mark.parametrize("name", ["pn", "pnp"])
def test_the_papers_set_term_enters_the_papers_widths(name):
    made = Network(FORMS[1:2], name, PAPER)
    assert made.set_encoder.width == 20
    assert widths(made.tail) == [100, 50, 20]


@pytest.mark.parametrize("set_encoder", ["zi", "zi-m", "pn", "pnp"])
@pytest.mark.parametrize(("n_variables", "kind"), [(14, Kind.REAL), (784, Kind.BINARY)])
def test_a_fresh_network_is_away_from_its_bounds_and_learns_at_once(set_encoder, n_variables, kind):
    recipe = replace(PAPER, latent=20, identity=20, term=500, hidden=(500, 500, 200), max_steps=50)
    random = np.random.default_rng(0)
    values = (random.random((200, n_variables)) < 0.2).astype(np.float32)
    torch.manual_seed(0)
    fresh = Network([VariableSpec(kind, 2)] * n_variables, set_encoder, recipe)
    shown = torch.from_numpy(values)
    log_var = fresh.tail(fresh.code(shown, torch.ones_like(shown))).detach().chunk(2, dim=-1)[1]
    low, high = LOG_VAR_RANGE
    assert low < float(log_var.min())
    assert float(log_var.max()) < high
    assert float(log_var.abs().max()) < 3  # and far enough to move before it meets them

    noise = torch.randn((1, 200, 20), generator=torch.Generator().manual_seed(0))
    batch = Batch(shown, torch.ones_like(shown), torch.ones_like(shown), noise)
    before = float(loss(fresh, "observed", batch).detach())
    evidence = Evidence(values, np.ones_like(values, dtype=bool))
    train(fresh, evidence, recipe, seed=0, device=torch.device("cpu"))
    assert float(loss(fresh, "observed", batch).detach()) < before
