"""The trade-off between error and cost."""

import numpy as np
import pytest

from eddi.errors import EvaluationError
from eddi.evaluate.cost_frontier import simulate_prices


@pytest.fixture(scope="module")
def frontier(model, people):
    return simulate_prices(model, people(60, seed=9, missing=0.0), "stage", prices=(1e3, 0.02, 0.0))


def test_a_higher_price_lowers_the_cost(frontier):
    assert frontier.prices == (0.0, 0.02, 1e3)
    assert frontier.cost[0] > frontier.cost[1] > frontier.cost[2] == 0
    assert np.array_equal(frontier.n_asked, frontier.cost)  # every question costs 1
    assert frontier.n_asked[0] <= 7


def test_a_higher_cost_lowers_the_error(frontier):
    low_price, _, high_price = frontier.error("nll")
    assert low_price < high_price
    assert (frontier.standard_error("nll") > 0).all()


def test_the_error_is_that_of_the_final_prediction(frontier):
    assert frontier.error("rmse")[2] == pytest.approx(frontier.curves[2].rmse[0])
    middle = frontier.curves[1]
    assert middle.n_asked.min() < middle.n_asked.max()  # rows stop at different steps
    assert frontier.error("accuracy")[1] == pytest.approx(middle.accuracy[-1])


def test_a_frontier_needs_prices(model, people):
    with pytest.raises(EvaluationError, match="needs prices, got none"):
        simulate_prices(model, people(5, 0), "stage", prices=())
