"""The residual tail computes its formula, with packed weights as well."""

import pytest
import torch

from eddi.model.network.residual import ResidualBlock, ResidualTail


@pytest.fixture
def tail():
    torch.manual_seed(0)
    tail = ResidualTail([4, 6, 6, 3]).double()
    for block in tail.blocks:
        torch.nn.init.normal_(block.norm.weight)
        torch.nn.init.normal_(block.norm.bias)
    return tail


def test_a_block_with_an_outer_layer_of_zeros_is_the_identity():
    block = ResidualBlock(5)
    torch.nn.init.zeros_(block.outer.weight)
    torch.nn.init.zeros_(block.outer.bias)
    h = torch.randn(3, 5)
    assert torch.equal(block(h), h)


def test_the_tail_computes_its_formula(tail):
    x = torch.randn(2, 7, 4, dtype=torch.float64)
    h = tail.first(x)
    for block in tail.blocks:
        h = h + block.outer(torch.relu(block.inner(block.norm(h))))
    features = torch.relu(tail.norm(h))
    assert torch.allclose(tail.features(x), features)
    assert torch.allclose(tail(x), tail.last(features))


@pytest.mark.parametrize("relu_first", [False, True])
def test_packed_weights_give_the_same_features(tail, relu_first):
    tail.relu_first = relu_first
    frozen = tail.freeze()
    code, terms = torch.randn(2, 5, 4, dtype=torch.float64)
    first = frozen.first_layer(code)
    assert torch.allclose(frozen.remaining_layers(first), tail.features(code))
    after = frozen.remaining_layers(first + frozen.first_layer_delta(terms))
    assert torch.allclose(after, tail.features(code + terms))
