"""Which question next: budgets, pinned questions, prerequisites."""

from dataclasses import replace

import numpy as np
import pytest

from eddi import DECLINED, UNKNOWN, Interview, Schema, Stop
from eddi.interview.rules import choose
from eddi.strategy import FixedOrder
from eddi.table.question import Question

ORDER = ("age", "visits", "smoker", "pain", "town", "weight", "colour")
VALUES = {
    **{"age": 61, "visits": 3, "smoker": "yes", "pain": "mild", "town": "Bala", "weight": 80},
    "colour": "red",
}


def asked(model, *, stop=None, order=ORDER, values=VALUES):
    """The questions of an interview that wants to ask in this order."""
    interview = Interview(model, "stage", strategy=FixedOrder(order), stop=stop)
    names = []
    while (question := interview.ask()) is not None:
        names.append(question.name)
        interview.tell(question, values[question.name])
    return names


@pytest.fixture(scope="session")
def priced(people_schema):
    """People's schema with a price for each question."""

    def price(schema: Schema = people_schema, **costs: float) -> Schema:
        for name, cost in costs.items():
            schema = schema.with_question(name, cost=cost)
        return schema

    return price


def test_a_budget_of_three_tenths_buys_three_tenths(worded, priced):
    schema = priced(**dict.fromkeys(ORDER, 0.1))
    assert asked(worded(schema), stop=Stop(budget=0.3)) == list(ORDER[:3])


def test_what_is_too_dear_is_passed_over_for_what_is_not(worded, priced):
    schema = priced(age=5, visits=2, smoker=9)
    names = asked(worded(schema), stop=Stop(budget=8))
    assert names == ["age", "visits", "pain"]


def test_a_budget_that_buys_nothing_asks_nothing(worded, priced):
    assert asked(worded(priced(**dict.fromkeys(ORDER, 5))), stop=Stop(budget=4)) == []


def test_an_answer_that_brought_nothing_was_paid_for_too(worded, priced):
    silent = {**VALUES, "age": UNKNOWN, "visits": DECLINED}
    schema = priced(**dict.fromkeys(ORDER, 2))
    assert asked(worded(schema), stop=Stop(budget=6), values=silent) == ["age", "visits", "smoker"]


def test_a_pinned_question_is_asked_even_when_it_is_enough(worded, people_schema):
    schema = people_schema.with_question("colour", always=True).with_question("town", always=True)
    assert asked(worded(schema), stop=Stop(after=2)) == ["age", "visits", "town", "colour"]


def test_a_pinned_question_comes_in_its_turn_where_nothing_stops(worded, people_schema):
    assert asked(worded(people_schema.with_question("pain", always=True))) == list(ORDER)


def test_money_is_kept_for_pinned_questions(worded, priced):
    schema = priced(**dict.fromkeys(ORDER, 2)).with_question("colour", always=True, cost=3)
    assert asked(worded(schema), stop=Stop(budget=6)) == ["age", "colour"]


def test_a_pinned_question_is_asked_beyond_the_budget(worded, priced):
    schema = priced(age=1).with_question("colour", always=True, cost=50)
    assert asked(worded(schema), stop=Stop(budget=2)) == ["colour"]


def test_a_pinned_question_that_was_declined_is_not_asked_again(worded, people_schema):
    model = worded(people_schema.with_question("colour", always=True))
    interview = Interview(model, "stage", stop=Stop(after=0))
    assert interview.ask().name == "colour"
    interview.tell("colour", DECLINED)
    assert interview.ask() is None


def test_a_question_waits_for_what_it_requires(worded, people_schema):
    schema = people_schema.with_question("age", requires={"smoker": "yes"})
    assert asked(worded(schema)) == ["visits", "smoker", "age", "pain", "town", "weight", "colour"]


@pytest.mark.parametrize("said", ["no", UNKNOWN, DECLINED])
def test_a_question_whose_requirement_fails_is_never_asked(worded, people_schema, said):
    schema = people_schema.with_question("age", requires={"smoker": "yes"}, always=True)
    names = asked(worded(schema), values={**VALUES, "smoker": said})
    assert names == ["visits", "smoker", "pain", "town", "weight", "colour"]


def test_requirements_chain(worded, people_schema):
    schema = people_schema.with_question("age", requires={"pain": ("mild", "strong")})
    schema = schema.with_question("pain", requires={"smoker": "yes"})
    model = worded(schema)
    assert asked(model)[:4] == ["visits", "smoker", "pain", "age"]
    assert "age" not in asked(model, values={**VALUES, "pain": "none"})
    without = asked(model, values={**VALUES, "smoker": "no"})
    assert not {"pain", "age"} & set(without)


def test_all_requirements_must_hold(worded, people_schema):
    schema = people_schema.with_question("age", requires={"smoker": "yes", "town": ("Aber", "Bala")})
    assert asked(worded(schema))[:4] == ["visits", "smoker", "pain", "town"]
    assert "age" not in asked(worded(schema), values={**VALUES, "town": "Conwy"})


def test_an_undone_answer_no_longer_meets_a_requirement(worded, people_schema):
    schema = people_schema.with_question("age", requires={"smoker": "yes"})
    interview = Interview(worded(schema), "stage")
    interview.tell("smoker", "yes")
    assert "age" in interview.rewards()
    interview.undo()
    assert "age" not in interview.rewards()


def test_what_cannot_be_asked_yet_may_be_volunteered(worded, people_schema):
    schema = people_schema.with_question("age", requires={"smoker": "yes"})
    interview = Interview(worded(schema), "stage")
    interview.tell("age", 61)
    assert interview.record.known() == {"age"}


def test_the_best_open_question_is_chosen_or_none():
    scores = np.array([[1.0, 3.0, 2.0], [1.0, 3.0, 2.0], [0.0, -1.0, -2.0]])
    open_ = np.array([[True, False, True], [False, False, False], [False, True, True]])
    assert choose(scores, open_).tolist() == [2, -1, 1]


def test_what_is_marked_never_is_not_asked_but_may_be_volunteered(worded, people_schema):
    model = worded(_never(people_schema, "age", "town"))
    assert asked(model) == [name for name in ORDER if name not in ("age", "town")]
    interview = Interview(model, "stage", strategy=FixedOrder(ORDER))
    interview.tell("age", 61)
    assert interview.record.answers[0].question == "age"


def _never(schema: Schema, *names: str) -> Schema:
    questions = tuple(Question(name, (name,), never=True) for name in names)
    return replace(schema, explicit_questions=questions)
