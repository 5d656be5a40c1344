"""Survival variables in a schema."""

from dataclasses import replace

import numpy as np
import pytest

from eddi import Schema, Survival, Variable
from eddi.errors import AnswerError, SchemaError, TableError
from eddi.table import formats
from eddi.table.beliefs.statements import Belief
from eddi.table.columns import read_survival, table_to_numbers
from eddi.table.survival.in_schema import copy_bins, learn_bins
from eddi.table.variable import Kind


def infer(table):
    """The schema of patients with the target "death"."""
    return Schema.infer(table, survival={"death": ("days", "died")})


def test_two_columns_become_one_variable(patients):
    schema = infer(patients)
    assert schema.names == ("age", "death")
    assert schema["death"].kind is Kind.SURVIVAL
    assert [column.name for column in schema.set_aside] == ["days", "died"]
    assert schema.targets == ("death",)


def test_the_variable_may_have_the_name_of_its_event(patients):
    schema = Schema.infer(patients, survival={"died": ("days", "died")})
    assert schema.names == ("age", "died")


def test_nobody_is_asked_about_it(patients):
    assert [question.name for question in infer(patients).questions] == ["age"]


def test_an_answer_about_it_is_an_error(patients):
    with pytest.raises(
        AnswerError, match="'death' is a survival variable, which is predicted and never"
    ):
        infer(patients)["death"].number(3)


def test_a_question_that_reveals_it_is_an_error(patients):
    with pytest.raises(SchemaError, match="question 'outcome' uses 'death', a survival variable"):
        infer(patients).with_question("outcome", reveals=["death"])


def test_a_variable_that_is_its_time_is_an_error(patients):
    with pytest.raises(SchemaError, match="'days' is a variable and a column of the survival variable"):
        infer(patients).with_variable(Variable("days", "real"))


def test_a_belief_about_it_is_an_error(patients):
    with pytest.raises(SchemaError, match="'death' is a survival variable, about which beliefs"):
        replace(infer(patients), beliefs=(Belief("death", typical=3.0, spread=1.0),))


def test_one_column_is_not_enough(patients):
    with pytest.raises(SchemaError, match=r"'death' needs two columns.* got 'days'"):
        Schema.infer(patients, survival={"death": "days"})


def test_bins_are_learned_from_a_table(patients):
    schema = learn_bins(infer(patients), formats.read(patients))
    assert schema["death"].n_levels == 6
    assert schema["death"].survival.horizon == patients.days[patients.died == 1].max()


def test_bins_that_are_there_are_kept(patients):
    schema = Schema.infer(patients, survival={"death": Survival("days", "died", edges=[10, 20])})
    assert learn_bins(schema, formats.read(patients)) == schema


def test_bins_are_copied_from_another_schema(patients):
    fitted = learn_bins(infer(patients), formats.read(patients))
    assert copy_bins(infer(patients), fitted) == fitted


def test_a_schema_with_bins_is_written_and_read(patients):
    survival = Survival("days", "died", occurred=1, horizons=[50, 90.5], edges=[10, 40, 200.25])
    schema = Schema.infer(patients, survival={"death": survival})
    assert Schema.from_toml(schema.to_toml()) == schema


def test_a_survival_variable_without_an_event_column_is_an_error():
    text = 'targets = ["death"]\n[variables]\ndeath = { kind = "survival", time = "days" }\n'
    with pytest.raises(
        SchemaError, match=r"has time, but no event\. A survival variable names two columns"
    ):
        Schema.from_toml(text)


def test_a_time_of_another_kind_is_an_error():
    with pytest.raises(SchemaError, match="'age' is real; a survival variable, and no other"):
        Variable("age", "real", survival=Survival("days", "died"))


def test_numbers_come_from_both_columns(patients):
    schema = learn_bins(infer(patients), formats.read(patients))
    numbers = table_to_numbers(formats.read(patients), schema)[:, 1]
    is_event = numbers - np.floor(numbers) <= 0.2 + 1e-9
    assert is_event.tolist() == (patients.died == 1).tolist()


def test_any_other_value_than_that_of_the_event_means_that_it_did_not_happen(patients):
    table = patients.assign(died=np.where(patients.died == 1, "dead", "transplant"))
    survival = Survival("days", "died", occurred="dead")
    variable = Variable("death", "survival", survival=survival)
    assert read_survival(formats.read(table), variable).events.tolist() == patients.died.tolist()


def test_an_event_column_of_words_needs_the_word_of_the_event(patients):
    table = patients.assign(died=np.where(patients.died == 1, "dead", "alive"))
    with pytest.raises(TableError, match="Say which value means that the event of 'death' happened"):
        learn_bins(infer(table), formats.read(table))


def test_an_absent_column_is_an_error(patients):
    with pytest.raises(TableError, match="no column 'died', which the survival variable 'death' needs"):
        learn_bins(infer(patients), formats.read(patients.drop(columns="died")))
