"""Products with loadings equal their definitions."""

import torch

from eddi.model.network.factors.products import (
    LINEAR_RANGE,
    look_up,
    multiply,
    project,
    soft_clip,
    sum_inputs,
)

RANDOM = torch.Generator().manual_seed(0)
VECTORS = torch.randn(3, 5, generator=RANDOM)


def test_vectors_are_multiplied_by_each_of_the_loadings():
    loadings = torch.randn(4, 5, generator=RANDOM)
    expected = torch.einsum("vk,nk->vn", VECTORS, loadings)
    torch.testing.assert_close(multiply(VECTORS, loadings), expected)


def test_vectors_are_projected_by_each_of_the_matrices():
    matrices = torch.randn(4, 2, 5, generator=RANDOM)
    expected = torch.einsum("vk,nik->vni", VECTORS, matrices)
    torch.testing.assert_close(project(VECTORS, matrices), expected)


def test_entries_are_looked_up_for_any_shape_of_the_index():
    table, index = torch.arange(10.0), torch.tensor([[1, 7], [3, 3]])
    assert look_up(table, index).tolist() == [[1, 7], [3, 3]]
    assert look_up(table, index[0]).tolist() == [1, 7]


def test_inputs_are_summed():
    by_input = torch.randn(3, 2, 5, generator=RANDOM)
    torch.testing.assert_close(sum_inputs(by_input), by_input[:, 0] + by_input[:, 1])
    assert sum_inputs(by_input[:, :1]).equal(by_input[:, 0])


def test_inputs_are_linear_near_the_mean_and_logarithmic_far_from_it():
    x = torch.tensor([-1e6, -LINEAR_RANGE, 0.5, LINEAR_RANGE, 1e6])
    clipped = soft_clip(x)
    assert torch.equal(clipped[1:4], x[1:4])
    assert clipped[4] == -clipped[0] < 20
    assert soft_clip(torch.tensor([torch.inf])).tolist() == [torch.inf]
