"""Artificial tables have the structure of their definitions."""

import numpy as np
import pytest

from eddi_benchmarks.data import synthetic
from eddi_benchmarks.data.synthetic import MIXTURES, TARGET


def test_the_bits_of_a_class_are_at_its_own_place_in_cube():
    mixture = synthetic.cube()
    assert mixture.mean.shape == (8, 20)
    assert mixture.mean[6, 6:9].tolist() == [0, 1, 1]  # six is 110 in binary, lowest bit first
    informative = mixture.sd == synthetic.SIGNAL_SD
    assert informative.sum(1).tolist() == [3] * 8
    assert not informative[:, 10:].any()


def test_only_the_block_of_the_context_is_informative_in_cube_nm():
    mixture = synthetic.cube_nm()
    assert mixture.mean.shape == (40, 55)
    assert mixture.groups == {"context": ("x0", "x1", "x2", "x3", "x4")}
    for context in range(5):
        components = mixture.mean[:, context] == 1
        assert sorted(mixture.classes[components]) == list(range(8))  # says nothing about the class
        blocks = np.flatnonzero((mixture.sd[components][:, 5:] == synthetic.SIGNAL_SD).any(0)) // 10
        assert set(blocks) == {context}


def test_neither_bit_of_xor_is_informative_by_itself():
    mixture = synthetic.xor()
    for bit in range(2):
        for value in (0, 1):
            assert sorted(mixture.classes[mixture.mean[:, bit] == value]) == [0, 1]


@pytest.mark.parametrize("name", MIXTURES)
def test_rows_are_drawn_around_the_means_of_one_component(name):
    mixture = MIXTURES[name]()
    table = mixture.draw_rows(500, np.random.default_rng(0))
    assert list(table.columns) == [*mixture.names, TARGET]
    assert set(table[TARGET]) == set(range(mixture.n_classes))
    distance = (table[list(mixture.names)].to_numpy()[:, None] - mixture.mean) / mixture.sd
    nearest = (np.square(distance) + 2 * np.log(mixture.sd)).sum(-1).argmin(1)
    assert (mixture.classes[nearest] == table[TARGET]).mean() > 0.9  # the classes of CUBE overlap


def test_the_last_variable_of_syn_determines_which_others_matter():
    table = synthetic.draw_syn_rows("syn1", 20_000, np.random.default_rng(0))
    below = table[table.x10 < 0]
    product = np.sign(below.x0 * below.x1)
    assert below[TARGET][product < 0].mean() > 0.75 > 0.25 > below[TARGET][product > 0].mean()
    above = table[table.x10 >= 0]
    product = np.sign(above.x0 * above.x1)
    assert abs(above[TARGET][product < 0].mean() - above[TARGET][product > 0].mean()) < 0.05


def test_equal_seeds_give_equal_rows():
    first, second = (synthetic.draw_syn_rows("syn2", 50, np.random.default_rng(3)) for _ in range(2))
    assert first.equals(second)


def test_collinear_rows_have_the_covariance_of_factors_and_noise():
    random = np.random.default_rng(0)
    classes = synthetic.collinear_gaussian(random)
    eigenvalues = np.linalg.eigvalsh(classes.covariance)
    assert eigenvalues[:15] == pytest.approx(0.15**2)  # the noise
    assert eigenvalues[15] > 1  # the smallest of three factors
    table = classes.draw_rows(4_000, random)
    residual = table[list(classes.names)].to_numpy() - classes.mean[table[TARGET]]
    assert np.cov(residual.T) == pytest.approx(classes.covariance, abs=0.5)
    assert np.bincount(table[TARGET]).min() > 900


def test_the_noise_of_the_bits_can_be_that_of_afabench():
    noisy = synthetic.cube_nm(5, signal_sd=0.3)
    assert set(noisy.sd[:, 5:].ravel()) == {0.3}
    assert set(noisy.sd[:, :5].ravel()) == {0.1}  # the context stays clear
    np.testing.assert_array_equal(noisy.mean, synthetic.cube_nm(5).mean)
    assert set(synthetic.cube(signal_sd=0.3).sd.ravel()) == {0.3}
