"""Training batches: masks, weights of hidden entries, and reproducible draws."""

from dataclasses import replace

import numpy as np
import pytest
import torch

from eddi.model.recipe import DEFAULT, PAPER
from eddi.model.training import batches
from eddi.model.training.batches import (
    ROUND_STEPS,
    TARGET_VISIBLE_SHARE,
    TARGET_WEIGHT,
    BatchSampler,
    draw_visible,
    loss_weights,
    mix_seed,
)
from eddi.table.evidence import Evidence

N_ROWS = 60
SMALL = replace(DEFAULT, batch_size=16)


def draw_evidence(seed=0):
    random = np.random.default_rng(seed)
    values = random.normal(size=(N_ROWS, 5))
    return Evidence.of(np.where(random.random(values.shape) < 0.8, values, np.nan))


def build_sampler(recipe=SMALL, *, seed=0, targets=()):
    return BatchSampler(
        draw_evidence(), recipe, n_latent=3, seed=seed, device=torch.device("cpu"), targets=targets
    )


def generator():
    return torch.Generator().manual_seed(0)


def test_the_hidden_share_is_uniform_up_to_its_limit():
    visible = draw_visible((200, 50, 40), PAPER, generator())
    hidden = 1 - visible.mean((1, 2))
    assert hidden.mean().item() == pytest.approx(0.35, abs=0.04)
    assert 0.6 < hidden.max().item() < 0.75


def test_rows_without_and_with_all_entries_visible_occur_in_training():
    n_visible = draw_visible((20, 128, 10), DEFAULT, generator()).sum(-1).flatten()
    assert (n_visible == 0).float().mean() > 0.03
    assert (n_visible == 10).float().mean() > 0.03


def test_the_missing_rate_is_drawn_per_batch_in_the_paper_and_per_row_by_default():
    by_batch, by_row = (draw_visible((1, 500, 400), r, generator())[0] for r in (PAPER, DEFAULT))
    assert by_batch.mean(-1).std() < 0.05
    assert by_row.mean(-1).std() > 0.2


def test_a_step_has_the_same_batch_whenever_it_is_drawn():
    drawn = list(build_sampler().batches(0, ROUND_STEPS))
    again = list(build_sampler().batches(0, ROUND_STEPS))
    assert len(drawn) == ROUND_STEPS
    for first, second in zip(drawn, again, strict=True):
        assert torch.equal(first.values, second.values)
        assert torch.equal(first.observed, second.observed)
        assert torch.equal(first.noise, second.noise)
    other_round = next(build_sampler().batches(ROUND_STEPS, 2 * ROUND_STEPS))
    other_seed = next(build_sampler(seed=1).batches(0, ROUND_STEPS))
    assert not torch.equal(drawn[0].values, other_round.values)
    assert not torch.equal(drawn[0].values, other_seed.values)


def test_a_round_is_drawn_in_blocks_that_fit_into_the_cache(monkeypatch):
    n_cells = SMALL.batch_size * (5 + 3)
    monkeypatch.setattr(batches, "BLOCK_CELLS", 7 * n_cells)
    sampler = build_sampler()
    assert sampler.block_steps == 7
    assert len(list(sampler.batches(0, 30))) == 30


def test_only_entries_of_the_table_are_visible():
    for batch in build_sampler().batches(0, 20):
        assert (batch.observed <= (batch.weights > 0)).all()
        assert batch.values.shape == (SMALL.batch_size, 5)
        assert batch.noise.shape == (SMALL.draws, SMALL.batch_size, 3)


def test_a_declared_target_is_visible_in_few_rows():
    never_hidden = replace(SMALL, max_missing=0.0)
    sampler = build_sampler(never_hidden, targets=[2])
    observed = torch.cat([batch.observed for batch in sampler.batches(0, ROUND_STEPS)])
    weights = torch.cat([batch.weights for batch in sampler.batches(0, ROUND_STEPS)])
    shares = observed.sum(0) / (weights > 0).sum(0)
    assert shares[2].item() == pytest.approx(TARGET_VISIBLE_SHARE, abs=0.03)
    assert shares[[0, 1, 3, 4]].tolist() == [1.0] * 4


def test_the_recipe_of_the_paper_ignores_a_declared_target():
    paper = replace(PAPER, batch_size=16, max_missing=0.0)
    batch = next(build_sampler(paper, targets=[2]).batches(0, 1))
    assert torch.equal(batch.observed, batch.weights)
    assert torch.equal(batch.loss_weights, torch.ones(5))


def test_declared_targets_together_weigh_more_than_all_other_variables():
    weights = loss_weights(10, [3, 4], DEFAULT)
    assert weights[[3, 4]].sum() == pytest.approx(TARGET_WEIGHT * 8)
    assert weights[[0, 1, 2, 5, 6, 7, 8, 9]].tolist() == [1.0] * 8
    assert loss_weights(10, [], DEFAULT).tolist() == [1.0] * 10
    assert loss_weights(2, [0, 1], DEFAULT).tolist() == [1.0, 1.0]


def test_weights_correct_for_missing_values_only_if_the_recipe_says_so():
    weighted, plain = (build_sampler(replace(SMALL, weigh=weigh)) for weigh in (True, False))
    assert set(plain.weights.unique().tolist()) == {0.0, 1.0}
    assert len(weighted.weights.unique()) > 2


def test_the_seeds_of_neighbouring_steps_differ():
    seeds = {mix_seed(seed, step) for seed in range(20) for step in range(-2, 200)}
    assert len(seeds) == 20 * 202


def test_every_row_is_drawn_equally_often_whatever_its_group():
    """The number of a person's rows may depend on the outcome, so rows must not be weighted by it."""
    groups = np.array([0] * 50 + [1] * 10)
    evidence = replace(draw_evidence(), groups=groups)
    sampler = BatchSampler(evidence, SMALL, n_latent=3, seed=0, device=torch.device("cpu"), targets=())
    rows = sampler._draw_rows(4_000, generator())
    assert (groups[rows.numpy()] == 1).mean() == pytest.approx(1 / 6, abs=0.03)
