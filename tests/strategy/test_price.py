"""A question is asked while it is worth its price."""

import numpy as np
import pytest
import torch

from eddi import Interview
from eddi.errors import StrategyError
from eddi.strategy import Information, Priced
from eddi.table.evidence import Evidence


class Worth:
    """Scores that are known."""

    def __init__(self, *scores):
        self.scores = scores

    def score(self, model, evidence, target):  # noqa: ARG002  # a strategy's signature
        return torch.tensor([self.scores] * len(evidence))


def test_the_score_is_what_is_left_after_the_price(model):
    nats = (0.5, 0.2, 0.1, 0.0, 0.3, 0.3, 0.3, 0.0)  # every question costs 1
    scores = Priced(Worth(*nats), price=0.2).score(model, Evidence.empty(2, 8), ("stage",))
    expected = [0.3, -np.inf, -np.inf, -np.inf, 0.1, 0.1, 0.1, -np.inf]
    torch.testing.assert_close(scores, torch.tensor([expected] * 2))


def test_a_dear_question_must_tell_more(model):
    dear = model.schema_.with_question("age", cost=10)
    priced = type("Dear", (), {"schema_": dear})
    scores = Priced(Worth(*[0.5] * 8), price=0.1).score(priced, Evidence.empty(1, 8), ("stage",))
    assert scores[0, 0] == -torch.inf
    assert (scores[0, 1:] > 0).all()


def test_an_interview_ends_when_nothing_is_worth_its_price(model):
    assert Interview(model, "stage", strategy=Priced(Information(), price=100)).ask() is None
    assert Interview(model, "stage", strategy=Priced(Information(), price=0)).ask() is not None


@pytest.mark.parametrize("price", [-1, float("inf"), float("nan")])
def test_a_price_is_a_number_of_nats(price):
    with pytest.raises(StrategyError, match="price must be 0 or more nats"):
        Priced(Information(), price)
