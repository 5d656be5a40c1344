"""The content of a file in each format."""

import json

from eddi.interview.exports.answer_file import write_answers
from eddi.interview.exports.answer_format import AnswerFormat
from eddi.interview.record import Answer, Record
from eddi.table.schema import Schema
from eddi.table.variable import Variable


def test_redcap_and_xlsform_are_csv(people, schema):
    redcap = write_answers(people, schema, AnswerFormat.REDCAP).splitlines()
    assert redcap[0].startswith("record_id,sex,smoke")
    assert len(redcap) == 3
    assert write_answers(people, schema, AnswerFormat.XLSFORM).startswith("start,end,")


def test_fhir_is_a_bundle_as_json(people, schema):
    bundle = json.loads(write_answers(people, schema, AnswerFormat.FHIR, questionnaire="q"))
    assert bundle["entry"][0]["resource"]["questionnaire"] == "urn:eddi:questionnaire:q"


def test_no_cell_is_a_formula_but_negative_codes_stay(people):
    schema = Schema((Variable("x", "category", ("=1+1", "b")), Variable("y", "category", (-9, 1))))
    record = Record((), (Answer("x", {"x": "=1+1"}), Answer("y", {"y": -9})))
    person = type(people[0])("p", record)
    assert write_answers([person], schema, AnswerFormat.REDCAP).splitlines()[1] == "p,'=1+1,-9"


def test_no_name_of_a_column_is_a_formula(people):
    schema = Schema((Variable("=1+1", "real"), Variable("y", "real")))
    person = type(people[0])("p", Record((), (Answer("=1+1", {"=1+1": 2.0}),)))
    header = write_answers([person], schema, AnswerFormat.XLSFORM).splitlines()[0].split(",")
    assert "'=1+1" in header
    assert write_answers([person], schema, AnswerFormat.REDCAP).startswith("record_id,x__1_1")
