"""The table of the demonstration: complete, small, in words, and with a natural question for everything."""

import re

import numpy as np
import pytest

from eddi import Schema, demo
from eddi.table.columns import table_to_numbers
from eddi.table.variable import Kind

MAX_BYTES = 500_000
NON_ANSWER = re.compile("refused|don.?t know", re.IGNORECASE)


@pytest.fixture(scope="module")
def table():
    return demo.load_table()


@pytest.fixture(scope="module")
def schema() -> Schema:
    return demo.load_schema()


def test_the_table_has_a_column_for_every_variable(table, schema) -> None:
    assert table.num_rows == 4297
    set_aside = [column.name for column in schema.set_aside]
    assert table.column_names == [*schema.names, *set_aside]
    assert schema.targets == ("blood sugar",)
    assert set_aside == ["HbA1c"]  # it determines the target


def test_all_files_together_are_small() -> None:
    folder = demo.TABLE_FILE.parent
    sizes = [path.stat().st_size for path in folder.iterdir() if path.is_file()]
    assert sum(sizes) < MAX_BYTES
    assert "public domain" in (folder / "PROVENANCE.md").read_text(encoding="utf-8").replace("\n", " ")


def test_every_value_is_a_level_or_within_its_range(table, schema) -> None:
    numbers = table_to_numbers(table, schema)  # raises an error for an unknown level
    for variable, column in zip(schema.variables, numbers.T, strict=True):
        observed = column[~np.isnan(column)]
        if variable.kind.has_levels:
            assert set(observed) == set(range(variable.n_levels)), variable.name
        else:
            assert variable.low <= observed.min() <= observed.max() <= variable.high, variable.name


def test_levels_are_words_and_no_codes_are_left(schema) -> None:
    for variable in schema.variables:
        assert all(isinstance(level, str) and not level.isdigit() for level in variable.levels)
        assert not any(NON_ANSWER.search(level) for level in variable.levels)


def test_the_target_is_the_limit_of_the_american_diabetes_association(table) -> None:
    hba1c = table["HbA1c"].to_numpy()
    is_raised = np.array(table["blood sugar"].to_pylist()) == "Prediabetes or diabetes"
    assert (is_raised == (hba1c >= 5.7)).all()
    assert 0.3 < is_raised.mean() < 0.4


def test_every_question_is_a_natural_sentence(schema) -> None:
    questions = [question for question in schema.questions if question.name not in schema.targets]
    assert len(questions) == 30
    for question in questions:
        assert question.title.endswith("?"), question.text
        assert question.title[0].isupper()
        assert len(question.title) <= 100
        unit = schema[question.reveals[0]].unit
        long_names = {
            "cm": "centimetres",
            "kg": "kilograms",
            "hours": "hours",
            "years": "old",
            "mg/dL": "mg/dL",
        }
        if len(question.reveals) == 1 and unit:
            assert long_names[unit] in question.title


def test_a_question_costs_less_than_a_measurement_and_a_blood_test_most(schema) -> None:
    costs = {question.name: question.cost for question in schema.questions}
    assert costs["age"] < costs["waist"] < costs["blood pressure reading"] < costs["fasting glucose"]
    at_home = [name for name, cost in costs.items() if cost == 1 and name not in schema.targets]
    assert len(at_home) == 26
    assert costs["cholesterol test"] == costs["fasting glucose"] == max(costs.values())


def test_questions_that_were_not_put_to_everybody_have_prerequisites(table, schema) -> None:
    numbers = dict(zip(schema.names, table_to_numbers(table, schema).T, strict=True))
    for question in schema.questions:
        for name, levels in question.requires.items():
            allowed = [schema[name].levels.index(level) for level in levels]
            has_answer = ~np.isnan(numbers[question.reveals[0]])
            assert np.isin(numbers[name][has_answer], allowed).all(), question.name


def test_ordered_answers_are_ordinal(schema) -> None:
    kinds = {variable.name: variable.kind for variable in schema.variables}
    assert {name for name, kind in kinds.items() if kind is Kind.ORDINAL} == {
        *("general health", "diet", "snoring", "up at night", "smoking now", "alcohol")
    }
    assert schema["general health"].levels[0] == "Poor"


def test_training_rows_and_held_out_rows_are_disjoint(table) -> None:
    numbered = table.append_column("row", [np.arange(table.num_rows)])
    training, held_out = demo.split_table(numbered)
    assert held_out.num_rows == 859
    rows = [*training["row"].to_pylist(), *held_out["row"].to_pylist()]
    assert sorted(rows) == list(range(table.num_rows))


def test_the_split_depends_on_the_seed_alone(table) -> None:
    first, second, other = (demo.split_table(table, seed)[1] for seed in (1, 1, 2))
    assert first.equals(second)
    assert not first.equals(other)
