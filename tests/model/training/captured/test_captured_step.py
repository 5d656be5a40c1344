"""Captured steps are those of the training loop. Without a GPU, steps are taken again, not replayed."""

from collections.abc import Callable, Mapping
from dataclasses import replace

import numpy as np
import pytest
import torch
from torch import Tensor

import eddi
from eddi.model.network.network import Network
from eddi.model.recipe import DEFAULT
from eddi.model.training import preparation
from eddi.model.training.batches import BatchSampler
from eddi.model.training.captured import captured_step
from eddi.model.training.captured.captured_step import CapturedStep, StepQueue
from eddi.model.training.flat_weights import FlatWeights
from eddi.model.training.loop import learning_rate
from eddi.model.training.objective import loss
from eddi.table.coding import Coding
from eddi.table.variable import Kind

DEVICE = torch.device("cuda" if torch.cuda.is_available() else "cpu")
RECIPE = replace(DEFAULT, hidden=(16, 16), latent=3, identity=3, term=6, max_steps=8, batch_size=10)
N_STEPS = 5


def make_run() -> tuple[Network, BatchSampler]:
    schema = eddi.Schema(tuple(eddi.Variable(f"x{d}", Kind.REAL) for d in range(4)))
    numbers = np.random.default_rng(0).normal(size=(60, 4))
    coding = Coding.fit(schema, numbers, RECIPE.scaling)
    rows = coding.encode(numbers)
    network = preparation.build_network(schema, coding, "precision", RECIPE, seed=0, rows=rows)
    network.fit_factors(rows)
    sampler = BatchSampler(rows, RECIPE, n_latent=network.latent, seed=0, device=DEVICE, targets=(3,))
    return network.to(DEVICE), sampler


def warm_up_and_repeat(take_step: Callable[[], None], state: Mapping[str, Tensor]) -> Callable[[], None]:
    """`capture` without a GPU."""
    before = {name: part.clone() for name, part in state.items()}
    take_step()
    for name, part in state.items():
        part.copy_(before[name])
    return take_step


def test_captured_steps_have_the_losses_and_weights_of_separate_steps(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    if DEVICE.type == "cpu":
        monkeypatch.setattr(captured_step, "capture", warm_up_and_repeat)
    network, sampler = make_run()
    weights, separate = FlatWeights(network, RECIPE), []
    for step, batch in enumerate(sampler.batches(0, N_STEPS)):
        batch_loss = loss(network, RECIPE.objective, batch)
        weights.step(batch_loss, learning_rate(RECIPE, step))
        separate.append(batch_loss.detach())
    network, sampler = make_run()
    captured_weights = FlatWeights(network, RECIPE)
    (block,) = sampler.blocks(0, N_STEPS)
    rates = torch.tensor([learning_rate(RECIPE, step) for step in range(N_STEPS)])
    losses = CapturedStep(network, captured_weights, RECIPE)(block, rates)
    torch.testing.assert_close(losses, torch.stack(separate), rtol=1e-5, atol=1e-6)
    torch.testing.assert_close(captured_weights.flat, weights.flat, rtol=1e-4, atol=1e-5)


def test_a_queue_gives_one_step_after_the_other() -> None:
    queue = StepQueue.for_steps((torch.tensor([1.0, 2.0]),), torch.device("cpu"))
    queue.fill((torch.tensor([3.0, 4.0]),))
    for expected in (3.0, 4.0):
        (number,) = queue.take()
        assert number == expected
        queue.finish(number * 10)
    assert queue.losses.tolist() == [30.0, 40.0]
