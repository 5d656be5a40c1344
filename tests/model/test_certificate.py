"""What a promise stands on: the walk over thresholds, and that it keeps what it promises."""

import json
import math

import numpy as np
import pytest

from eddi.model.certificate import THRESHOLDS, Certificate

GRID = (0.99, 0.9, 0.8, 0.5)


def certificate(*n_wrong, n_rows=100, thresholds=GRID):
    asked = tuple(map(float, range(len(n_wrong), 0, -1)))
    return Certificate(("ill",), "Information()", None, n_rows, thresholds, n_wrong, asked)


def at_most(n_wrong, n_rows, risk):
    """P(Bin(n, risk) <= wrong), term by term."""
    return sum(math.comb(n_rows, k) * risk**k * (1 - risk) ** (n_rows - k) for k in range(n_wrong + 1))


def brute_force(known, risk, confidence):
    found = None
    for threshold, n_wrong in zip(known.thresholds, known.n_wrong, strict=True):
        if at_most(n_wrong, known.n_rows, risk) > 1 - confidence:
            return found
        found = threshold
    return found


@pytest.mark.parametrize("risk", [0.01, 0.05, 0.1, 0.3])
@pytest.mark.parametrize("confidence", [0.5, 0.9, 0.99])
def test_the_walk_ends_where_a_sum_of_binomial_terms_says(risk, confidence):
    random = np.random.default_rng(0)
    for n_rows in (20, 60, 300):
        n_wrong = np.sort(random.binomial(n_rows, random.uniform(0, 2 * risk), size=4))
        known = certificate(*n_wrong.tolist(), n_rows=n_rows)
        assert known.least(risk, confidence) == brute_force(known, risk, confidence)


def test_with_a_hundred_rows_one_wrong_keeps_five_per_cent_and_two_do_not():
    assert certificate(1, 1, 2, 2).least(0.05, 0.9) == 0.9
    assert certificate(1, 1, 1, 1).least(0.05, 0.9) == 0.5
    assert certificate(2, 2, 2, 2).least(0.05, 0.9) is None


def test_the_walk_does_not_look_beyond_the_first_that_fails():
    assert certificate(1, 5, 0, 0).least(0.05, 0.9) == 0.99
    assert certificate(5, 0, 0, 0).least(0.05, 0.9) is None


def test_45_rows_promise_five_per_cent_and_44_do_not():
    assert certificate(0, n_rows=45, thresholds=(0.9,)).least(0.05, 0.9) == 0.9
    assert certificate(0, n_rows=44, thresholds=(0.9,)).least(0.05, 0.9) is None


@pytest.mark.parametrize("n_wrong", [0, 3, 99])
def test_the_least_risk_is_where_a_promise_begins(n_wrong):
    known = certificate(n_wrong, thresholds=(0.9,))
    least = known.least_risk(0.9)
    assert known.least(least + 1e-6, 0.9) == 0.9
    assert known.least(least - 1e-6, 0.9) is None


def test_nothing_can_be_promised_where_all_are_wrong():
    assert certificate(100, thresholds=(0.9,)).least_risk(0.9) == 1.0


def test_the_grid_falls_from_nearly_certain_to_no_question_at_all():
    assert 0.999 < THRESHOLDS[0] < 1
    assert THRESHOLDS[-1] == 0.0
    assert (np.diff(THRESHOLDS) < 0).all()


def test_a_certificate_comes_back_from_json():
    known = certificate(1, 1, 2, 2)
    assert Certificate.from_document(json.loads(json.dumps(known.to_document()))) == known


@pytest.mark.parametrize(
    ("facts", "words"),
    [
        ({"n_wrong": (1, 2)}, "as many counts"),
        ({"thresholds": (0.5, 0.8, 0.9, 0.99)}, "fall"),
        ({"n_wrong": (1, 1, 2, 101)}, "more rows"),
    ],
)
def test_a_certificate_that_contradicts_itself_is_refused(facts, words):
    with pytest.raises(ValueError, match=words):
        Certificate.from_document({**certificate(1, 1, 2, 2).to_document(), **facts})
