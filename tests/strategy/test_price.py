"""Questions are asked only while they are worth their price."""

from dataclasses import replace

import numpy as np
import pytest
import torch

from eddi import Interview
from eddi.errors import StrategyError
from eddi.strategy import Information, Priced

TARGET = ("stage",)


class ConstantScores:
    """A strategy that gives every row the same scores."""

    def __init__(self, *scores):
        self.scores = scores

    def score(self, model, evidence, target):  # noqa: ARG002  # a strategy's signature
        return torch.tensor([self.scores] * len(evidence))


def test_the_price_is_subtracted_from_the_score(fitted, no_answers):
    nats = (0.5, 0.2, 0.1, 0.0, 0.3, 0.3, 0.3, 0.0)  # every question costs 1
    scores = Priced(ConstantScores(*nats), price=0.2).score(fitted, no_answers(2), TARGET)
    expected = [0.3, -np.inf, -np.inf, -np.inf, 0.1, 0.1, 0.1, -np.inf]
    torch.testing.assert_close(scores, torch.tensor([expected] * 2))


def test_an_expensive_question_needs_more_information(fitted, no_answers):
    expensive = replace(fitted, schema=fitted.schema.with_question("age", cost=10))
    place = [question.name for question in expensive.schema.questions].index("age")
    strategy = Priced(ConstantScores(*[0.5] * 8), price=0.1)
    scores = strategy.score(expensive, no_answers(1), TARGET)[0]
    assert scores[place] == -torch.inf
    assert (scores > 0).sum() == 7


def test_an_interview_ends_when_no_question_is_worth_its_price(model):
    assert Interview(model, "stage", strategy=Priced(Information(), price=100)).ask() is None
    assert Interview(model, "stage", strategy=Priced(Information(), price=0)).ask() is not None


@pytest.mark.parametrize("price", [-1, float("inf"), float("nan")])
def test_an_invalid_price_is_refused(price):
    with pytest.raises(StrategyError, match="price must be 0 or more nats"):
        Priced(Information(), price)
