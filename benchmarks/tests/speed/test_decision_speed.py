"""Decisions about one person are compared with the arithmetic of their matrix products."""

import numpy as np
import pytest

from eddi_benchmarks.speed import decision_speed
from eddi_benchmarks.speed.decision_speed import Decision, fit_default

pytestmark = pytest.mark.slow


@pytest.fixture(autouse=True)
def no_datasets(data):
    """Without datasets, random rows of the same sizes are used."""


@pytest.fixture(scope="module")
def small():
    return fit_default(np.random.default_rng(0).random((320, 5)))


def with_answers(small, n_known):
    model, rows = small
    return Decision(model, decision_speed._with_answers(rows[:1], n_known))


def test_questions_that_were_answered_are_not_open(small):
    assert [with_answers(small, n_known).n_open for n_known in (0, 1, 3)] == [4, 3, 1]


def test_the_arithmetic_grows_with_the_open_questions(small):
    few, many = (with_answers(small, n_known).count_operations() for n_known in (3, 1))
    assert few < many < 3 * few


def test_the_rate_of_a_product_is_positive(small):
    assert with_answers(small, 1).product_rate(1) > 0


def test_every_decision_is_measured_next_to_its_arithmetic(monkeypatch):
    monkeypatch.setattr(decision_speed, "load_rows", lambda _: np.random.default_rng(0).random((320, 4)))
    measurements = decision_speed.measure_decisions(1)
    assert [m.unit for m in measurements] == ["ms", "ms", ""] * 3 + ["ms"]
    assert all(m.value > 0 for m in measurements)
