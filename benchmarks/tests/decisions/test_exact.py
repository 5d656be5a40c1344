"""Interviews with exact inference."""

import math

import numpy as np
import pytest

from eddi_benchmarks.data import synthetic
from eddi_benchmarks.decisions.exact import ExactInterviewer


def interview(mixture, n_steps, *, lookahead, n_rows=60):
    rows = mixture.draw_rows(n_rows, np.random.default_rng(0))
    numbers, classes = rows[list(mixture.names)].to_numpy(), rows["y"].to_numpy()
    return ExactInterviewer(mixture).interview(numbers, classes, n_steps, lookahead=lookahead)


def test_the_information_of_a_decisive_bit_is_its_entropy_and_that_of_noise_is_zero():
    interviewer = ExactInterviewer(synthetic.xor())
    first_bit_observed = np.array([[0.5, 0.5, 0.0, 0.0]])
    information = interviewer.information(first_bit_observed)[0]
    assert information[1] == pytest.approx(math.log(2), abs=1e-4)
    assert np.abs(np.delete(information, 1)).max() < 1e-9


def test_lookahead_asks_the_context_first_although_it_has_no_information_by_itself():
    mixture = synthetic.context()
    interviewer = ExactInterviewer(mixture)
    prior = np.full((1, len(mixture.classes)), 1 / len(mixture.classes))
    assert interviewer.questions[0][0] == "context"
    assert interviewer.information(prior)[0, 0] == pytest.approx(0, abs=1e-9)
    greedy, lookahead = (interview(mixture, 3, lookahead=value) for value in (False, True))
    assert (lookahead.order[:, 0] == 0).all()
    assert lookahead.accuracy[2] == 1.0
    assert greedy.accuracy[2] < 0.9
    assert greedy.accuracy[3] == 1.0


def test_predictions_follow_bayes_rule():
    mixture = synthetic.cube()
    rows = mixture.draw_rows(5, np.random.default_rng(1))
    numbers, classes = rows[list(mixture.names)].to_numpy(), rows["y"].to_numpy()
    curves = ExactInterviewer(mixture).interview(numbers, classes, 20, lookahead=False)
    standardised = (numbers[:, None] - mixture.mean) / mixture.sd
    expected = np.exp((-0.5 * np.square(standardised) - np.log(mixture.sd)).sum(-1))
    expected /= expected.sum(1, keepdims=True)
    assert curves.probabilities[:, -1] == pytest.approx(expected, abs=1e-9)


def test_only_lookahead_asks_the_context_of_cube_nm_first():
    mixture = synthetic.cube_nm()
    greedy, lookahead = (interview(mixture, 4, lookahead=v, n_rows=25) for v in (False, True))
    assert (lookahead.order[:, 0] == 0).all()
    assert not (greedy.order[:, 0] == 0).any()
    assert lookahead.log_prob[:, 4].mean() > greedy.log_prob[:, 4].mean() + 0.2
