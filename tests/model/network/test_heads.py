"""Variables of all kinds keep their order, whatever order their likelihoods stand in."""

import pytest
import torch

from eddi.model.network.likelihood import VariableSpec
from eddi.model.network.network import Network
from eddi.model.recipe import DEFAULT
from eddi.table.variable import Kind

FORMS = (
    VariableSpec(Kind.BINARY, 2),
    VariableSpec(Kind.REAL),
    VariableSpec(Kind.CATEGORY, 3),
    VariableSpec(Kind.REAL),
)


@pytest.fixture
def network():
    torch.manual_seed(0)
    return Network(FORMS, "pnp", DEFAULT).requires_grad_(False)


@pytest.mark.parametrize("variable", range(4))
def test_a_value_is_scored_by_its_own_likelihood(network, variable):
    outputs, values = torch.randn(5, network.n_outputs), torch.zeros(5, 4)
    before = network.log_prob(outputs, values)
    values[:, variable] = 1
    moved = (network.log_prob(outputs, values) != before).any(0)
    assert moved.tolist() == [place == variable for place in range(4)]


def test_every_output_speaks_of_one_group(network):
    taken = [place for head in network.heads() for place in range(network.n_outputs)[head.outputs]]
    assert sorted(taken) == list(range(network.n_outputs))
    assert sorted(v for head in network.heads() for v in head.variables.tolist()) == [0, 1, 2, 3]


def test_what_was_not_calibrated_leaves_a_twentieth_on_either_side(network):
    left = network.interval_tail_mass(torch.randn(7, 5, network.n_outputs))
    torch.testing.assert_close(left, torch.full((5, 4), 0.05))
