import numpy as np
import pytest
import torch

from eddi.model.network.factors.factor_analysis import fit_factors
from eddi.model.network.factors.shrinkage import MAX_SHRINKAGE, estimate_shrinkage


def draw_rows(n_rows, *, correlation, n_columns=6, seed=0):
    covariance = np.full((n_columns, n_columns), correlation) + (1 - correlation) * np.eye(n_columns)
    rows = np.random.default_rng(seed).multivariate_normal(np.zeros(n_columns), covariance, n_rows)
    return torch.from_numpy(rows)


def estimate(rows, observed=None, weights=None):
    observed = torch.ones_like(rows) if observed is None else observed
    weights = torch.ones(len(rows), dtype=rows.dtype) if weights is None else weights
    return float(estimate_shrinkage(rows, observed, weights))


def test_the_share_is_that_of_the_formula_for_equal_correlations():
    share = estimate(draw_rows(2_000, correlation=0.5))
    assert share == pytest.approx((1 - 0.25) ** 2 / 1_999 / 0.25, rel=0.2)


def test_correlations_by_chance_are_shrunk_most():
    assert estimate(draw_rows(30, correlation=0.0)) > 0.6
    assert estimate(draw_rows(30, correlation=0.8)) < 0.05


def test_a_shrunk_correlation_is_closer_to_the_truth():
    rows = draw_rows(25, correlation=0.1, n_columns=12)
    sample, share = torch.corrcoef(rows.T), estimate(rows)
    truth = 0.1 + 0.9 * torch.eye(12, dtype=rows.dtype)
    shrunk = (1 - share) * sample + share * torch.eye(12, dtype=rows.dtype)
    assert (shrunk - truth).square().mean() < 0.5 * (sample - truth).square().mean()


def test_columns_without_values_or_variation_have_no_effect():
    rows = draw_rows(200, correlation=0.3)
    observed = torch.ones_like(rows)
    padded = torch.cat([rows, torch.zeros(200, 1), torch.full((200, 1), 7.0)], dim=1)
    known = torch.cat([observed, torch.zeros(200, 1), torch.ones(200, 1)], dim=1)
    assert estimate(padded, known) == pytest.approx(estimate(rows), rel=1e-6)


def test_rows_that_count_twice_are_rows_that_occur_twice():
    rows = draw_rows(60, correlation=0.2)
    weights = torch.full((60,), 2.0, dtype=rows.dtype)
    assert estimate(rows, weights=weights) == pytest.approx(estimate(rows.repeat(2, 1)), rel=1e-6)


def test_unrelated_columns_are_never_shrunk_completely():
    assert estimate(draw_rows(5, correlation=0.0, seed=2)) <= MAX_SHRINKAGE
    assert estimate(torch.zeros(4, 3, dtype=torch.float64)) == 0.0


def test_shrinking_keeps_the_variances_and_reduces_the_correlations():
    rows = draw_rows(40, correlation=0.4)
    analysis = fit_factors(rows, torch.ones_like(rows), n_factors=3)
    shrunk = analysis.shrink(2.0)
    before, after = (a.loadings @ a.loadings.T + torch.diag(a.noise) for a in (analysis, shrunk))
    share = 2 * float(analysis.shrinkage)
    assert after.diagonal() == pytest.approx(before.diagonal())
    assert after[0, 1] == pytest.approx((1 - share) * before[0, 1])
