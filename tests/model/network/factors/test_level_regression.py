"""Logistic regression on the factors, against scikit-learn and Monte Carlo draws."""

import numpy as np
import pytest
import torch
from sklearn.linear_model import LogisticRegression

from eddi.model.network.factors.factor_model import FactorPosterior
from eddi.model.network.factors.level_regression import CONSTANT_PENALTY, LevelRegression, LevelRows

K = 3
TRUTH = np.array([[1.2, -0.8, 0.0], [-0.5, 0.4, 0.9], [0.0, 0.3, -1.1]])  # [levels, K]


def draw(n_rows, n_levels, seed=0):
    """Factors that are known, and levels that follow a logistic regression on them."""
    random = np.random.default_rng(seed)
    z = random.normal(size=(n_rows, K))
    logits = z @ TRUTH[:n_levels].T + random.gumbel(size=(n_rows, n_levels))
    return z, logits.argmax(1)


def make_rows(z, levels, *, variance=0.0, weights=None, root=None):
    mean = torch.tensor(z, dtype=torch.float32)
    covariance = variance * torch.eye(K).expand(len(z), -1, -1)
    return LevelRows.from_factors(
        FactorPosterior(mean, covariance),
        torch.tensor(levels),
        torch.ones(len(z)) if weights is None else torch.tensor(weights),
        n_levels=int(max(levels)) + 1,
        root=torch.eye(K) if root is None else root,
    )


def fit(rows, penalty=2.0):
    return rows.fit(penalty, rows.start())


@pytest.mark.parametrize("n_levels", [2, 3])
def test_weights_are_those_of_scikit_learn(n_levels):
    z, levels = draw(400, n_levels)
    params = fit(make_rows(z, levels), penalty=2.0)
    # Two levels of scikit-learn have one vector of weights, the difference of ours, and so half the penalty.
    theirs = LogisticRegression(C=1 / (1.0 if n_levels == 2 else 2.0), tol=1e-8, max_iter=1000)
    expected = theirs.fit(z, levels).coef_.T
    ours = params[:-1, 1:] - params[:-1, :1] if n_levels == 2 else params[:-1]
    np.testing.assert_allclose(ours, expected, atol=2e-3 / CONSTANT_PENALTY)


def test_a_row_of_weight_two_counts_as_two_rows():
    z, levels = draw(60, 3)
    twice = make_rows(np.concatenate([z, z[:20]]), np.concatenate([levels, levels[:20]]))
    weighted = make_rows(z, levels, weights=[2.0] * 20 + [1.0] * 40)
    torch.testing.assert_close(fit(twice), fit(weighted), atol=1e-3, rtol=1e-3)


def test_weights_stay_within_the_directions():
    z, levels = draw(200, 2)
    rows = make_rows(z, levels, root=torch.tensor([[1.0], [0.0], [0.0]]))
    loadings = rows.regression(fit(rows), is_binary=True).loadings
    assert abs(loadings[0, 0]) > 0.5
    assert (loadings[0, 1:] == 0).all()


@pytest.mark.parametrize("levels", [[0, 1], [0, 0, 0, 1], [0, 0, 0, 2], [0] * 20 + [1] * 20], ids=str)
def test_rows_that_few_weights_separate_give_finite_weights(levels):
    z = np.array(levels)[:, None] * np.ones(K)
    assert torch.isfinite(fit(make_rows(z, levels), penalty=0.1)).all()


@pytest.mark.parametrize("n_levels", [2, 3])
def test_uncertain_factors_give_about_the_mean_probabilities_over_draws(n_levels):
    z, levels = draw(400, n_levels)
    rows = make_rows(z, levels)
    regression = rows.regression(fit(rows), is_binary=n_levels == 2)
    mean, spread = torch.tensor([0.8, -0.5, 0.3]), 0.7
    posterior = FactorPosterior(mean[None], spread**2 * torch.eye(K)[None])
    draws = mean + spread * torch.randn(20_000, K, generator=torch.Generator().manual_seed(0))
    certain = FactorPosterior(draws, torch.zeros(len(draws), K, K))
    expected = probabilities(regression, certain).mean(0)
    torch.testing.assert_close(probabilities(regression, posterior)[0], expected, atol=0.03, rtol=0)


def probabilities(regression: LevelRegression, factors: FactorPosterior):
    logits = regression.logits(factors)
    if logits.shape[1] == 1:
        logits = torch.nn.functional.pad(logits, (1, 0))
    return logits.softmax(-1)


def test_without_knowledge_the_probabilities_are_about_the_shares():
    z, levels = draw(2000, 3)
    rows = make_rows(z, levels)
    unknown = FactorPosterior(torch.zeros(1, K), torch.eye(K)[None])
    shares = torch.bincount(torch.tensor(levels)) / len(levels)
    ours = probabilities(rows.regression(fit(rows), is_binary=False), unknown)[0]
    torch.testing.assert_close(ours, shares, atol=0.03, rtol=0)


def test_the_weighted_logits_are_added():
    factors = FactorPosterior(torch.tensor([[1.0, 0.0, 0.0]]), torch.zeros(1, K, K))
    regression = LevelRegression(
        loadings=torch.tensor([[2.0, 0.0, 0.0]]),
        constants=torch.tensor([0.5]),
        variance_factor=torch.ones(1),
        mixing_weight=torch.tensor([0.4]),
        rows=torch.tensor([1]),
    )
    outputs = regression.add_to(torch.tensor([[10.0, 20.0]]), factors)
    torch.testing.assert_close(outputs, torch.tensor([[10.0, 21.0]]))
