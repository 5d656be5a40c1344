"""Sections and exclusive questions in interviews: minimum, maximum, shares, and random choices."""

from dataclasses import replace

import numpy as np
import pytest

import eddi
from eddi.errors import StrategyError
from eddi.evaluate.simulate import simulate_evidence
from eddi.interview.record import Record
from eddi.model.item_bank import Item, ItemBank, Trait
from eddi.strategy import Balance, Explore, FixedOrder, Information, PerCost
from eddi.table.evidence import Evidence
from eddi.table.question import Question
from eddi.table.schema import Schema
from eddi.table.section import Section
from eddi.table.variable import Kind, Variable

SECTIONS = {"a": "mood", "b": "mood", "c": "mood", "d": "sleep", "e": "sleep", "f": ""}


def make_bank(always="", **rules) -> ItemBank:
    """Six items; those of the section "mood" are the most informative."""
    items = tuple(Item(name, 3 - 0.3 * place, (-0.5, 0.5)) for place, name in enumerate(SECTIONS))
    variables = [Variable(name, Kind.ORDINAL, ("1", "2", "3")) for name in SECTIONS]
    questions = [
        Question(name, (name,), section=section, always=name in always)
        for name, section in SECTIONS.items()
    ]
    schema = Schema(
        (*variables, Variable("trait", Kind.REAL)),
        (*questions, Question("trait", ("trait",), never=True)),
        **rules,
    )
    return ItemBank(schema, items, (Trait(),))


def ask_all(bank, **options) -> str:
    interview = eddi.Interview(bank, **options)
    asked = ""
    while (question := interview.ask()) is not None:
        asked += question.name
        interview.tell(question, "2")
    return asked


def test_without_rules_the_most_informative_questions_come_first():
    assert ask_all(make_bank()) == "abcdef"


def test_a_full_section_is_closed():
    assert ask_all(make_bank(sections=(Section("mood", maximum=1),))) == "adef"


def test_a_section_has_places_for_questions_that_are_always_asked():
    bank = make_bank(always="c", sections=(Section("mood", maximum=2),))
    assert ask_all(bank) == "acdef"
    assert ask_all(bank, stop=eddi.Stop(after=1)) == "ac"


def test_what_excludes_a_question_that_is_always_asked_is_not_asked():
    assert ask_all(make_bank(always="c", exclusive=(("a", "c"),)), stop=eddi.Stop(after=1)) == "bc"


@pytest.mark.parametrize("after", [1, 3])
def test_exploration_within_sections_never_drops_a_question_that_is_always_asked(after):
    sections = (Section("mood", maximum=1), Section("sleep", minimum=1, maximum=1))
    rules = {"sections": sections, "exclusive": (("c", "f"),)}
    strategy = Explore(Information(), share=0.7, continuation=0.3)
    for key in map(str, range(20)):
        bank = make_bank(always="ce", **rules)
        record = Record(("trait",), (), key)
        interview = eddi.Interview(bank, strategy=strategy, stop=eddi.Stop(after=after), record=record)
        while (question := interview.ask()) is not None:
            interview.tell(question, "2")
        asked = interview.record.answered_questions()
        assert {"c", "e"} <= set(asked)
        assert not set(asked) & {"a", "b", "d", "f"}


def test_the_minimum_of_a_section_is_reserved_before_the_last_question():
    bank = make_bank(sections=(Section("sleep", minimum=2),))
    assert ask_all(bank, stop=eddi.Stop(after=4)) == "abde"


def test_an_interview_does_not_end_before_every_section_has_its_minimum():
    bank = make_bank(sections=(Section("sleep", minimum=1),))
    assert ask_all(bank, stop=eddi.Stop(sd_below=9.9)) == "ad"


def test_a_question_is_not_asked_once_one_that_excludes_it_has_a_value():
    assert ask_all(make_bank(exclusive=(("a", "b", "d"),))) == "acef"


def test_a_question_without_a_value_excludes_nothing():
    interview = eddi.Interview(make_bank(exclusive=(("a", "b"),)))
    interview.tell("a", eddi.UNKNOWN)
    assert interview.ask().name == "b"


def test_sections_with_shares_are_asked_in_turn():
    shares = (Section("mood", share=0.5), Section("sleep", share=0.5))
    assert ask_all(make_bank(sections=shares), stop=eddi.Stop(after=4)) == "adbe"


def test_a_strategy_can_balance_sections_itself():
    strategy = Balance(PerCost(Information()), {"mood": 1 / 3, "sleep": 2 / 3})
    assert ask_all(make_bank(), strategy=strategy, stop=eddi.Stop(after=3)) == "dae"


def test_questions_of_no_section_have_the_remaining_share():
    strategy = Balance(FixedOrder(tuple("abcdef")), {"mood": 0.6})
    assert ask_all(make_bank(), strategy=strategy, stop=eddi.Stop(after=5)) == "adbec"


def test_a_balance_of_an_unknown_section_is_explained():
    with pytest.raises(
        StrategyError, match=r"'moods', which no question belongs to. Did you mean 'mood'"
    ):
        ask_all(make_bank(), strategy=Balance(Information(), {"moods": 0.5}))


def test_rules_hold_for_every_row_of_a_batch():
    bank = make_bank(sections=(Section("mood", maximum=1), Section("sleep", minimum=1)))
    truth = bank.coding.encode(bank.draw_tables(Evidence.empty(50, 7), 1, seed=0)[0])
    order = simulate_evidence(bank, truth, "trait", max_steps=3).order
    assert ((order < 3).sum(1) <= 1).all()
    assert (np.isin(order, [3, 4]).sum(1) >= 1).all()


def test_a_schema_keeps_its_rules_with_another_question():
    schema = make_bank(sections=(Section("mood", maximum=1),)).schema
    assert replace(schema, stop={"after": 2}).sections == schema.sections
