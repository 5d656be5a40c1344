from dataclasses import replace

import numpy as np
import pytest
import torch

import eddi
from eddi.errors import TrainingError
from eddi.model.recipe import DEFAULT, PAPER, Recipe
from eddi.model.training import batched_training, loop, preparation
from eddi.table.coding import Coding
from eddi.table.variable import Kind

PAPERS = replace(PAPER, hidden=(16, 8), latent=3, identity=3, term=6, max_steps=120, batch_size=20)
OURS = replace(DEFAULT, hidden=(16, 16), latent=3, identity=3, term=6, max_steps=300, batch_size=10)
DEVICES = [
    "cpu",
    pytest.param(
        "cuda",
        marks=pytest.mark.skipif(not torch.cuda.is_available(), reason="there is no GPU here"),
    ),
]


def mixed_schema() -> eddi.Schema:
    return eddi.Schema(
        (
            eddi.Variable("size", Kind.REAL),
            eddi.Variable("children", Kind.COUNT),
            eddi.Variable("smokes", Kind.BINARY, levels=(0, 1)),
            eddi.Variable("health", Kind.ORDINAL, levels=("poor", "fair", "good")),
            eddi.Variable("town", Kind.CATEGORY, levels=("A", "B", "C")),
        )
    )


def runs(recipe: Recipe, n: int, set_encoder: str = "pnp") -> list[batched_training.Run]:
    """Networks for tables of their own: other numbers of rows and other scales."""
    made = []
    for seed in range(n):
        random = np.random.default_rng(seed)
        drawn = random.random((60 + seed, 5))
        columns = (drawn * [1 + seed, 10 * (1 + seed), 2, 3, 3]).T
        numbers = np.column_stack([columns[0], *np.floor(columns[1:])])
        schema = mixed_schema()
        coding = Coding.fit(schema, numbers, recipe.scaling)
        network = preparation.build(schema, coding, set_encoder, recipe, seed=seed)
        made.append(batched_training.Run(network, coding.encode(numbers), seed, targets=[seed % 5]))
    return made


def weights(run: batched_training.Run) -> torch.Tensor:
    return torch.cat([p.detach().flatten().cpu() for p in run.network.parameters()])


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize(("recipe", "set_encoder"), [(PAPERS, "pnp"), (PAPERS, "zi-m"), (OURS, "pn")])
def test_each_network_ends_where_it_would_have_ended_alone(
    recipe: Recipe, set_encoder: str, device: str
) -> None:
    # A few steps: later, rounding alone may wake a unit in one run and not in the other.
    few = replace(recipe, max_steps=12)
    alone, at_once = runs(few, 3, set_encoder), runs(few, 3, set_encoder)
    here = torch.device(device)
    for run in alone:
        loop.train(run.network, run.evidence, few, seed=run.seed, device=here, targets=run.targets)
    batched_training.train_together(at_once, few, device=here)
    for one, other in zip(alone, at_once, strict=True):
        torch.testing.assert_close(weights(other), weights(one), rtol=1e-4, atol=1e-5)


def test_a_network_stops_when_it_would_have_stopped_alone() -> None:
    impatient = replace(PAPERS, max_steps=600, validation=0.3, patience=0, learning_rate=0.005)
    alone, at_once = runs(impatient, 3), runs(impatient, 3)
    apart = [
        loop.train(
            run.network,
            run.evidence,
            impatient,
            seed=run.seed,
            device=batched_training.CPU,
            targets=run.targets,
        )
        for run in alone
    ]
    joint = batched_training.train_together(at_once, impatient, device=batched_training.CPU)
    assert [len(history) for history in joint] == [len(history) for history in apart]
    assert len({len(history) for history in joint}) > 1  # or this test would show nothing
    for one, other in zip(apart, joint, strict=True):
        assert other[-1].best == pytest.approx(one[-1].best, abs=0.02)


def test_what_is_drawn_in_small_parts_is_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    few = replace(PAPERS, max_steps=12)
    whole, parts = runs(few, 2), runs(few, 2)
    batched_training.train_together(whole, few, device=batched_training.CPU)
    monkeypatch.setattr(batched_training, "MAX_NUMBERS", 3_500)  # five steps at once
    batched_training.train_together(parts, few, device=batched_training.CPU)
    for one, other in zip(whole, parts, strict=True):
        assert torch.equal(weights(one), weights(other))


def test_networks_of_other_sizes_are_refused() -> None:
    with pytest.raises(TrainingError, match="network 2 of 2 has other variables or sizes"):
        batched_training.train_together(
            [*runs(PAPERS, 1), *runs(replace(PAPERS, latent=4), 1)], PAPERS, device=batched_training.CPU
        )
