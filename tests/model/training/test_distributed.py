"""Data-parallel training: the averaged gradient of the parts is the gradient of the whole batch."""

from dataclasses import replace

import pytest
import torch

from eddi.model.network.likelihood import VariableSpec
from eddi.model.network.network import Network
from eddi.model.recipe import DEFAULT
from eddi.model.training.distributed import DistributedContext, local_device
from eddi.model.training.objective import Batch, loss
from eddi.table.variable import Kind


def build(objective, n_rows):
    """A network and a batch of rows with missing and hidden entries."""
    recipe = replace(DEFAULT, objective=objective, latent=3, identity=4, term=8, hidden=(16, 16))
    torch.manual_seed(0)
    network = Network([VariableSpec(Kind.REAL)] * 3 + [VariableSpec(Kind.CATEGORY, 3)], "pnp", recipe)
    random = torch.Generator().manual_seed(1)
    weights = (torch.rand((n_rows, 4), generator=random) < 0.8).float()
    values = torch.randint(3, (n_rows, 4), generator=random) * weights
    observed = weights * (torch.rand((n_rows, 4), generator=random) < 0.5)
    noise = torch.randn((4, n_rows, 3), generator=random)
    return network, Batch(values, weights, observed, noise, torch.ones(4))


def gradient(network, value):
    network.zero_grad()
    value.backward()
    return torch.cat([p.grad.flatten() for p in network.parameters() if p.grad is not None])


def averaged_gradient(network, objective, batch, n_processes):
    """The mean of the gradients that the processes compute."""
    parts = []
    for rank in range(n_processes):
        context = DistributedContext(rank, n_processes)
        value = context.loss(batch, lambda part: loss(network, objective, part))
        parts.append(gradient(network, value))
    return torch.stack(parts).mean(0)


@pytest.mark.parametrize("objective", ["observed", "direct"])
@pytest.mark.parametrize("n_processes", [2, 3])
def test_the_gradients_of_all_processes_average_to_that_of_the_batch(objective, n_processes):
    network, batch = build(objective, 24)
    expected = gradient(network, loss(network, objective, batch))
    found = averaged_gradient(network, objective, batch, n_processes)
    torch.testing.assert_close(found, expected, rtol=1e-4, atol=1e-6)


def test_a_batch_that_cannot_be_divided_evenly_counts_each_row_once():
    network, batch = build("observed", 7)
    expected = gradient(network, loss(network, "observed", batch))
    found = averaged_gradient(network, "observed", batch, 2)
    torch.testing.assert_close(found, expected, rtol=1e-4, atol=1e-6)


def test_a_single_process_uses_the_whole_batch():
    _, batch = build("observed", 7)
    context = DistributedContext.from_environment(torch.device("cpu"))
    assert context.is_first
    assert context.loss(batch, lambda part: part) is batch


def test_each_process_of_a_machine_has_a_gpu_unless_the_device_is_given(monkeypatch):
    monkeypatch.setenv("LOCAL_WORLD_SIZE", "2")
    monkeypatch.setenv("LOCAL_RANK", "1")
    assert local_device("cpu") == "cpu"
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    assert local_device("auto") == "cuda:1"
    assert local_device("cuda:0") == "cuda:0"
