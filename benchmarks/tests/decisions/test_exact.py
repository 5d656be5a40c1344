"""The exact chooser knows what can be known."""

import math

import numpy as np
import pytest

from eddi_benchmarks.data import synthetic
from eddi_benchmarks.decisions.exact import Exact


def interviews(world, n_steps, *, ahead, n_rows=60):
    rows = world.rows(n_rows, np.random.default_rng(0))
    numbers, classes = rows[list(world.names)].to_numpy(), rows["y"].to_numpy()
    return Exact(world).interview(numbers, classes, n_steps, ahead=ahead)


def test_information_of_a_sharp_bit_is_its_entropy_and_of_noise_nothing():
    exact = Exact(synthetic.xor())
    knowing_the_first = np.array([[0.5, 0.5, 0.0, 0.0]])
    told = exact.information(knowing_the_first)[0]
    assert told[1] == pytest.approx(math.log(2), abs=1e-4)
    assert np.abs(np.delete(told, 1)).max() < 1e-9


def test_the_context_is_worth_nothing_now_and_everything_later():
    world = synthetic.context()
    exact = Exact(world)
    even = np.full((1, len(world.classes)), 1 / len(world.classes))
    assert exact.questions[0][0] == "context"
    assert exact.information(even)[0, 0] == pytest.approx(0, abs=1e-9)
    greedy, ahead = (interviews(world, 3, ahead=ahead) for ahead in (False, True))
    assert (ahead.order[:, 0] == 0).all()
    assert ahead.accuracy[2] == 1.0
    assert greedy.accuracy[2] < 0.9
    assert greedy.accuracy[3] == 1.0


def test_beliefs_are_those_of_bayes_rule():
    world = synthetic.cube()
    rows = world.rows(5, np.random.default_rng(1))
    numbers, classes = rows[list(world.names)].to_numpy(), rows["y"].to_numpy()
    curves = Exact(world).interview(numbers, classes, 20, ahead=False)
    density = -0.5 * np.square((numbers[:, None] - world.mean) / world.sd) - np.log(world.sd)
    by_hand = np.exp(density.sum(-1))
    by_hand /= by_hand.sum(1, keepdims=True)
    assert curves.probabilities[:, -1] == pytest.approx(by_hand, abs=1e-9)


def test_looking_ahead_asks_for_the_context_first_where_greedy_does_not():
    world = synthetic.cube_nm()
    greedy, ahead = (interviews(world, 4, ahead=ahead, n_rows=25) for ahead in (False, True))
    assert (ahead.order[:, 0] == 0).all()
    assert not (greedy.order[:, 0] == 0).any()
    assert ahead.log_prob[:, 4].mean() > greedy.log_prob[:, 4].mean() + 0.2
