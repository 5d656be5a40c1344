"""Marginal heads: scales, scale groups, and the heads of some variables alone."""

from dataclasses import replace

import numpy as np
import pytest
import torch

from eddi.model.network.likelihood import VariableSpec
from eddi.model.network.marginals import N_SCALE_GROUPS, Marginals, group_by_scale
from eddi.model.recipe import DEFAULT
from eddi.table.evidence import Evidence
from eddi.table.variable import Kind

SPECS = (
    VariableSpec(Kind.REAL),
    VariableSpec(Kind.CATEGORY, 3),
    VariableSpec(Kind.COUNT, 0, 1.0, 0.5),
    VariableSpec(Kind.REAL),
    VariableSpec(Kind.ORDINAL, 4),
    VariableSpec(Kind.BINARY, 2),
)
WIDTH = 5
QUANTITIES = [0, 2, 3]


@pytest.fixture
def marginals():
    torch.manual_seed(0)
    marginals = Marginals(SPECS, replace(DEFAULT, noise_floor=0.02), WIDTH).requires_grad_(False)
    for head in marginals.heads():
        if head.likelihood.calibration_params is not None:
            head.likelihood.calibration_params = 0.5 + torch.rand_like(
                head.likelihood.calibration_params
            )
    return marginals


def test_quantities_have_a_positive_scale_and_levels_have_none(marginals):
    scale = marginals.predictive_scale(marginals(torch.randn(7, WIDTH)))
    assert scale.shape == (7, len(SPECS))
    assert [bool((scale[:, place] > 0).all()) for place in range(len(SPECS))] == [
        place in QUANTITIES for place in range(len(SPECS))
    ]


def test_predictions_are_grouped_by_their_scale():
    edges = torch.tensor([[1.0], [2.0], [torch.inf], [torch.inf]])
    scale = torch.tensor([[0.5], [1.0], [1.5], [99.0]])
    assert group_by_scale(scale, edges)[:, 0].tolist() == [0, 0, 1, 2]


def test_the_interval_of_a_prediction_is_that_of_its_scale_group(marginals):
    outputs = marginals(torch.randn(50, WIDTH))
    scale = marginals.predictive_scale(outputs)
    middle = scale[:, 0].median()
    marginals.group_edges[0, 0] = middle
    marginals.tail_mass[:, 0] = torch.arange(1, N_SCALE_GROUPS + 1) / 100
    tail_mass = marginals.interval_tail_mass(outputs[None])
    expected = torch.where(scale[:, 0] > middle, 0.02, 0.01)
    torch.testing.assert_close(tail_mass[:, 0], expected)
    torch.testing.assert_close(tail_mass[:, 1:], torch.full((50, len(SPECS) - 1), 0.05))


@pytest.mark.parametrize("variables", [[4], [3, 0], [5, 2, 1], list(range(len(SPECS)))])
def test_the_heads_of_some_variables_give_their_calibrated_distributions(marginals, variables):
    outputs = marginals(torch.randn(7, WIDTH))
    level = torch.rand(7, len(SPECS))
    values = marginals.quantile(outputs, level)
    subset = marginals.subset(variables)
    rows = [
        row
        for head in subset.heads()
        for row in marginals.output_rows([variables[place] for place in head.variables.tolist()])
    ]
    own, columns = outputs[:, rows], values[:, variables]
    torch.testing.assert_close(subset.quantile(own, level[:, variables]), columns)
    torch.testing.assert_close(
        subset.log_prob(own, columns), marginals.log_prob(outputs, values)[:, variables]
    )


def test_atoms_are_scored_for_quantities_alone_and_do_not_train_the_features(marginals):
    evidence = Evidence(np.random.default_rng(0).random((40, 6), np.float32), np.ones((40, 6), bool))
    marginals.init_from_data(evidence)
    marginals.requires_grad_(True)
    features = torch.randn(4, WIDTH, requires_grad=True)
    values, weights = torch.rand(4, 6), torch.rand(4, 6)
    score = marginals.atom_score(features, values, weights)
    by_entry = marginals.atoms.training_score(features, values[:, QUANTITIES])
    torch.testing.assert_close(score, (by_entry * weights[:, QUANTITIES]).sum())
    score.backward()
    assert features.grad is None
    assert marginals.atoms.layer.weight.grad.abs().sum() > 0


def test_variables_with_levels_alone_have_no_atoms():
    marginals = Marginals(SPECS[4:], DEFAULT, WIDTH)
    assert marginals.atoms is None
    zero = marginals.atom_score(torch.randn(3, WIDTH), torch.zeros(3, 2), torch.ones(3, 2))
    assert zero == 0
