"""Parts of a batch, put together again, teach what the whole teaches."""

from dataclasses import replace

import pytest
import torch

from eddi.model.network.likelihood import VariableSpec
from eddi.model.network.network import Network
from eddi.model.recipe import DEFAULT
from eddi.model.training.distributed import DistributedContext, own_device
from eddi.model.training.objective import Batch, loss
from eddi.table.variable import Kind


def make(objective, n_rows):
    recipe = replace(DEFAULT, objective=objective, latent=3, identity=4, term=8, hidden=(16, 16))
    torch.manual_seed(0)
    network = Network([VariableSpec(Kind.REAL)] * 3 + [VariableSpec(Kind.CATEGORY, 3)], "pnp", recipe)
    random = torch.Generator().manual_seed(1)
    known = (torch.rand((n_rows, 4), generator=random) < 0.8).float()
    values = torch.randint(3, (n_rows, 4), generator=random) * known
    observed = known * (torch.rand((n_rows, 4), generator=random) < 0.5)
    noise = torch.randn((4, n_rows, 3), generator=random)
    return network, Batch(values, known, observed, noise, torch.ones(4))


def gradient(network, value):
    network.zero_grad()
    value.backward()
    return torch.cat([p.grad.flatten() for p in network.parameters() if p.grad is not None])


def together(network, objective, batch, n):
    """The average of the gradients that ``n`` processes find."""
    parts = []
    for ranks in (DistributedContext(rank, n) for rank in range(n)):
        value = ranks.loss(batch, lambda part: loss(network, objective, part))
        parts.append(gradient(network, value))
    return torch.stack(parts).mean(0)


@pytest.mark.parametrize("objective", ["observed", "direct"])
@pytest.mark.parametrize("n", [2, 3])
def test_the_parts_gradients_average_to_the_wholes(objective, n):
    network, batch = make(objective, 24)
    whole = gradient(network, loss(network, objective, batch))
    torch.testing.assert_close(together(network, objective, batch, n), whole, rtol=1e-4, atol=1e-6)


def test_a_batch_that_does_not_part_evenly_counts_each_row_once():
    network, batch = make("observed", 7)
    whole = gradient(network, loss(network, "observed", batch))
    torch.testing.assert_close(together(network, "observed", batch, 2), whole, rtol=1e-4, atol=1e-6)


def test_alone_a_batch_is_the_batch():
    _, batch = make("observed", 7)
    assert DistributedContext.here(torch.device("cpu")).loss(batch, lambda whole: whole) is batch


def test_a_device_that_was_named_stays(monkeypatch):
    monkeypatch.setenv("LOCAL_WORLD_SIZE", "2")
    monkeypatch.setenv("LOCAL_RANK", "1")
    assert own_device("cpu") == "cpu"
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    assert own_device("auto") == "cuda:1"
    assert own_device("cuda:0") == "cuda:0"
