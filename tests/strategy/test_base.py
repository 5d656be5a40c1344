"""The protocols of strategies."""

from eddi.strategy import FixedOrder, Information, Lookahead, PerCost, Priced, Random
from eddi.strategy.base import LookaheadStrategy


def test_only_information_chooses_the_first_question_with_a_lookahead_bonus():
    assert isinstance(Information(), LookaheadStrategy)
    others = (FixedOrder(()), Lookahead(), PerCost(Information()), Priced(Information(), 1), Random())
    assert not any(isinstance(strategy, LookaheadStrategy) for strategy in others)
