"""Simulated respondents arrive one after another, and no item is asked too often."""

import numpy as np
import pytest

from eddi import Stop
from eddi.evaluate.item_tests.exposure import simulate_paths
from eddi.interview.rules import InterviewRules
from eddi.model.item_bank import Item, ItemBank, Trait
from eddi.strategy import Exposure, Information
from eddi.table.evidence import Evidence
from eddi.table.question import Question
from eddi.table.schema import Schema
from eddi.table.variable import Kind, Variable

NAMES = tuple("abcdef")
BANK = ItemBank(
    Schema(
        (*(Variable(n, Kind.BINARY, ("0", "1")) for n in NAMES), Variable("trait", Kind.REAL)),
        (*(Question(n, (n,)) for n in NAMES), Question("trait", ("trait",), never=True)),
    ),
    tuple(Item(name, 3 - 0.4 * place, (0.0,)) for place, name in enumerate(NAMES)),
    (Trait(),),
)
RULES = InterviewRules(BANK, ("trait",), Information(), Stop())
TRUTH = BANK.coding.encode(BANK.draw_tables(Evidence.empty(400, 7), 1, seed=0)[0])


def test_without_a_limit_everybody_is_asked_the_same_first_item():
    paths = simulate_paths(RULES, TRUTH, n_steps=2)
    assert paths.exposure(1)[0] == 1
    assert len(paths.evidence) == 3


def test_with_a_limit_no_item_is_asked_more_often():
    paths = simulate_paths(RULES, TRUTH, n_steps=2, exposure=Exposure(0.45))
    assert paths.exposure().max() < 0.5
    assert paths.exposure().sum() == pytest.approx(2)


def test_a_question_that_is_always_asked_is_never_withheld():
    schema = BANK.schema.with_question("f", always=True)
    bank = ItemBank(schema, BANK.items, BANK.traits)
    rules = InterviewRules(bank, ("trait",), Information(), Stop(after=6))
    paths = simulate_paths(rules, TRUTH[:50], n_steps=6, exposure=Exposure(0.2))
    asked = [schema.questions[place].name for place in np.unique(paths.order) if place >= 0]
    assert "f" in asked
    assert paths.exposure()[schema.questions.index(schema.question("f"))] == 1
