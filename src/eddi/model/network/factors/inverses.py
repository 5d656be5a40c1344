"""Inverses of symmetric positive definite matrices."""

import torch
import torch.nn.functional as F
from torch import Tensor

MAX_CROSS_PRODUCT_ROWS = 3  # of a matrix; a decomposition of many such small matrices takes longer


def invert_positive_definite(matrix: Tensor) -> Tensor:
    """The inverse of symmetric positive definite matrices [..., K, K].

    With V the inverse, 2 V - V M V has the value of V and, if V is taken as constant, its gradient. So
    gradients take two products instead of backpropagation through a decomposition.
    """
    inverse = _decompose_and_invert(matrix.detach())
    return 2 * inverse - inverse @ matrix @ inverse if torch.is_grad_enabled() else inverse


def _decompose_and_invert(matrix: Tensor) -> Tensor:
    if matrix.shape[-1] <= MAX_CROSS_PRODUCT_ROWS and not matrix.is_cuda:
        return _invert_by_cross_products(matrix)
    # A check of the result would wait for the GPU, and hide that a loss is NaN.
    factor = torch.linalg.cholesky_ex(matrix).L
    identity = torch.eye(matrix.shape[-1], device=matrix.device, dtype=matrix.dtype)
    half = torch.linalg.solve_triangular(factor, identity.expand_as(factor), upper=False)
    inverse: Tensor = half.mT @ half
    return inverse


def _invert_by_cross_products(matrix: Tensor) -> Tensor:
    """The inverse of symmetric matrices with up to three rows: the adjugate divided by the determinant.

    The rows of the adjugate of a symmetric matrix with rows a, b, c are b x c, c x a and a x b. Double
    precision, because its entries are small differences of products if the matrix is nearly singular.
    """
    n_missing = MAX_CROSS_PRODUCT_ROWS - matrix.shape[-1]
    rows = F.pad(matrix.double(), (0, n_missing, 0, n_missing))
    if n_missing:  # the other rows are those of the identity
        is_missing = torch.arange(MAX_CROSS_PRODUCT_ROWS, device=matrix.device) >= matrix.shape[-1]
        rows = rows + torch.diag(is_missing.double())
    cyclic = torch.cat([rows, rows[..., :-1, :]], dim=-2)
    adjugate = torch.linalg.cross(cyclic[..., 1:-1, :], cyclic[..., 2:, :])
    determinant = (rows * adjugate).sum(-1, keepdim=True)  # three times, once for each row
    inverse: Tensor = (adjugate / determinant).to(matrix.dtype)
    return inverse[..., : matrix.shape[-1], : matrix.shape[-1]] if n_missing else inverse


def invert_by_elimination(matrix: Tensor) -> Tensor:
    """`invert_positive_definite` with products and sums alone, also for ONNX, which has no decompositions.

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
