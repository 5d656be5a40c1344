"""Inverses of symmetric positive definite matrices."""

import pytest
import torch

from eddi.model.network.factors.inverses import (
    MAX_CROSS_PRODUCT_ROWS,
    invert_by_elimination,
    invert_positive_definite,
)


@pytest.mark.parametrize("invert", [invert_positive_definite, invert_by_elimination])
@pytest.mark.parametrize("n", [1, 2, MAX_CROSS_PRODUCT_ROWS, 6])
def test_the_inverse_of_a_positive_definite_matrix(invert, n):
    random = torch.Generator().manual_seed(0)
    roots = torch.randn((3, n, n), generator=random, dtype=torch.float64)
    matrices = roots @ roots.mT + 0.1 * torch.eye(n, dtype=torch.float64)
    torch.testing.assert_close(invert(matrices), torch.linalg.inv(matrices))


def test_small_matrices_that_are_nearly_singular_are_inverted_in_single_precision():
    random = torch.Generator().manual_seed(0)
    directions = torch.linalg.qr(torch.randn((20, 3, 3), generator=random, dtype=torch.float64)).Q
    matrices = ((directions * torch.tensor([1.0, 3e-4, 3e-4])) @ directions.mT).float()
    matrices = (matrices + matrices.mT) / 2
    exact = torch.linalg.inv(matrices.double())

    def error(inverse):
        return (inverse.double() - exact).abs().amax((1, 2)) / exact.abs().amax((1, 2))

    a, b, c = matrices.unbind(1)
    adjugate = torch.stack([torch.linalg.cross(*rows) for rows in ((b, c), (c, a), (a, b))], dim=1)
    in_single_precision = adjugate / (a * adjugate[:, 0]).sum(1)[:, None, None]
    assert (error(invert_positive_definite(matrices)) < 2e-4).all()
    assert error(in_single_precision).mean() > 1e-3


def test_gradients_are_those_of_the_inverse():
    random = torch.Generator().manual_seed(1)
    roots = torch.randn((3, 5, 5), generator=random, dtype=torch.float64)
    matrices = (roots @ roots.mT + torch.eye(5, dtype=torch.float64)).requires_grad_()
    weights = torch.randn((3, 5, 5), generator=random, dtype=torch.float64)
    gradients = [
        torch.autograd.grad((invert(matrices) * (weights + weights.mT)).sum(), matrices)[0]
        for invert in (invert_positive_definite, torch.linalg.inv)
    ]
    torch.testing.assert_close(*gradients)
