"""A stack of layers, lean but ordinary."""

import pytest
import torch

from eddi.model.network.mlp import MLP


def stack(relu_first):
    """The lean stack, and the same written with torch's own parts."""
    torch.manual_seed(0)
    lean = MLP([5, 7, 6, 3], relu_first=relu_first).double()
    weights = [p for p in lean.parameters() if p.dim() == 2]
    biases = [p for p in lean.parameters() if p.dim() == 1]

    def plain(x):
        out = torch.relu(x) if relu_first else x
        for place, (weight, bias) in enumerate(zip(weights, biases, strict=True)):
            out = torch.nn.functional.linear(torch.relu(out) if place else out, weight, bias)
        return out

    return lean, plain


@pytest.mark.parametrize("relu_first", [False, True])
@pytest.mark.parametrize("shape", [(11, 5), (2, 3, 4, 5), (0, 5), (5,)])
def test_it_is_linear_layers_with_a_relu_between_for_any_leading_shape(relu_first, shape):
    lean, plain = stack(relu_first)
    x = torch.randn(shape, dtype=torch.float64)
    assert lean(x).shape == (*shape[:-1], 3)
    assert torch.allclose(lean(x), plain(x))


@pytest.mark.parametrize("relu_first", [False, True])
def test_its_gradients_are_those_of_the_ordinary_stack(relu_first):
    lean, plain = stack(relu_first)
    x = torch.randn(11, 5, dtype=torch.float64, requires_grad=True)
    ours = torch.autograd.grad(lean(x).square().sum(), [x, *lean.parameters()])
    theirs = torch.autograd.grad(plain(x).square().sum(), [x, *lean.parameters()])
    assert all(torch.allclose(one, other) for one, other in zip(ours, theirs, strict=True))


@pytest.mark.parametrize("relu_first", [False, True])
def test_its_input_is_left_as_it_was(relu_first):
    lean, _ = stack(relu_first)
    x = torch.randn(4, 5, dtype=torch.float64)
    before = x.clone()
    lean(x)
    assert torch.equal(x, before)
