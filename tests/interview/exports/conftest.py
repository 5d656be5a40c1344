"""Respondents with answers of all kinds, and the schema of their questionnaire."""

from dataclasses import dataclass

import numpy as np
import pytest

from eddi.interview.exports.respondent import read_values
from eddi.interview.record import DECLINED, UNKNOWN, Answer, NoAnswer, Record
from eddi.table.cells.multi_select import OptionSource
from eddi.table.columns import table_to_numbers
from eddi.table.question import Question
from eddi.table.schema import Schema, SetAside
from eddi.table.variable import Variable


@dataclass(frozen=True)
class Person:
    """An interview."""

    name: str
    record: Record
    is_finished: bool = True
    began_at: str = "2026-01-02T10:00:00+00:00"
    ended_at: str = "2026-01-02T10:05:00+00:00"


@pytest.fixture
def schema():
    """Levels with labels, codes for missing values, numbers, a group, and both kinds of multi-select."""
    variables = (
        Variable("sex", "binary", (1, 2), labels=("Male", "Female"), title="Sex"),
        Variable("smoke", "ordinal", (0, 1, 2), missing=(8,), declined=(9,)),
        Variable("ready", "binary", (0, 1), labels=("No", "Yes")),
        Variable("weight", "real", low=0, high=300, unit="kg"),
        Variable("births", "count"),
        Variable("ldl", "real"),
        Variable("hdl", "real"),
        *(
            Variable(
                f"s___{n}", "binary", (0, 1), source=OptionSource(f"s___{n}", str(n), ""), title=label
            )
            for n, label in ((1, "Cough"), (2, "Fever"))
        ),
        *(
            Variable(f"tool: {name}", "binary", ("no", "yes"), source=OptionSource("tool", name, " "))
            for name in ("a", "b")
        ),
        Variable("score", "real"),
    )
    questions = (
        Question("panel", ("ldl", "hdl"), "Blood"),
        Question("s", ("s___1", "s___2"), "Symptoms"),
        Question("tool", ("tool: a", "tool: b")),
    )
    set_aside = (SetAside("record_id", "the record ID", "identifier"),)
    return Schema(variables, questions, targets=("score",), set_aside=set_aside)


@pytest.fixture
def people():
    """Two respondents."""
    first = (
        Answer("sex", {"sex": 2}),
        Answer("smoke", {}, {"smoke": DECLINED}),
        Answer("ready", {"ready": 1}),
        Answer("weight", {"weight": 70.5}),
        Answer("births", {"births": 2}),
        Answer("panel", {"ldl": 3.5}, {"hdl": UNKNOWN}),
        Answer("s", {"s___1": 1, "s___2": 0}),
        Answer("tool", {"tool: a": "yes", "tool: b": "yes"}),
    )
    second = (
        Answer("smoke", {"smoke": 1}),
        Answer("sex", {}, {"sex": UNKNOWN}),
        Answer("s", {"s___1": 0, "s___2": 0}),
        Answer("tool", {}, {"tool: a": DECLINED, "tool: b": DECLINED}),
    )
    return [
        Person("p1", Record(("score",), first)),
        Person("p2", Record(("score",), second), is_finished=False),
    ]


@pytest.fixture
def check_read_back(people):
    """A function that reads exported answers to some variables and compares them with the interviews."""

    def check(table, variables):
        plain = Schema(tuple(variables))
        numbers = table_to_numbers(table, plain, optional=plain.names)
        for row, person in zip(numbers, people, strict=True):
            values = read_values(person.record)
            for number, variable in zip(row, variables, strict=True):
                value = values.get(variable.name)
                if value is None or isinstance(value, NoAnswer):
                    assert np.isnan(number)
                else:
                    assert variable.answer(number) == value

    return check
