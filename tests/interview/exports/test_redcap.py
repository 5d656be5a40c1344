"""Answers are exported for REDCap's import, and read back unchanged."""

from eddi.interview.exports.redcap import to_redcap
from eddi.table.codebooks.redcap import RECORD_ID
from eddi.table.schema import Schema, SetAside
from eddi.table.variable import Variable


def test_a_row_has_the_codes_of_a_person(people, schema):
    rows = to_redcap(people, schema).to_pylist()
    assert rows[0] == {
        "record_id": "p1",
        "sex": "2",
        "smoke": "9",
        "ready": "1",
        "weight": "70.5",
        "births": "2",
        "ldl": "3.5",
        "s___1": "1",
        "s___2": "0",
        "tool___a": "1",
        "tool___b": "1",
    }
    assert (rows[1]["smoke"], rows[1]["sex"], rows[1]["s___1"], rows[1]["tool___a"]) == (
        "1",
        "",
        "0",
        "",
    )


def test_a_variable_that_nobody_answered_is_left_out(people, schema):
    assert not {"score", "hdl"} & set(to_redcap(people, schema).column_names)


def test_the_record_id_has_its_name_in_redcap(people, schema):
    named = Schema(schema.variables, set_aside=(SetAside("study_id", RECORD_ID, "identifier"),))
    assert to_redcap(people, named).column_names[0] == "study_id"


def test_names_are_valid_in_redcap(people):
    schema = Schema(
        (Variable("Sex", "binary", (1, 2)), Variable("2 x", "real"), Variable("s\u00e9x", "real"))
    )
    assert to_redcap(people, schema).column_names == ["record_id"]
    record = people[0].record
    answers = tuple(type(a)(v.name, {v.name: 1}) for v in schema.variables for a in record.answers[:1])
    person = type(people[0])("p", type(record)((), answers))
    assert to_redcap([person], schema).column_names == ["record_id", "sex", "x_2_x", "s_x"]


def test_the_answers_are_read_back_unchanged(people, schema, check_read_back):
    columns = [v for v in schema.variables if v.source is None or not v.source.is_list]
    check_read_back(to_redcap(people, schema), columns)
