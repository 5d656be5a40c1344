"""Requests of the HTTP API accept the types that they name, and nothing else."""

import pytest
from pydantic import ValidationError

from eddi.service.web.schemas import MAX_NAME, MAX_TARGETS, AnswerIn, AskIn, StartIn


@pytest.mark.parametrize("values", [61, None, {"without": "declined"}, [3.1, None], ["Excel", "R"]])
def test_an_answer_has_any_json_value(values) -> None:
    assert AnswerIn(question="age", values=values).values == values


@pytest.mark.parametrize(
    "fields",
    [
        {"question": "", "values": 1},
        {"question": "x" * (MAX_NAME + 1), "values": 1},
        {"question": "age"},
        {"question": "age", "values": 1, "confirm": "yes"},
        {"question": "age", "values": 1, "other": 1},
    ],
)
def test_an_answer_that_does_not_fit_is_refused(fields) -> None:
    with pytest.raises(ValidationError):
        AnswerIn(**fields)


def test_there_are_at_most_as_many_targets_as_the_limit() -> None:
    assert StartIn(target=["risk"] * MAX_TARGETS).target == ["risk"] * MAX_TARGETS
    with pytest.raises(ValidationError):
        StartIn(target=["risk"] * (MAX_TARGETS + 1))


def test_answers_so_far_are_given_by_name_or_as_a_list() -> None:
    assert AskIn(answers={"age": 61}).answers == {"age": 61}
    assert AskIn(answers=[]).answers == []
    assert AskIn().answers == {}
