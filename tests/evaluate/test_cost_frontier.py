"""What certainty costs."""

import numpy as np
import pytest

from eddi.errors import EvaluationError
from eddi.evaluate.cost_frontier import frontier
from eddi.evaluate.plots import cost_frontier


@pytest.fixture(scope="module")
def played(model, people):
    return frontier(model, people(60, seed=9, holes=0.0), "stage", prices=(1e3, 0.05, 0.0))


def test_the_dearer_the_less_is_spent(played):
    assert played.prices == (0.0, 0.05, 1e3)
    assert played.cost[0] > played.cost[1] > played.cost[2] == 0
    assert np.array_equal(played.n_asked, played.cost)  # every question costs 1
    assert played.n_asked[0] <= 7


def test_what_is_paid_for_is_known(played):
    cheap, _, dear = played.error("nll")
    assert cheap < dear
    assert played.error("rmse")[2] == pytest.approx(played.curves[2].rmse[0])
    assert (played.standard_error("nll") > 0).all()


def test_an_interview_keeps_what_it_ended_with(played):
    middle = played.curves[1]
    assert middle.n_asked.min() < middle.n_asked.max()  # rows end when it suits them
    assert played.error("accuracy")[1] == pytest.approx(middle.accuracy[-1])


def test_there_must_be_prices(model, people):
    with pytest.raises(EvaluationError, match="needs prices"):
        frontier(model, people(5, 0), "stage", prices=())


def test_a_frontier_is_drawn(played, tmp_path):
    cost_frontier({"EDDI": played}, tmp_path / "cost.png", metric="nll")
    assert (tmp_path / "cost.png").stat().st_size > 5000
    with pytest.raises(EvaluationError, match="no frontier"):
        cost_frontier({}, tmp_path / "none.png")
