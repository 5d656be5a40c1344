from dataclasses import replace

import numpy as np
import pytest
import torch

from eddi.model.network.likelihood import VariableSpec
from eddi.model.network.network import Network
from eddi.model.recipe import DEFAULT, adapt_to_rows
from eddi.model.training.validation import (
    CPU,
    SHRINKAGE_MULTIPLES,
    Validation,
    choose_shrinkage,
)
from eddi.table.evidence import Evidence
from eddi.table.variable import Kind

N_VARIABLES, TARGET = 12, 11
RECIPE = replace(adapt_to_rows(DEFAULT, 40), hidden=(8, 8))


def fit(draw, n_rows):
    """A network fitted to rows, and its validation with other rows."""
    specs = [VariableSpec(Kind.REAL)] * N_VARIABLES
    rows, held_out = (to_evidence(draw(n, seed)) for n, seed in ((n_rows, 0), (400, 1)))
    network = Network(specs, "precision", RECIPE)
    return network.fit_factors(rows), Validation(held_out, RECIPE, seed=0, device=CPU, targets=[TARGET])


def to_evidence(values):
    return Evidence(values.astype(np.float32), np.ones_like(values, dtype=bool))


def draw_unrelated(n_rows, seed):
    return np.random.default_rng(seed).normal(size=(n_rows, N_VARIABLES))


def draw_sum(n_rows, seed):
    """The target is the sum of two variables that are not related to each other."""
    values = draw_unrelated(n_rows, seed)
    values[:, TARGET] = (values[:, 0] + values[:, 1]) / 2**0.5
    return values


def test_relations_by_chance_are_shrunk_more_than_those_of_the_target():
    chance, related = (
        choose_shrinkage(*zip(fit(draw, 40), strict=True)) for draw in (draw_unrelated, draw_sum)
    )
    assert chance == max(SHRINKAGE_MULTIPLES)
    assert related == min(SHRINKAGE_MULTIPLES)


def test_the_chosen_shrinkage_is_in_use():
    factor_fit, validation = fit(draw_sum, 40)
    chosen = choose_shrinkage([factor_fit], [validation])
    expected = factor_fit.analysis.shrink(chosen).loadings.float().flatten()
    torch.testing.assert_close(factor_fit.network.set_encoder.factors.flat_loadings, expected)


def test_without_held_out_rows_the_estimate_is_used():
    factor_fit, _ = fit(draw_sum, 40)
    assert choose_shrinkage([factor_fit], [None]) == 1.0


def test_networks_without_factors_need_none():
    assert choose_shrinkage([None], [None]) == pytest.approx(1.0)
