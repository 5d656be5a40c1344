"""The multilayer perceptron computes what torch's own layers compute."""

import pytest
import torch

from eddi.model.network.mlp import MLP


def build_pair(relu_first):
    """An MLP, and a function that computes the same with torch's own layers."""
    torch.manual_seed(0)
    mlp = MLP([5, 7, 6, 3], relu_first=relu_first).double()
    weights = [p for p in mlp.parameters() if p.dim() == 2]
    biases = [p for p in mlp.parameters() if p.dim() == 1]

    def reference(x):
        out = torch.relu(x) if relu_first else x
        for place, (weight, bias) in enumerate(zip(weights, biases, strict=True)):
            out = torch.nn.functional.linear(torch.relu(out) if place else out, weight, bias)
        return out

    return mlp, reference


@pytest.mark.parametrize("relu_first", [False, True])
@pytest.mark.parametrize("shape", [(11, 5), (2, 3, 4, 5), (0, 5), (5,)])
def test_it_is_linear_layers_with_a_relu_between_for_any_leading_shape(relu_first, shape):
    mlp, reference = build_pair(relu_first)
    x = torch.randn(shape, dtype=torch.float64)
    assert mlp(x).shape == (*shape[:-1], 3)
    assert torch.allclose(mlp(x), reference(x))


@pytest.mark.parametrize("relu_first", [False, True])
def test_the_output_is_the_last_layer_of_the_features(relu_first):
    mlp, _ = build_pair(relu_first)
    x = torch.randn(11, 5, dtype=torch.float64)
    assert mlp.features(x).shape == (11, 6)
    assert torch.allclose(torch.nn.functional.linear(mlp.features(x), *mlp.output_weights()), mlp(x))


@pytest.mark.parametrize("relu_first", [False, True])
def test_its_gradients_are_those_of_ordinary_layers(relu_first):
    mlp, reference = build_pair(relu_first)
    x = torch.randn(11, 5, dtype=torch.float64, requires_grad=True)
    ours = torch.autograd.grad(mlp(x).square().sum(), [x, *mlp.parameters()])
    theirs = torch.autograd.grad(reference(x).square().sum(), [x, *mlp.parameters()])
    assert all(torch.allclose(own, other) for own, other in zip(ours, theirs, strict=True))


@pytest.mark.parametrize("relu_first", [False, True])
def test_it_does_not_change_its_input(relu_first):
    mlp, _ = build_pair(relu_first)
    x = torch.randn(4, 5, dtype=torch.float64)
    before = x.clone()
    mlp(x)
    mlp.features(x)
    assert torch.equal(x, before)
