"""Calibration makes beliefs as sure as they are right, and moves no mean and no most likely level."""

from dataclasses import replace

import pytest
import torch

from eddi.model.network.likelihood import VariableSpec
from eddi.model.network.network import Network, group_of
from eddi.model.recipe import DEFAULT
from eddi.model.training.calibration import calibrate
from eddi.model.training.objective import Batch
from eddi.table.variable import Kind

FORMS = (
    VariableSpec(Kind.REAL),
    VariableSpec(Kind.BINARY, 2),
    VariableSpec(Kind.CATEGORY, 3),
    VariableSpec(Kind.COUNT, 0, 1.0, 0.5),
)
TINY = replace(DEFAULT, latent=2, identity=3, offset=2, term=4, hidden=(6, 6))
N_ROWS = 4_000


@pytest.fixture
def network():
    torch.manual_seed(0)
    return Network(FORMS, "pnp", TINY).requires_grad_(False)


def outputs_of(network, batch):
    return network.marginals(network.hidden(network.code(batch.seen(), batch.observed)))


def rows(network, *, surprise):
    """Rows of which nothing is seen, their truths ``surprise`` times as far out as is believed."""
    torch.manual_seed(1)
    nothing, known = torch.zeros(N_ROWS, 4), torch.ones(N_ROWS, 4)
    empty = Batch(nothing, known, nothing, torch.zeros(1, N_ROWS, 2))
    values = network.marginals.quantile(outputs_of(network, empty), torch.rand(N_ROWS, 4))
    mean = network.marginals.moments(outputs_of(network, empty))[0][:, 0].float()
    values[:, 0] = mean + surprise * (values[:, 0] - mean)
    return replace(empty, values=values)


def coverage(network, batch, variable):
    outputs = outputs_of(network, batch)
    level = network.marginals.interval_tail_mass(outputs[None])
    low, high = (network.marginals.quantile(outputs, each)[:, variable] for each in (level, 1 - level))
    truth = batch.values[:, variable]
    return ((low <= truth + 1e-4) & (truth <= high + 1e-4)).float().mean().item()


@pytest.mark.parametrize("surprise", [0.5, 1.0, 3.0])
def test_the_interval_of_a_quantity_holds_nine_in_ten(network, surprise):
    batch = rows(network, surprise=surprise)
    calibrate(network, batch, N_ROWS)
    assert coverage(network, batch, 0) == pytest.approx(0.9, abs=0.01)
    assert coverage(network, batch, 3) > 0.89  # a count's interval holds whole numbers, so may hold more


def test_the_spread_grows_with_the_surprise_and_the_mean_stays(network):
    batch = rows(network, surprise=3.0)
    before = network.marginals.moments(outputs_of(network, batch))
    calibrate(network, batch, N_ROWS)
    after = network.marginals.moments(outputs_of(network, batch))
    assert torch.allclose(before[0][:, 0], after[0][:, 0])
    ratio = (after[1] / before[1]).sqrt()[0, 0].item()
    assert ratio == pytest.approx(3.0, rel=0.1)


def test_overconfident_levels_are_cooled_and_keep_their_order(network):
    batch = rows(network, surprise=1.0)
    with torch.no_grad():
        network.marginals.layer.weight *= 4  # four times as sure of everything
        network.marginals.layer.bias *= 4
    likelihood = network.marginals.likelihoods["category"]
    part = next(head.outputs for head in network.marginals.heads() if head.likelihood is likelihood)
    before = outputs_of(network, batch)[:, part]
    score = network.marginals.log_prob(outputs_of(network, batch), batch.values)[:, 1:3].sum(0)
    calibrate(network, batch, N_ROWS)
    after = outputs_of(network, batch)[:, part]
    assert torch.equal(before.argmax(-1), after.argmax(-1))
    assert after.abs().max() < 0.5 * before.abs().max()
    improved = network.marginals.log_prob(outputs_of(network, batch), batch.values)[:, 1:3].sum(0)
    assert (improved > score).all()


def test_too_few_rows_change_nothing(network):
    batch = rows(network, surprise=3.0)
    few = (part[:10] for part in (batch.values, batch.known, batch.observed))
    state = {name: value.clone() for name, value in network.state_dict().items()}
    calibrate(network, Batch(*few, batch.noise[:, :10]), 10)
    assert all(torch.equal(value, state[name]) for name, value in network.state_dict().items())


def test_broad_and_narrow_beliefs_are_counted_apart(network):
    torch.manual_seed(2)
    known = torch.ones(N_ROWS, 4)
    observed = torch.zeros(N_ROWS, 4)
    observed[::2, 1:] = 1  # every other row shows all but the quantity
    noise = torch.zeros(1, N_ROWS, 2)
    drawn = Batch(torch.ones(N_ROWS, 4), known, observed, noise)
    outputs = outputs_of(network, drawn)
    mean, variance = (each[:, 0].float() for each in network.marginals.moments(outputs))
    values = torch.ones(N_ROWS, 4)
    heavy = torch.distributions.StudentT(2.0).sample((N_ROWS,))  # where much is seen
    light = torch.randn(N_ROWS)
    values[:, 0] = mean + variance.sqrt() * torch.where(observed[:, 1] > 0, heavy, light)
    batch = replace(drawn, values=values)
    calibrate(network, batch, N_ROWS)
    outputs = outputs_of(network, batch)
    tail_mass = network.marginals.interval_tail_mass(outputs[None])
    low, high = (network.marginals.quantile(outputs, each)[:, 0] for each in (tail_mass, 1 - tail_mass))
    inside = (low <= values[:, 0]) & (values[:, 0] <= high)
    assert inside[::2].float().mean().item() == pytest.approx(0.9, abs=0.015)
    assert inside[1::2].float().mean().item() == pytest.approx(0.9, abs=0.015)


@pytest.mark.parametrize(("n_rows", "n_groups"), [(9, 1), (19, 1), (20, 2), (4_000, 5)])
def test_few_rows_make_few_groups(network, n_rows, n_groups):
    batch = rows(network, surprise=1.0)
    seen = replace(batch, observed=torch.rand(N_ROWS, 4).round() * torch.tensor([0.0, 1, 1, 1]))
    calibrate(network, seen, n_rows)
    assert network.marginals.group_edges[:, 0].isfinite().sum() == n_groups - 1
    assert network.marginals.group_edges[:, 1].isinf().all()  # levels have no breadth


def test_beliefs_that_differ_by_rounding_are_of_one_group(network):
    batch = rows(network, surprise=1.0)  # nothing is seen, so that all spreads are the same
    calibrate(network, batch, N_ROWS)
    spread = network.marginals.spread(outputs_of(network, batch))[:1]
    groups = [
        group_of(spread * shift, network.marginals.group_edges)[0, 0]
        for shift in (1 - 1e-6, 1, 1 + 1e-6)
    ]
    assert len(set(map(int, groups))) == 1


def test_only_rows_that_know_a_variable_make_groups(network):
    batch = rows(network, surprise=1.0)
    known = batch.known.clone()
    known[:, 0] = 0
    known[:15, 0] = 1
    calibrate(network, replace(batch, known=known.repeat(4, 1)[:N_ROWS]), 100)
    assert network.marginals.group_edges[:, 0].isinf().all()
    assert network.marginals.group_edges[:, 3].isfinite().all()
