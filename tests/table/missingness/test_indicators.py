"""Indicators tell whether a variable has a value."""

import numpy as np
import pyarrow as pa
import pytest

from eddi.table import columns
from eddi.table.missingness.indicators import add_indicators, find_incomplete, mark_answers
from eddi.table.schema import Schema
from eddi.table.variable import Kind, Variable

PLAIN = Schema(
    (
        Variable("income", Kind.REAL, missing=(-99,)),
        Variable("town", Kind.CATEGORY, levels=("None", "Aber", "Bala")),
        Variable("risk", Kind.REAL),
    )
)
SCHEMA = add_indicators(PLAIN, ["income", "town"])
TABLE = pa.table({"income": [1.0, -99.0, None], "town": ["None", "Aber", None], "risk": [1.0, 2.0, 3.0]})


def test_indicators_come_after_the_other_variables() -> None:
    assert SCHEMA.names == ("income", "town", "risk", "income answered", "town answered")
    assert SCHEMA.indicators == {"income": "income answered", "town": "town answered"}
    assert add_indicators(SCHEMA, SCHEMA.names[:2]) == SCHEMA


def test_a_table_tells_whether_each_cell_has_a_value() -> None:
    numbers = columns.table_to_numbers(TABLE, SCHEMA)
    assert numbers[:, 3].tolist() == [1, 0, 0]  # -99 is a code for a missing value
    assert numbers[:, 4].tolist() == [1, 1, 0]  # "None" is a town


def test_a_column_of_the_indicator_comes_first() -> None:
    table = TABLE.append_column("income answered", pa.array(["yes", "no", None]))
    numbers = columns.table_to_numbers(table, SCHEMA)
    np.testing.assert_array_equal(numbers[:, 3], [1, 0, np.nan])


def test_a_hidden_variable_hides_its_indicator() -> None:
    assert np.isnan(columns.table_to_numbers(TABLE, SCHEMA, hidden=["income"])[:, 3]).all()


def test_an_absent_column_says_nothing() -> None:
    numbers = columns.table_to_numbers(TABLE.drop_columns(["town"]), SCHEMA, optional=["town"])
    assert np.isnan(numbers[:, 4]).all()


def test_the_question_of_a_variable_reveals_its_indicator_which_is_never_asked_for() -> None:
    by_name = {question.name: place for place, question in enumerate(SCHEMA.questions)}
    assert SCHEMA.reveals_mask[by_name["income"]].tolist() == [True, False, False, True, False]
    assert SCHEMA.question("income").reveals == ("income",)
    assert SCHEMA.question("income answered").never


def test_a_schema_file_keeps_indicators() -> None:
    assert Schema.from_toml(SCHEMA.to_toml()) == SCHEMA


def test_a_variable_is_set_aside_with_its_indicator() -> None:
    assert SCHEMA.without("income").names == ("town", "risk", "town answered")


def test_incomplete_variables_besides_targets_are_found() -> None:
    numbers = np.array([[1, np.nan, np.nan], [2, 1, 1], [3, np.nan, np.nan], [4, 0, 1]])
    assert find_incomplete(PLAIN, numbers, targets=["risk"]) == ["town"]


@pytest.mark.parametrize(("values", "without", "number"), [(["income"], [], 1), ([], ["income"], 0)])
def test_an_answer_marks_its_indicator(values: list[str], without: list[str], number: float) -> None:
    row = np.full(5, np.nan)
    mark_answers(row, SCHEMA, values=values, without=without)
    assert row[3] == number
    assert np.isnan(row[4])
