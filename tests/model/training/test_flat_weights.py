"""Flat weights: the optimiser updates the parameters of the network, as torch's own AdamW would."""

from dataclasses import replace

import torch

from eddi.model.network.likelihood import VariableSpec
from eddi.model.network.network import Network
from eddi.model.recipe import DEFAULT
from eddi.model.training.flat_weights import FlatWeights
from eddi.table.variable import Kind

SIZES = {"latent": 2, "identity": 3, "term": 4, "hidden": (6, 6)}
TINY = replace(DEFAULT, objective="observed", **SIZES, weight_decay=0.1, average=0)
SPECS = (
    VariableSpec(Kind.REAL),
    VariableSpec(Kind.ORDINAL, 4),
    VariableSpec(Kind.ORDINAL, 3),
    VariableSpec(Kind.CATEGORY, 3),
)
VALUES = torch.tensor([[0.3, 2.0, 1.0, 2.0], [-1.0, 0.0, 2.0, 0.0]])


def build(recipe=TINY):
    torch.manual_seed(0)
    network = Network(SPECS, "pnp", recipe)
    return network, FlatWeights(network, recipe)


def loss(network):
    code = network.code(VALUES, torch.ones_like(VALUES))
    return -network.log_prob(network.decode(network.posterior(code).mean), VALUES).mean()


def copy_state(network):
    return {key: value.clone() for key, value in network.state_dict().items()}


def test_flattening_does_not_change_the_weights():
    torch.manual_seed(0)
    before = copy_state(Network(SPECS, "pnp", TINY))
    after = copy_state(build()[0])
    assert all(torch.equal(before[key], after[key]) for key in before)


def test_a_step_is_that_of_torchs_adamw_with_clipping():
    recipe = replace(TINY, clip=0.5)
    flat_network, weights = build(recipe)
    torch.manual_seed(0)
    plain = Network(SPECS, "pnp", recipe)
    trainable = [p for p in plain.parameters() if p.requires_grad]
    groups = [
        {"params": [p for p in trainable if p.dim() > 1], "weight_decay": 0.1},
        {"params": [p for p in trainable if p.dim() <= 1], "weight_decay": 0.0},
    ]
    ordinary = torch.optim.AdamW(groups, lr=0.01)
    for _ in range(3):
        weights.step(loss(flat_network), 0.01)
        ordinary.zero_grad()
        loss(plain).backward()
        torch.nn.utils.clip_grad_norm_(trainable, 0.5)
        ordinary.step()
    found, expected = copy_state(flat_network), copy_state(plain)
    assert all(torch.allclose(found[key], expected[key], atol=1e-5) for key in expected)


def test_a_learning_rate_of_zero_changes_nothing():
    network, weights = build()
    before = copy_state(network)
    weights.step(loss(network), 0.0)
    after = copy_state(network)
    assert all(torch.equal(before[key], after[key]) for key in before)


def test_the_best_weights_can_be_restored():
    network, weights = build()
    weights.step(loss(network), 0.01)
    weights.store_best()
    best = copy_state(network)
    weights.step(loss(network), 0.01)
    assert any(not torch.equal(best[key], value) for key, value in copy_state(network).items())
    weights.use_best()
    assert all(torch.equal(best[key], value) for key, value in copy_state(network).items())


def test_the_average_of_the_last_weights_is_used_if_the_recipe_says_so():
    network, weights = build(replace(TINY, average=4))
    expected = weights.flat.clone()
    for _ in range(3):
        weights.step(loss(network), 0.01)
        expected += (weights.flat - expected) / 4
    current = weights.flat.clone()
    with weights.averaged():
        assert torch.allclose(weights.flat, expected)
    assert torch.equal(weights.flat, current)
    weights.store_best()
    weights.use_best()
    assert torch.allclose(weights.flat, expected)
