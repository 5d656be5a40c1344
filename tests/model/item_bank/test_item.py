"""Probabilities and information of graded response items, against closed forms."""

import numpy as np
import pytest
from scipy.special import expit

from eddi.errors import SchemaError
from eddi.model.item_bank import Item

THETA = np.linspace(-3, 3, 25)


def test_an_item_with_one_threshold_is_the_two_parameter_logistic_model():
    probability = expit(1.7 * (THETA - 0.4))
    item = Item("x", 1.7, (0.4,))
    np.testing.assert_allclose(item.probabilities(THETA)[:, 1], probability)
    information = 1.7**2 * probability * (1 - probability)
    np.testing.assert_allclose(item.fisher_information(THETA), information)


def test_probabilities_of_levels_are_differences_of_cumulative_logistic_curves():
    item = Item("x", 1.3, (-1.0, 0.2, 1.5))
    at_least = [expit(1.3 * (THETA - b)) for b in item.thresholds]
    expected = [1 - at_least[0], at_least[0] - at_least[1], at_least[1] - at_least[2], at_least[2]]
    np.testing.assert_allclose(item.probabilities(THETA), np.stack(expected, axis=1))


def test_fisher_information_is_the_expected_squared_slope_of_the_log_likelihood():
    item, step = Item("x", 2.1, (-1.0, 0.2, 1.5)), 1e-5
    slope = (np.log(item.probabilities(THETA + step)) - np.log(item.probabilities(THETA - step))) / (
        2 * step
    )
    expected = (item.probabilities(THETA) * slope**2).sum(1)
    np.testing.assert_allclose(item.fisher_information(THETA), expected, rtol=1e-6)


@pytest.mark.parametrize(
    ("discrimination", "thresholds", "message"),
    [
        (-1.0, (0.0,), "discrimination -1; it must be above 0. If high answers mean a low trait"),
        (float("nan"), (0.0,), "a parameter that is not a number"),
        (1.0, (1.0, 0.5), "each must be above the one before it"),
        (1.0, (), "0 thresholds; it needs 1 to 99"),
        (1.0, (1e9,), "a parameter that is not a number from -100 to 100"),
    ],
)
def test_parameters_that_make_no_sense_are_explained(discrimination, thresholds, message):
    with pytest.raises(SchemaError, match=message):
        Item("x", discrimination, thresholds)
