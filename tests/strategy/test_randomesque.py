"""One of the best questions is asked at random, with known probabilities."""

import numpy as np
import pytest

import eddi
from eddi.errors import StrategyError
from eddi.evaluate.simulate import simulate_evidence
from eddi.model.item_bank import Item, ItemBank, Trait
from eddi.strategy import Information, Randomesque
from eddi.table.evidence import Evidence
from eddi.table.question import Question
from eddi.table.schema import Schema
from eddi.table.variable import Kind, Variable


def make_bank() -> ItemBank:
    """Six items, the first the most informative."""
    items = tuple(Item(name, 3 - 0.3 * place, (0.0,)) for place, name in enumerate("abcdef"))
    variables = [Variable(name, Kind.BINARY, ("1", "2")) for name in "abcdef"]
    hidden = Question("trait", ("trait",), never=True)
    return ItemBank(Schema((*variables, Variable("trait", Kind.REAL)), (hidden,)), items, (Trait(),))


def test_a_random_question_among_the_best_is_asked_with_a_recorded_probability():
    bank = make_bank()
    steps = [eddi.Interview(bank, strategy=Randomesque(Information(), k=3)) for _ in range(40)]
    chosen = {step.ask().name for step in steps}
    assert chosen == {"a", "b", "c"}
    assert steps[0].next_step().propensities == pytest.approx(dict.fromkeys("abc", 1 / 3))


def test_a_replay_asks_the_same_random_questions():
    bank, strategy = make_bank(), Randomesque(Information(), k=4)
    interview = eddi.Interview(bank, strategy=strategy)
    interview.tell(interview.ask(), "2")
    again = eddi.Interview(bank, strategy=strategy, record=interview.record)
    assert again.ask() == interview.ask()


def test_simulated_respondents_share_the_questions_of_a_randomesque_strategy():
    bank = make_bank()
    truth = bank.coding.encode(bank.draw_tables(Evidence.empty(300, 7), 1, seed=0)[0])
    curves = simulate_evidence(
        bank, truth, "trait", strategy=Randomesque(Information(), k=6), max_steps=1
    )
    shares = np.bincount(curves.order[:, 0], minlength=6) / 300
    assert shares.max() < 0.3


def test_randomesque_needs_a_question():
    with pytest.raises(StrategyError, match="k of at least 1 question, got 0"):
        Randomesque(Information(), k=0)
