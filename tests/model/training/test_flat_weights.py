"""All weights in one place: the optimiser must still move the network's own."""

from dataclasses import replace

import torch

from eddi.model.network.likelihood import VariableSpec
from eddi.model.network.network import Network
from eddi.model.recipe import DEFAULT
from eddi.model.training.flat_weights import FlatWeights
from eddi.table.variable import Kind

SIZES = {"latent": 2, "identity": 3, "term": 4, "hidden": (6, 6)}
TINY = replace(DEFAULT, objective="observed", **SIZES, weight_decay=0.1, average=0)
FORMS = (
    VariableSpec(Kind.REAL),
    VariableSpec(Kind.ORDINAL, 4),
    VariableSpec(Kind.ORDINAL, 3),
    VariableSpec(Kind.CATEGORY, 3),
)
VALUES = torch.tensor([[0.3, 2.0, 1.0, 2.0], [-1.0, 0.0, 2.0, 0.0]])


def make(recipe=TINY):
    torch.manual_seed(0)
    network = Network(FORMS, "pnp", recipe)
    return network, FlatWeights(network, recipe)


def loss(network):
    code = network.code(VALUES, torch.ones_like(VALUES))
    return -network.log_prob(network.decode(network.posterior(code).mean), VALUES).mean()


def state(network):
    return {key: value.clone() for key, value in network.state_dict().items()}


def test_flattening_changes_no_weight():
    torch.manual_seed(0)
    before = state(Network(FORMS, "pnp", TINY))
    after = state(make()[0])
    assert all(torch.equal(before[key], after[key]) for key in before)


def test_a_step_is_that_of_an_ordinary_optimiser():
    recipe = replace(TINY, clip=0.5)
    flat_network, weights = make(recipe)
    torch.manual_seed(0)
    plain = Network(FORMS, "pnp", recipe)
    trainable = [p for p in plain.parameters() if p.requires_grad]
    groups = [
        {"params": [p for p in trainable if p.dim() > 1], "weight_decay": 0.1},
        {"params": [p for p in trainable if p.dim() <= 1], "weight_decay": 0.0},
    ]
    ordinary = torch.optim.AdamW(groups, lr=0.01)
    for _ in range(3):
        weights.descend(loss(flat_network), 0.01)
        ordinary.zero_grad()
        loss(plain).backward()
        torch.nn.utils.clip_grad_norm_(trainable, 0.5)
        ordinary.step()
    found, expected = state(flat_network), state(plain)
    assert all(torch.allclose(found[key], expected[key], atol=1e-5) for key in expected)


def test_the_rate_of_a_step_is_the_one_given():
    network, weights = make()
    before = state(network)
    weights.descend(loss(network), 0.0)
    after = state(network)
    assert all(torch.equal(before[key], after[key]) for key in before)


def test_the_best_weights_come_back():
    network, weights = make()
    weights.descend(loss(network), 0.01)
    weights.keep_best()
    best = state(network)
    weights.descend(loss(network), 0.01)
    assert any(not torch.equal(best[key], value) for key, value in state(network).items())
    weights.use_best()
    assert all(torch.equal(best[key], value) for key, value in state(network).items())


def test_an_average_of_the_last_weights_is_used_where_the_recipe_wants_one():
    network, weights = make(replace(TINY, average=4))
    expected = weights.flat.clone()
    for _ in range(3):
        weights.descend(loss(network), 0.01)
        expected += (weights.flat - expected) / 4
    walking = weights.flat.clone()
    with weights.averaged():
        assert torch.allclose(weights.flat, expected)
    assert torch.equal(weights.flat, walking)
    weights.keep_best()
    weights.use_best()
    assert torch.allclose(weights.flat, expected)
