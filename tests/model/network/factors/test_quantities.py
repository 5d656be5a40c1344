"""Quantities are predicted as the conditional normal distribution of the factor model."""

import math

import numpy as np
import pytest
import torch

from eddi.model.network.factors.factor_model import Factors
from eddi.model.network.factors.quantities import QuantityPrediction
from eddi.model.network.heads import Heads
from eddi.model.network.likelihood import VariableSpec
from eddi.model.network.marginals import marginal_likelihoods
from eddi.table.evidence import Evidence
from eddi.table.variable import Kind

FLOOR = 0.01
SPECS = [
    VariableSpec(Kind.REAL),
    VariableSpec(Kind.BINARY, 2),
    VariableSpec(Kind.REAL),
    VariableSpec(Kind.COUNT),
]


@pytest.fixture(scope="module")
def packed():
    """Factors that were fitted to three related quantities and a level."""
    random = np.random.default_rng(0)
    z = random.normal(size=(300, 1))
    values = (z + 0.4 * random.normal(size=(300, 4))).astype(np.float32)
    values[:, 1] = values[:, 1] > 0
    factors = Factors(SPECS, n_factors=2)
    factors.use(factors.analyse(Evidence(values, np.ones_like(values, dtype=bool)), SPECS))
    return factors.requires_grad_(False).pack()


def condition(packed, values, observed):
    """Mean and sd of every variable given the observed ones, from the covariance of the factor model."""
    loadings, noise = packed.loadings[:, 0].double(), 1 / packed.precision[:, 0].double()
    covariance = loadings @ loadings.T + torch.diag(noise)
    known = covariance[observed][:, observed]
    cross = covariance[:, observed] @ torch.linalg.inv(known)
    mean = packed.factors.mean + cross @ (values - packed.factors.mean)[observed].double()
    signal = loadings @ loadings.T - cross @ (loadings @ loadings.T)[observed]
    return mean, (signal.diagonal() + noise).sqrt()


def test_means_and_scales_are_those_of_the_conditional_distribution(packed):
    heads = Heads(SPECS, marginal_likelihoods(FLOOR))
    prediction = QuantityPrediction.from_heads(heads, range(4), packed)
    values, observed = torch.tensor([0.4, 1.0, 0.0, 0.0]), torch.tensor([True, True, False, False])
    code = packed.code(values[None], observed[None].float())
    outputs = torch.zeros(1, heads.n_outputs).index_add(
        1, prediction.rows, prediction(packed.posterior(code))
    )
    mean, sd = condition(packed, values, observed)
    real, place = heads.head_of(2)
    found = real.likelihood.mean_and_sd(outputs[:, real.outputs])
    assert [part[0, place].item() for part in found] == pytest.approx(
        [mean[2].item(), sd[2].item()], abs=1e-4
    )
    count, _ = heads.head_of(3)
    location, scale = count.likelihood.location_and_scale(outputs[:, count.outputs])
    assert location.item() == pytest.approx(mean[3].item(), abs=1e-4)
    assert scale.item() == pytest.approx(sd[3].item() * math.sqrt(3) / math.pi, abs=1e-4)


def test_levels_have_no_such_prediction(packed):
    heads = Heads(SPECS[1:2], marginal_likelihoods(FLOOR))
    assert QuantityPrediction.from_heads(heads, [1], packed) is None
