"""Inverses of symmetric positive definite matrices."""

import torch
from torch import Tensor


def invert_by_cholesky(matrix: Tensor) -> Tensor:
    """The inverse of symmetric positive definite matrices [..., K, K]."""
    # A check of the result would wait for the GPU, and hide that a loss is NaN.
    factor = torch.linalg.cholesky_ex(matrix).L
    if not matrix.is_cuda and not matrix.requires_grad:
        return torch.cholesky_inverse(factor)
    identity = torch.eye(matrix.shape[-1], device=matrix.device, dtype=matrix.dtype)
    inverse = torch.linalg.solve_triangular(factor, identity.expand_as(factor), upper=False)
    covariance: Tensor = inverse.mT @ inverse
    return covariance


def invert_by_elimination(matrix: Tensor) -> Tensor:
    """`invert_by_cholesky` with products and sums alone, for ONNX, which has no decompositions.

    Gauss-Jordan elimination; symmetric positive definite matrices need no pivoting.
    """
    for k in range(matrix.shape[-1]):
        is_pivot = torch.arange(matrix.shape[-1], device=matrix.device) == k
        column, row = matrix[..., :, k : k + 1], matrix[..., k : k + 1, :]
        pivot = matrix[..., k : k + 1, k : k + 1]
        cross = is_pivot[:, None] | is_pivot
        eliminated = matrix - column * row / pivot
        border = torch.where(is_pivot[:, None], row, -column) / pivot
        corner = is_pivot[:, None] & is_pivot
        matrix = torch.where(corner, 1 / pivot, torch.where(cross, border, eliminated))
    return matrix
