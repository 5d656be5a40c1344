"""Validation: the split, and which entries of held-out rows are scored."""

from dataclasses import replace

import numpy as np
import pytest
import torch

from eddi.model.network.likelihood import VariableSpec
from eddi.model.network.network import Network
from eddi.model.recipe import DEFAULT, MIN_HOLD_OUT_ROWS, PAPER
from eddi.model.training.calibration import CalibrationData
from eddi.model.training.validation import (
    CALIBRATION_ROWS,
    MAX_VALIDATION_ROWS,
    MIN_VALIDATION_ROWS,
    Validation,
    count_validation_rows,
    entry_scores,
    split_by_content,
    split_validation,
)
from eddi.table.evidence import Evidence
from eddi.table.variable import Kind

CPU = torch.device("cpu")
SMALL = replace(DEFAULT, latent=4, identity=4, term=16, hidden=(16, 16))


def draw_evidence(n_rows, n_variables=4):
    return Evidence.of(np.random.default_rng(0).normal(size=(n_rows, n_variables)))


def build_validation(evidence, recipe=SMALL, targets=()):
    return Validation(evidence, recipe, seed=0, device=CPU, targets=targets)


def build_network(recipe):
    torch.manual_seed(0)
    return Network([VariableSpec(Kind.REAL)] * 4, "pnp", recipe).requires_grad_(False)


@pytest.mark.parametrize(
    ("n_rows", "expected"),
    [(10 * MIN_VALIDATION_ROWS - 1, 0), (200, 20), (10**6, MAX_VALIDATION_ROWS)],
)
def test_a_tenth_of_the_rows_is_held_out_within_limits(n_rows, expected):
    assert count_validation_rows(n_rows, replace(DEFAULT, folds=0)) == expected


def test_a_table_that_is_cross_validated_holds_out_no_rows():
    assert count_validation_rows(MIN_HOLD_OUT_ROWS - 1, DEFAULT) == 0
    assert count_validation_rows(MIN_HOLD_OUT_ROWS, DEFAULT) == MIN_HOLD_OUT_ROWS // 10


def test_the_split_is_disjoint_complete_and_determined_by_the_seed():
    places = Evidence.of(np.arange(400.0)[:, None])
    training, held_out = split_validation(places, DEFAULT, seed=0)
    assert len(held_out) == 40
    assert sorted([*training.values[:, 0], *held_out.values[:, 0]]) == list(range(400))
    again, other = (split_validation(places, DEFAULT, seed=seed)[1] for seed in (0, 1))
    assert np.array_equal(held_out.values, again.values)
    assert not np.array_equal(held_out.values, other.values)


def test_rows_with_half_of_their_values_count_less():
    complete = Evidence.of(np.ones((350, 2)))
    half = complete.hide([1])
    assert split_validation(complete, DEFAULT, seed=0)[1] is not None
    assert split_validation(half, DEFAULT, seed=0) == (half, None)  # it is cross-validated


def test_the_recipe_of_the_paper_holds_out_no_rows():
    evidence = draw_evidence(100)
    assert split_validation(evidence, PAPER, seed=0) == (evidence, None)


@pytest.mark.parametrize(("recipe", "scored"), [(SMALL, [3]), (PAPER, [0, 1, 2, 3])])
def test_only_the_declared_target_is_scored_with_marginal_heads(recipe, scored):
    rows = draw_evidence(20)
    batch = build_validation(rows, recipe, targets=[3]).batch
    assert (batch.loss_weights > 0).nonzero()[:, 0].tolist() == scored
    assert bool(batch.observed[:, 3].any()) == (recipe is PAPER)  # a scored target is always hidden
    without_target = build_validation(rows, recipe).batch
    assert (without_target.loss_weights > 0).all()


@pytest.mark.parametrize(
    ("n_variables", "n_rows"), [(4, CALIBRATION_ROWS), (5_000, MAX_VALIDATION_ROWS)]
)
def test_calibration_repeats_the_rows_of_narrow_tables_with_more_masks(n_variables, n_rows):
    rows = Evidence.of(np.zeros((20, n_variables)))
    specs = [VariableSpec(Kind.REAL)] * n_variables
    batch = build_validation(rows, targets=[3]).calibration_batch()
    data = CalibrationData.from_batch(Network(specs, "pnp", SMALL), batch, len(rows))
    assert len(data.values) == n_rows
    assert (data.n_rows == 20).all()


@pytest.mark.parametrize("recipe", [SMALL, replace(PAPER, latent=4)])
def test_the_score_is_the_mean_over_hidden_entries(recipe):
    network = build_network(recipe)
    validation = build_validation(draw_evidence(20), recipe)
    batch = validation.batch
    scores = entry_scores(network, batch)
    is_hidden = (batch.weights > 0) & (batch.observed == 0)
    assert validation.score(network) == pytest.approx(scores[is_hidden].mean().item(), rel=1e-5)


def test_there_is_no_score_if_no_entry_is_hidden():
    recipe = replace(SMALL, max_missing=0.0)
    assert build_validation(draw_evidence(20), recipe).score(build_network(recipe)) is None


def test_rows_of_a_group_are_never_split():
    groups = np.repeat(np.arange(400), 3)
    evidence = replace(Evidence.of(np.arange(1200.0)[:, None]), groups=groups)
    training, held_out = split_validation(evidence, DEFAULT, seed=0)
    assert len(training) == 360 * 3
    assert sorted(held_out.groups) == sorted(set(held_out.groups))
    assert sorted([*set(training.groups), *held_out.groups]) == list(range(400))


def test_a_group_that_is_held_out_by_its_number_stays_held_out():
    groups = np.repeat(np.random.default_rng(0).permutation(10_000)[:100], 2)
    evidence = replace(Evidence.of(np.arange(200.0)[:, None]), groups=groups)
    training, held_out = split_by_content(evidence, DEFAULT)
    smaller_training, _ = split_by_content(evidence[:150], DEFAULT)
    assert not set(training.groups) & set(held_out.groups)
    assert not set(smaller_training.groups) & set(held_out.groups)
