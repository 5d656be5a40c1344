"""Quasi-random numbers: even, seeded, and available in any number of dimensions."""

import pytest
import torch

from eddi.model.network.quasi_random import MARGIN, joint_noise, standard_normal, uniform


def test_quasi_random_numbers_are_more_even_than_random_ones():
    points = standard_normal(128, 4, seed=0)
    assert points.mean(0).abs().max() < 0.05
    assert (points.std(0) - 1).abs().max() < 0.05
    assert torch.corrcoef(points.T).fill_diagonal_(0).abs().max() < 0.15


@pytest.mark.parametrize("n_dimensions", [3, 30_000])  # Sobol points have at most 21,201
def test_uniform_numbers_lie_strictly_between_zero_and_one(n_dimensions):
    points = uniform(4, n_dimensions, seed=0)
    assert points.shape == (4, n_dimensions)
    assert points.min() >= MARGIN
    assert points.max() <= 1 - MARGIN


def test_more_dimensions_than_sobol_supports_are_uniform():
    points = uniform(3, 30_000, seed=0)
    assert points.mean().item() == pytest.approx(0.5, abs=0.01)
    assert points.std().item() == pytest.approx(12**-0.5, abs=0.01)


@pytest.mark.parametrize("n_dimensions", [3, 30_000])
def test_random_numbers_depend_on_the_seed_alone(n_dimensions):
    first, again, other = (uniform(4, n_dimensions, seed=seed) for seed in (1, 1, 2))
    assert torch.equal(first, again)
    assert not torch.equal(first, other)


def test_joint_noise_is_normal_for_the_latent_and_uniform_for_variables():
    normal, level = joint_noise(256, 3, 5, seed=0)
    assert (normal.shape, level.shape) == ((256, 3), (256, 5))
    assert normal.std(0).tolist() == pytest.approx([1.0] * 3, abs=0.05)
    assert level.mean(0).tolist() == pytest.approx([0.5] * 5, abs=0.01)
    together = torch.cat([normal, torch.special.ndtri(level)], dim=1)
    assert torch.corrcoef(together.T).fill_diagonal_(0).abs().max() < 0.15
