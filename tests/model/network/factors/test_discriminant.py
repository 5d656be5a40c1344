"""Levels are predicted as by linear discriminant analysis with the factor model's covariance."""

import numpy as np
import pytest
import torch

from eddi.model.network.factors.discriminant import MAX_LOG_RATIO, LevelDiscriminant
from eddi.model.network.factors.factor_model import Factors
from eddi.model.network.heads import Heads
from eddi.model.network.likelihood import VariableSpec
from eddi.model.network.marginals import marginal_likelihoods
from eddi.table.evidence import Evidence
from eddi.table.variable import Kind

N_QUANTITIES = 4


def make_factors(target):
    """Factors of some quantities and a target, fitted to rows in which levels shift the quantities."""
    specs = [*[VariableSpec(Kind.REAL)] * N_QUANTITIES, target]
    random = np.random.default_rng(0)
    level = random.integers(target.n_levels, size=400)
    shift = random.normal(size=(target.n_levels, N_QUANTITIES))
    x = random.normal(size=(400, 1)) + shift[level] + 0.3 * random.normal(size=(400, N_QUANTITIES))
    values = np.column_stack([x, level]).astype(np.float32)
    factors = Factors(specs, n_factors=5)
    factors.use(factors.analyse(Evidence(values, np.ones_like(values, dtype=bool)), specs))
    return factors.requires_grad_(False), specs


def class_log_densities(factors, specs, values, observed):
    """log p(x_O | level) of Gaussian classes with the factor model's covariance [rows, levels]."""
    packed = factors.pack()
    w = packed.loadings.double()
    noise = [1 / p for p in packed.precision.double()]
    n_inputs = int(factors.is_input[N_QUANTITIES].sum())
    own, own_noise = w[N_QUANTITIES, :n_inputs], noise[N_QUANTITIES][:n_inputs]
    x_loadings, x_noise = w[:N_QUANTITIES, 0], torch.stack([n[0] for n in noise[:N_QUANTITIES]])
    total = own @ own.T + torch.diag(own_noise)
    slope = x_loadings @ own.T @ torch.linalg.inv(total)  # [quantities, inputs]
    within = x_loadings @ x_loadings.T + torch.diag(x_noise) - slope @ own @ x_loadings.T
    inputs = factors.level_inputs_of(N_QUANTITIES, specs[-1].n_levels)[:, :n_inputs].double()
    x = (values - factors.mean[:N_QUANTITIES]).double()
    densities = []
    for row, mask in zip(x, observed.bool(), strict=True):
        normal = torch.distributions.MultivariateNormal
        mean = (inputs @ slope.T)[:, mask]
        densities.append(normal(mean, within[mask][:, mask]).log_prob(row[mask]))
    return torch.stack(densities)


TARGETS = [
    VariableSpec(Kind.BINARY, 2),
    VariableSpec(Kind.ORDINAL, 3),
    VariableSpec(Kind.CATEGORY, 4),
    VariableSpec(Kind.CATEGORY, 2),
]


@pytest.mark.parametrize("target", TARGETS, ids=lambda spec: f"{spec.kind}-{spec.n_levels}")
def test_logits_are_those_of_gaussian_classes_with_equal_covariance(target):
    factors, specs = make_factors(target)
    packed = factors.pack()
    random = torch.Generator().manual_seed(1)
    values = 0.5 * torch.randn((30, N_QUANTITIES), generator=random)
    observed = torch.ones_like(values)
    observed[:15, 1:3] = 0
    rows = torch.cat([values * observed, torch.zeros(30, 1)], dim=1)
    mask = torch.cat([observed, torch.zeros(30, 1)], dim=1)
    heads = Heads([target], marginal_likelihoods(0.1))
    discriminant = LevelDiscriminant.from_heads(heads, [N_QUANTITIES], packed)
    found = discriminant(packed.posterior(packed.code(rows, mask)))
    densities = class_log_densities(factors, specs, values, observed)
    expected = densities - densities[:, :1]
    expected = expected[:, -found.shape[1] :].clamp(-MAX_LOG_RATIO, MAX_LOG_RATIO)
    torch.testing.assert_close(found.double(), expected, rtol=2e-3, atol=2e-2)


def test_without_evidence_all_levels_are_equally_likely_apart_from_their_shares():
    factors, _ = make_factors(VariableSpec(Kind.CATEGORY, 4))
    packed, zeros = factors.pack(), torch.zeros(1, N_QUANTITIES + 1)
    heads = Heads([VariableSpec(Kind.CATEGORY, 4)], marginal_likelihoods(0.1))
    discriminant = LevelDiscriminant.from_heads(heads, [N_QUANTITIES], packed)
    logits = discriminant(packed.posterior(packed.code(zeros, zeros)))
    assert torch.allclose(logits, torch.zeros_like(logits), atol=1e-4)


def test_quantities_have_no_discriminant():
    factors, specs = make_factors(VariableSpec(Kind.BINARY, 2))
    heads = Heads(specs[:2], marginal_likelihoods(0.1))
    assert LevelDiscriminant.from_heads(heads, [0, 1], factors.pack()) is None
