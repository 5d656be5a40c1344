"""The last value of a variable counts, and codes stand for missing values."""

import pytest

from eddi.interview.exports.respondent import format_answer, read_values
from eddi.interview.record import DECLINED, UNKNOWN, Answer, Record
from eddi.table.variable import Variable


def test_the_last_value_counts():
    answers = (Answer("x", {}, {"x": UNKNOWN}), Answer("x", {"x": 3}))
    assert read_values(Record((), answers)) == {"x": 3}


@pytest.mark.parametrize(
    ("value", "cell"), [(1, "1"), (2.0, "2"), (None, ""), (UNKNOWN, "8"), (DECLINED, "9")]
)
def test_a_cell_has_the_code_of_an_answer(value, cell):
    variable = Variable("x", "ordinal", (1, 2, 3), missing=(8,), declined=(9,))
    assert format_answer(variable, value) == cell


def test_a_missing_answer_without_a_code_is_empty():
    assert format_answer(Variable("x", "real"), UNKNOWN) == ""
