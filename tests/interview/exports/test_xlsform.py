"""Answers are exported in the columns of submissions, and read back unchanged."""

import numpy as np

from eddi.interview.exports.respondent import read_values
from eddi.interview.exports.xlsform import to_submissions
from eddi.interview.record import NoAnswer
from eddi.table.columns import table_to_numbers
from eddi.table.schema import Schema


def test_a_row_is_a_submission(people, schema):
    first, second = to_submissions(people, schema).to_pylist()
    assert first["start"] == "2026-01-02T10:00:00+00:00"
    assert first["KEY"].startswith("uuid:")
    assert (first["sex"], first["weight"], first["s"], first["tool"]) == ("2", "70.5", "1", "a b")
    assert (second["smoke"], second["s"], second["tool"]) == ("1", "", "")


def test_a_key_depends_on_the_name_of_the_person_alone(people, schema):
    keys = [to_submissions(people[n:], schema)["KEY"].to_pylist()[-1] for n in (0, 1)]
    assert keys[0] == keys[1]


def test_the_answers_are_read_back_unchanged(people, schema):
    columns = [v for v in schema.variables if v.source is None or v.source.is_list]
    plain = Schema(tuple(columns))
    numbers = table_to_numbers(to_submissions(people, schema), plain, optional=plain.names)
    for row, person in zip(numbers, people, strict=True):
        values = read_values(person.record)
        for number, variable in zip(row, columns, strict=True):
            value = values.get(variable.name)
            if value is None or isinstance(value, NoAnswer):
                assert np.isnan(number)
            else:
                assert variable.answer(number) == value
