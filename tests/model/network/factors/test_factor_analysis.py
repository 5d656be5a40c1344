"""Factor analysis with missing values."""

import numpy as np
import torch

from eddi.model.network.factors.factor_analysis import _Triangle, fit_factors


def test_factor_analysis_recovers_a_covariance_from_rows_with_missing_values():
    random = np.random.default_rng(0)
    loadings = random.normal(size=(8, 2))
    covariance = loadings @ loadings.T + 0.25 * np.eye(8)
    x = torch.from_numpy(random.multivariate_normal(np.zeros(8), covariance, size=3000))
    observed = torch.from_numpy(random.random(x.shape) > 0.3).double()
    found = fit_factors(x, observed, n_factors=2)
    fitted = (found.loadings @ found.loadings.T + torch.diag(found.noise)).numpy()
    assert np.abs(fitted - covariance).max() < 0.12 * np.abs(covariance).max()


def test_the_noise_of_few_rows_is_shrunk_instead_of_vanishing():
    x = torch.from_numpy(np.random.default_rng(0).normal(size=(5, 12)))
    noise = fit_factors(x, torch.ones_like(x), n_factors=10).noise
    assert (noise > 0.02 * x.square().mean(0)).all()


def test_the_mean_is_that_of_all_rows_if_values_are_missing_at_random():
    random = np.random.default_rng(0)
    z = random.normal(size=(4_000, 1))
    x = torch.from_numpy(z + 0.5 * random.normal(size=(4_000, 3)))
    observed = torch.ones_like(x)
    observed[:, 1] = (x[:, 0] > 0).double()  # large values are observed more often
    centred = x - (x * observed).sum(0) / observed.sum(0)
    found = fit_factors(centred, observed, n_factors=1)
    all_rows = centred.mean(0)  # of all rows; that of the observed ones is 0
    assert all_rows[1] < -0.5
    assert torch.allclose(found.mean, all_rows, atol=0.06)


def test_a_row_with_a_weight_counts_as_that_many_rows():
    x = torch.from_numpy(np.random.default_rng(0).normal(size=(40, 5)))
    observed = (x > -1).double()
    weights = torch.tensor([3.0, 1.0]).repeat_interleave(20).double()
    found = fit_factors(x, observed, n_factors=2, weights=weights)
    repeats = weights.long()
    repeated = fit_factors(
        x.repeat_interleave(repeats, 0), observed.repeat_interleave(repeats, 0), n_factors=2
    )
    torch.testing.assert_close(found.loadings.abs(), repeated.loadings.abs())
    torch.testing.assert_close(found.noise, repeated.noise)
    torch.testing.assert_close(found.mean, repeated.mean)


def test_a_symmetric_matrix_is_its_upper_triangle():
    vectors = torch.randn(3, 4, generator=torch.Generator().manual_seed(0))
    triangle, matrices = _Triangle.of(4, torch.device("cpu")), vectors[:, :, None] * vectors[:, None, :]
    assert triangle.products(vectors).shape == (3, 10)
    assert torch.equal(triangle.pack(matrices), triangle.products(vectors))
    assert torch.equal(triangle.unpack(triangle.pack(matrices)), matrices)
