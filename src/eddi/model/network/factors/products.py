"""Inputs of factors and products with their loadings, in the fastest form for each device."""

import torch
from torch import Tensor

LINEAR_RANGE = 3.0  # standard deviations; beyond, an input grows logarithmically


def project(vectors: Tensor, loadings: Tensor) -> Tensor:
    """W v for vectors [..., K] and n matrices W [n, inputs, K]: [..., n, inputs]."""
    products = multiply(vectors, loadings.flatten(0, 1))
    return products.view(*products.shape[:-1], *loadings.shape[:2])


def multiply(vectors: Tensor, loadings: Tensor) -> Tensor:
    """w v for vectors v [..., K] and n vectors w [n, K]: [..., n]."""
    # For a single product, a matrix product would be a slow product of many vectors on a GPU.
    if len(loadings) == 1 and vectors.is_cuda:
        return (vectors * loadings).sum(-1, keepdim=True)
    return vectors @ loadings.T


def look_up(table: Tensor, index: Tensor) -> Tensor:
    """The entries of a table at ``index``."""
    return table.index_select(0, index) if index.dim() == 1 else table[index]  # the first is faster


def sum_inputs(by_input: Tensor) -> Tensor:
    """The sum over the inputs of [answers, inputs, ...]."""
    return by_input.squeeze(1) if by_input.shape[1] == 1 else by_input.sum(1)


def soft_clip(x: Tensor) -> Tensor:
    """x within LINEAR_RANGE, and logarithmic growth beyond."""
    inside = x.clamp(-LINEAR_RANGE, LINEAR_RANGE)
    excess = x - inside
    return inside + torch.sign(excess) * torch.log1p(excess.abs())  # ONNX has no copysign
