"""A stack of layers, and its backward pass against autograd's."""

import pytest
import torch

from eddi.model.perceptron import Perceptron


def stack(relu_first):
    torch.manual_seed(0)
    made = Perceptron([5, 7, 6, 3], relu_first=relu_first).double()
    for parameter in made.parameters():
        parameter.grad = torch.zeros_like(parameter)
    return made, torch.randn(11, 5, dtype=torch.float64)


@pytest.mark.parametrize("relu_first", [False, True])
def test_it_is_linear_layers_with_a_relu_between(relu_first):
    made, x = stack(relu_first)
    expected = torch.relu(x) if relu_first else x
    for place, (weight, bias) in enumerate(zip(made.weights, made.biases, strict=True)):
        expected = torch.relu(expected) if place else expected
        expected = torch.nn.functional.linear(expected, weight, bias)
    assert torch.allclose(made(x), expected)
    assert torch.allclose(made.run(x.clone()).out, expected)


def test_it_takes_any_leading_shape():
    made, _ = stack(relu_first=False)
    x = torch.randn(2, 3, 4, 5, dtype=torch.float64)
    assert made(x).shape == (2, 3, 4, 3)
    assert torch.allclose(made(x)[1, 2], made(x[1, 2]))


@pytest.mark.parametrize("relu_first", [False, True])
def test_its_backward_pass_is_autograds(relu_first):
    made, x = stack(relu_first)
    gradient = torch.randn(11, 3, dtype=torch.float64)
    found = made.pull(made.run(x.clone()), gradient)
    ours = [parameter.grad.clone() for parameter in made.parameters()]
    made.zero_grad()
    x.requires_grad_(True)
    (made(x) * gradient).sum().backward()
    assert torch.allclose(found, x.grad)
    for one, parameter in zip(ours, made.parameters(), strict=True):
        assert torch.allclose(one, parameter.grad)


def test_backward_passes_add_up():
    made, x = stack(relu_first=False)
    gradient = torch.randn(11, 3, dtype=torch.float64)
    made.pull(made.run(x.clone()), gradient)
    once = made.weights[0].grad.clone()
    made.pull(made.run(x.clone()), gradient)
    assert torch.allclose(made.weights[0].grad, 2 * once)


def test_running_does_not_change_its_input():
    for relu_first in (False, True):
        made, x = stack(relu_first)
        before = x.clone()
        made.run(x)
        assert torch.equal(x, before)
