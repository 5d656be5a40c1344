"""A residual tail is what its formula says, and passes on what its blocks have nothing to add to."""

import torch

from eddi.model.network.residual import ResidualBlock, ResidualTail


def test_a_block_that_adds_nothing_passes_on():
    block = ResidualBlock(5)
    torch.nn.init.zeros_(block.outer.weight)
    torch.nn.init.zeros_(block.outer.bias)
    h = torch.randn(3, 5)
    assert torch.equal(block(h), h)


def test_the_tail_is_its_formula():
    tail = ResidualTail([4, 6, 6, 3]).double()
    x = torch.randn(2, 7, 4, dtype=torch.float64)
    h = tail.first(x)
    for block in tail.blocks:
        h = h + block.outer(torch.relu(block.inner(block.norm(h))))
    hidden = torch.relu(tail.norm(h))
    assert torch.allclose(tail.hidden(x), hidden)
    assert torch.allclose(tail(x), tail.last(hidden))
