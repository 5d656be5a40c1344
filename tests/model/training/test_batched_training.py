"""Batched training gives each network the weights that it would have had alone."""

from dataclasses import replace

import numpy as np
import pytest
import torch

import eddi
from eddi.errors import TrainingError
from eddi.model.recipe import DEFAULT, PAPER, Recipe
from eddi.model.training import batched_training, loop, preparation
from eddi.model.training.batched_training import CPU
from eddi.model.training.checkpoint import Progress
from eddi.table.coding import Coding
from eddi.table.variable import Kind

pytestmark = pytest.mark.slow

SMALL_PAPER = replace(PAPER, hidden=(16, 8), latent=3, identity=3, term=6, max_steps=120, batch_size=20)
SMALL_DEFAULT = replace(
    DEFAULT, hidden=(16, 16), latent=3, identity=3, term=6, max_steps=300, batch_size=10
)
DEVICES = [
    "cpu",
    pytest.param(
        "cuda",
        marks=pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a GPU"),
    ),
]


SCHEMA = eddi.Schema(
    (
        eddi.Variable("size", Kind.REAL),
        eddi.Variable("children", Kind.COUNT),
        eddi.Variable("smokes", Kind.BINARY, levels=(0, 1)),
        eddi.Variable("health", Kind.ORDINAL, levels=("poor", "fair", "good")),
        eddi.Variable("town", Kind.CATEGORY, levels=("A", "B", "C")),
    )
)


def build_runs(recipe: Recipe, n: int, set_encoder: str = "pnp") -> list[batched_training.Run]:
    """Networks whose tables differ in their number of rows and in their scales."""
    runs = []
    for seed in range(n):
        random = np.random.default_rng(seed)
        drawn = random.random((60 + seed, 5))
        columns = (drawn * [1 + seed, 10 * (1 + seed), 2, 3, 3]).T
        numbers = np.column_stack([columns[0], *np.floor(columns[1:])])
        coding = Coding.fit(SCHEMA, numbers, recipe.scaling)
        network = preparation.build_network(SCHEMA, coding, set_encoder, recipe, seed=seed)
        runs.append(batched_training.Run(network, coding.encode(numbers), seed, targets=[seed % 5]))
    return runs


def train_alone(run: batched_training.Run, recipe: Recipe, device: torch.device = CPU) -> list[Progress]:
    return loop.train(
        run.network, run.evidence, recipe, seed=run.seed, device=device, targets=run.targets
    )


def copy_weights(run: batched_training.Run) -> torch.Tensor:
    return torch.cat([p.detach().flatten().cpu() for p in run.network.parameters()])


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize(
    ("recipe", "set_encoder"),
    [
        (SMALL_PAPER, "pnp"),
        (SMALL_PAPER, "zi-m"),
        (SMALL_DEFAULT, "pn"),
        (SMALL_DEFAULT, "precision"),
        (replace(SMALL_DEFAULT, folds=0, validation=0.2), "precision"),
    ],
)
def test_each_network_ends_with_the_weights_it_would_have_alone(
    recipe: Recipe, set_encoder: str, device: str
) -> None:
    # A few steps: later, rounding alone may activate a unit in one run and not in the other.
    few_steps = replace(recipe, max_steps=12)
    alone, batched = (build_runs(few_steps, 3, set_encoder) for _ in range(2))
    for run in alone:
        train_alone(run, few_steps, torch.device(device))
    batched_training.train_batched(batched, few_steps, device=torch.device(device))
    for single, run in zip(alone, batched, strict=True):
        torch.testing.assert_close(copy_weights(run), copy_weights(single), rtol=1e-4, atol=1e-5)


def test_each_network_stops_when_it_would_have_stopped_alone() -> None:
    impatient = replace(SMALL_PAPER, max_steps=600, validation=0.3, patience=0, learning_rate=0.005)
    expected = [train_alone(run, impatient) for run in build_runs(impatient, 3)]
    histories = batched_training.train_batched(build_runs(impatient, 3), impatient, device=CPU)
    assert [len(history) for history in histories] == [len(history) for history in expected]
    assert len({len(history) for history in histories}) > 1  # they stop at different steps
    for history, single in zip(histories, expected, strict=True):
        assert history[-1].best == pytest.approx(single[-1].best, abs=0.02)


def test_the_number_of_steps_drawn_at_once_does_not_matter(monkeypatch: pytest.MonkeyPatch) -> None:
    few_steps = replace(SMALL_PAPER, max_steps=12)
    at_once, in_blocks = (build_runs(few_steps, 2) for _ in range(2))
    batched_training.train_batched(at_once, few_steps, device=CPU)
    monkeypatch.setattr(batched_training, "MAX_NUMBERS", 3_500)  # five steps at once
    batched_training.train_batched(in_blocks, few_steps, device=CPU)
    for first, second in zip(at_once, in_blocks, strict=True):
        assert torch.equal(copy_weights(first), copy_weights(second))


def test_networks_of_different_sizes_are_refused() -> None:
    runs = [*build_runs(SMALL_PAPER, 1), *build_runs(replace(SMALL_PAPER, latent=4), 1)]
    with pytest.raises(TrainingError, match="network 2 of 2 has other variables or sizes"):
        batched_training.train_batched(runs, SMALL_PAPER, device=CPU)
