"""The regression of hazards on the factors, against the truth."""

import numpy as np
import torch

from eddi.model.network.factors.factor_model import FactorPosterior
from eddi.model.network.factors.hazard_regression import fit_hazard_regression
from eddi.model.network.hazards import DiscreteHazard
from eddi.model.network.likelihood import VariableSpec
from eddi.table.survival.time_bins import SurvivalTimes
from eddi.table.variable import Kind

TRUTH = np.array([0.8, -0.5, 0.0, 0.0])


def fit(n_rows, weights=TRUTH):
    """Weights that are fitted to exponential times with censoring, for factors that are known."""
    random = np.random.default_rng(0)
    z = random.normal(size=(n_rows, len(weights)))
    death, end = random.exponential(1 / np.exp(z @ weights)), random.uniform(0, 3, n_rows)
    times = SurvivalTimes(np.minimum(death, end), (death <= end).astype(float))
    edges = times.find_edges("death")
    numbers = torch.tensor(times.to_numbers(edges), dtype=torch.float32)
    likelihood = DiscreteHazard([VariableSpec(Kind.SURVIVAL, len(edges) + 1)])
    likelihood.use(likelihood.analyse(numbers[:, None], torch.ones(n_rows, 1, dtype=torch.bool)))
    covariance = torch.zeros(n_rows, len(weights), len(weights))
    factors = FactorPosterior(torch.tensor(z, dtype=torch.float32), covariance)
    return fit_hazard_regression(likelihood, 0, numbers, factors)


def test_effects_are_found():
    weights, covariance, _ = fit(3000)
    assert np.allclose(weights, TRUTH, atol=0.08)
    assert (np.abs(weights.numpy() - TRUTH) < 3 * covariance.diag().sqrt().numpy()).all()


def test_without_effects_the_weights_are_shrunk_to_zero():
    weights, _, constants = fit(300, np.zeros(4))
    assert np.abs(weights.numpy()).max() < 0.08
    assert np.abs(constants.numpy()).max() < 0.2


def test_very_few_rows_give_finite_weights():
    weights, _, constants = fit(12)
    assert torch.isfinite(weights).all()
    assert torch.isfinite(constants).all()
