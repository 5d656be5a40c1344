"""Made-up tables hold what their definitions say, and no more."""

import numpy as np
import pytest

from eddi_benchmarks.data import synthetic
from eddi_benchmarks.data.synthetic import TARGET, WORLDS


def test_the_bits_of_a_class_stand_at_its_own_place_in_cube():
    world = synthetic.cube()
    assert world.mean.shape == (8, 20)
    assert world.mean[6, 6:9].tolist() == [0, 1, 1]  # six is 110, the lowest bit first
    sharp = world.sd == synthetic.SHARP
    assert sharp.sum(1).tolist() == [3] * 8
    assert not sharp[:, 10:].any()


def test_only_the_block_of_the_context_tells_of_the_class_in_cube_nm():
    world = synthetic.cube_nm()
    assert world.mean.shape == (40, 55)
    assert world.groups == {"context": ("x0", "x1", "x2", "x3", "x4")}
    for context in range(5):
        here = world.mean[:, context] == 1
        assert sorted(world.classes[here]) == list(range(8))  # the context says nothing of the class
        told = np.flatnonzero((world.sd[here][:, 5:] == synthetic.SHARP).any(0)) // 10
        assert set(told) == {context}


def test_neither_bit_alone_says_whether_two_differ():
    world = synthetic.xor()
    for bit in range(2):
        for value in (0, 1):
            assert sorted(world.classes[world.mean[:, bit] == value]) == [0, 1]


@pytest.mark.parametrize("name", WORLDS)
def test_rows_are_drawn_around_the_means_of_one_hypothesis(name):
    world = WORLDS[name]()
    table = world.rows(500, np.random.default_rng(0))
    assert list(table.columns) == [*world.names, TARGET]
    assert set(table[TARGET]) == set(range(world.n_classes))
    away = (table[list(world.names)].to_numpy()[:, None] - world.mean) / world.sd
    nearest = (np.square(away) + 2 * np.log(world.sd)).sum(-1).argmin(1)
    assert (world.classes[nearest] == table[TARGET]).mean() > 0.9  # classes of CUBE overlap


def test_the_last_variable_of_syn_says_which_others_matter():
    table = synthetic.syn_rows("syn1", 20_000, np.random.default_rng(0))
    below = table[table.x10 < 0]
    product = np.sign(below.x0 * below.x1)
    assert below[TARGET][product < 0].mean() > 0.75 > 0.25 > below[TARGET][product > 0].mean()
    above = table[table.x10 >= 0]
    product = np.sign(above.x0 * above.x1)
    assert abs(above[TARGET][product < 0].mean() - above[TARGET][product > 0].mean()) < 0.05


def test_the_same_seed_gives_the_same_rows():
    one, same = (synthetic.syn_rows("syn2", 50, np.random.default_rng(3)) for _ in range(2))
    assert one.equals(same)
