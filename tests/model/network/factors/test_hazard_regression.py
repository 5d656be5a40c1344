"""The regression of hazards on the factors, against the truth."""

import numpy as np
import torch

from eddi.model.network.factors.factor_model import FactorPosterior, Factors
from eddi.model.network.factors.hazard_regression import find_directions, fit_hazard_regression
from eddi.model.network.hazards import DiscreteHazard
from eddi.model.network.likelihood import VariableSpec
from eddi.table.survival.time_bins import SurvivalTimes
from eddi.table.variable import Kind

TRUTH = np.array([0.8, -0.5, 0.0, 0.0])


def fit(n_rows, weights=TRUTH, *, n_copies=1, directions=None):
    """Weights that are fitted to exponential times with censoring, for factors that are known.

    Several copies of each row are a group.
    """
    random = np.random.default_rng(0)
    z = random.normal(size=(n_rows, len(weights)))
    death, end = random.exponential(1 / np.exp(z @ weights)), random.uniform(0, 3, n_rows)
    times = SurvivalTimes(np.minimum(death, end), (death <= end).astype(float))
    edges = times.find_edges("death")
    numbers = torch.tensor(times.to_numbers(edges), dtype=torch.float32)
    likelihood = DiscreteHazard([VariableSpec(Kind.SURVIVAL, len(edges) + 1)])
    likelihood.init_from_data(numbers[:, None], torch.ones(n_rows, 1, dtype=torch.bool))
    covariance = torch.zeros(n_rows * n_copies, len(weights), len(weights))
    factors = FactorPosterior(torch.tensor(z, dtype=torch.float32).repeat(n_copies, 1), covariance)
    groups = np.tile(np.arange(n_rows), n_copies)
    return fit_hazard_regression(
        likelihood, 0, numbers.repeat(n_copies), factors, directions=directions, groups=groups
    )


def test_effects_are_found():
    weights, covariance, _ = fit(3000)
    assert np.allclose(weights, TRUTH, atol=0.08)
    assert (np.abs(weights.numpy() - TRUTH) < 3 * covariance.diag().sqrt().numpy()).all()


def test_several_rows_of_a_person_count_as_one():
    for single, repeated in zip(fit(200), fit(200, n_copies=3), strict=True):
        assert torch.allclose(single, repeated, atol=1e-4)


def test_without_effects_the_weights_are_shrunk_to_zero():
    weights, _, constants = fit(300, np.zeros(4))
    assert np.abs(weights.numpy()).max() < 0.08
    assert np.abs(constants.numpy()).max() < 0.2


def test_very_few_rows_give_finite_weights():
    weights, _, constants = fit(12)
    assert torch.isfinite(weights).all()
    assert torch.isfinite(constants).all()


def test_directions_are_a_root_of_the_products_of_standardised_loadings():
    specs = [VariableSpec(Kind.REAL, 0), VariableSpec(Kind.BINARY, 2), VariableSpec(Kind.SURVIVAL, 5)]
    factors = Factors(specs, 3)
    packed = factors.pack()
    loadings = packed.loadings[:2, 0].detach()
    variance = loadings.square().sum(1) + 1 / packed.precision[:2, 0].detach()
    root = find_directions(packed)
    assert root.shape == (3, 2)  # no direction for the survival variable
    expected = (loadings.T / variance) @ loadings
    assert torch.allclose(root @ root.T, expected, atol=1e-5)


def test_weights_stay_within_the_directions():
    root = torch.tensor([[1.0], [0.0], [0.0], [0.0]])
    weights, covariance, _ = fit(300, directions=root)
    assert weights[0] > 0.4
    assert (weights[1:] == 0).all()
    assert (covariance[1:] == 0).all()
