"""Exact inference for classes with a common covariance matrix."""

import numpy as np
import pytest
from scipy.stats import multivariate_normal

from eddi_benchmarks.data.synthetic import GaussianClasses, collinear_gaussian
from eddi_benchmarks.quality.exact_gaussian import ExactClassifier

CLASSES = GaussianClasses(
    mean=np.array([[0.0, 0.0, 0.0], [1.0, -0.5, 0.0], [0.0, 2.0, 0.0]]),
    covariance=np.array([[1.0, 0.8, 0.0], [0.8, 1.0, 0.0], [0.0, 0.0, 2.0]]),
)


def test_the_posterior_of_a_subset_is_that_of_bayes_rule():
    rows = np.random.default_rng(0).normal(size=(5, 3))
    observed = np.array([True, True, False])
    log_posterior = ExactClassifier(CLASSES).log_posterior(rows, observed)
    covariance = CLASSES.covariance[:2, :2]
    density = np.stack(
        [multivariate_normal(m[:2], covariance).pdf(rows[:, :2]) for m in CLASSES.mean], 1
    )
    assert np.exp(log_posterior) == pytest.approx(density / density.sum(1, keepdims=True))


def test_rows_may_have_different_observed_answers():
    rows = np.random.default_rng(0).normal(size=(2, 3))
    exact = ExactClassifier(CLASSES)
    masks = np.array([[True, False, False], [False, True, True]])
    together = exact.log_posterior(rows, masks)
    for row in range(2):
        assert together[row] == pytest.approx(exact.log_posterior(rows[[row]], masks[row])[0])


def test_without_answers_all_classes_are_equally_likely():
    log_posterior = ExactClassifier(CLASSES).log_posterior(np.ones((1, 3)), np.zeros(3, dtype=bool))
    assert np.exp(log_posterior) == pytest.approx(1 / 3)


def test_the_information_is_the_expected_reduction_of_entropy():
    exact, random = ExactClassifier(CLASSES), np.random.default_rng(0)
    row, observed = np.array([[0.5, 0.0, 0.0]]), np.array([True, False, False])
    information = exact.information(row, observed)[0]
    # Draws of the second answer given the first, by class.
    weights = np.exp(exact.log_posterior(row, observed))[0]
    drawn = random.choice(3, p=weights, size=40_000)
    mean = CLASSES.mean[drawn, 1] + 0.8 * (0.5 - CLASSES.mean[drawn, 0])
    rows = np.stack([np.full(40_000, 0.5), random.normal(mean, 0.6), np.zeros(40_000)], axis=1)
    after = np.exp(exact.log_posterior(rows, np.array([True, True, False])))
    entropy_after = -(after * np.log(after)).sum(1).mean()
    expected = -(weights * np.log(weights)).sum() - entropy_after
    assert information[1] == pytest.approx(expected, abs=0.01)
    assert information[0] == 0  # observed
    assert information[2] == pytest.approx(0, abs=1e-9)  # says nothing about the class


def test_the_greedy_order_starts_with_the_most_informative_question_and_asks_all():
    exact = ExactClassifier(CLASSES)
    rows = np.random.default_rng(0).normal(size=(4, 3))
    order = exact.greedy_order(rows)
    information = exact.information(rows[:1], np.zeros(3, dtype=bool))
    assert (order[:, 0] == information.argmax()).all()
    assert (order[:, 2] == 2).all()  # the variable that says nothing
    assert (np.sort(order, axis=1) == np.arange(3)).all()


def test_collinear_variables_have_little_information_alone_and_much_together():
    random = np.random.default_rng(0)
    classes = collinear_gaussian(random)
    exact = ExactClassifier(classes)
    table = classes.draw_rows(300, random)
    rows, truth = table[list(classes.names)].to_numpy(), table["y"]
    assert exact.information(rows[:1], np.zeros(18, dtype=bool)).max() < 0.05
    accuracy = (exact.log_posterior(rows, np.ones(18, dtype=bool)).argmax(1) == truth).mean()
    assert accuracy > 0.95
