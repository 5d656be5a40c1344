"""Codebooks with the features of public ones are imported without loss of what a schema can represent.

The files are our own. Each has the features that were found in a public REDCap dictionary, XLSForm or FHIR
Questionnaire, which its name describes.
"""

import json

import pyarrow.parquet as pq
import pytest

from eddi.table.codebooks.codebook import EntryType
from eddi.table.codebooks.read_codebook import read_codebook
from eddi.table.schema import Schema

from .conftest import API_HEADER, REDCAP_HEADER, make_table

INTEGER = {"text_validation_type_or_show_slider_number": "integer"}
NUMBER = {"text_validation_type_or_show_slider_number": "number"}
EN, FR = "label::English (en)", "label::Fran\u00e7ais (fr)"
FREQUENCY = "0, Not at all | 1, Several days | 2, More than half the days | 3, Nearly every day"


def field(name, kind, choices="", **properties):
    return {
        "field_name": name,
        "field_type": kind,
        "field_label": f"The {name}",
        "select_choices_or_calculations": choices,
        **properties,
    }


REDCAP = {
    "demographics of a classic project": [
        field("first_name", "text", identifier="y", section_header="Contact Information"),
        field("telephone", "text", text_validation_type_or_show_slider_number="phone"),
        field("dob", "text", text_validation_type_or_show_slider_number="date_ymd"),
        field("sex", "radio", "0, Female | 1, Male"),
        field(
            "height",
            "text",
            field_note="cm",
            text_validation_min="130",
            text_validation_max="215",
            **NUMBER,
        ),
        field(
            "weight",
            "text",
            field_note="kg",
            text_validation_min="35",
            text_validation_max="200",
            **INTEGER,
        ),
        field("bmi", "calc", "round(([weight]*10000)/(([height])^(2)), 1)"),
        field("given_birth", "yesno", branching_logic='[sex] = "0"'),
        field("num_children", "text", branching_logic='[sex] = "0" and [given_birth] = "1"', **INTEGER),
        field("race", "checkbox", "1, A | 2, B | 3, C | 4, D | 5, E | 6, Unknown"),
    ],
    "laboratory values of a longitudinal study": [
        field("creat_b", "text", field_label="Creatinine (mg/dL)", text_validation_min="0.5", **NUMBER),
        field("npcr_b", "text", text_validation_min="0.5", text_validation_max="2.0", **NUMBER),
        field("visit", "text", branching_logic="[visit_1_arm_1][creat_b] > 2", **NUMBER),
        field("complications", "radio", "0, No | 1, Yes"),
        field(
            "reason", "dropdown", "1, Left | 2, Died | 3, Moved", branching_logic="[complications] = '1'"
        ),
    ],
    "all validations": [
        field(name, "text", text_validation_type_or_show_slider_number=name)
        for name in (
            *(
                "email",
                "alpha_only",
                "phone",
                "zipcode",
                "date_dmy",
                "datetime_mdy",
                "datetime_seconds_ymd",
            ),
            *(
                "time",
                "time_mm_ss",
                "integer",
                "number_1dp",
                "number_2dp_comma_decimal",
                "number",
                "mrn_10d",
            ),
            *("postalcode_germany", "ssn", "vmrn"),
        )
    ],
    "matrix and sliders of a survey": [
        field("m1", "radio", FREQUENCY, matrix_group_name="m", section_header="Over the last 2 weeks"),
        field("m2", "radio", FREQUENCY, matrix_group_name="m"),
        field("day", "checkbox", "0, Monday | 1, Tuesday | 2, Friday", matrix_group_name="weekly"),
        field("s1", "slider", "0 | 50 | 100", text_validation_max="50"),
        field(
            "s2",
            "slider",
            "Not a Fan |  | Obsessed",
            text_validation_type_or_show_slider_number="number",
        ),
    ],
    "branching of a test project": [
        field("radio", "radio", "1, One | 2, Two | ABC, Letters | 4, Unused"),
        field("box", "checkbox", "1, One | 2, Two | ABC, Letters | 4, Unused"),
        field("number", "text", **NUMBER),
        field("yes", "yesno"),
        field("b1", "yesno", branching_logic="[radio] = '1'"),
        field("b2", "yesno", branching_logic="[box(ABC)] = '1'"),
        field("b3", "yesno", branching_logic="[yes] = '0' and [radio] = 'ABC'"),
        field("b4", "yesno", branching_logic="[yes] = '1' or [number] > '5'"),
        field("b5", "yesno", branching_logic="([radio] = '2' and [yes] = '0') or [box(2)] = '1'"),
        field("b6", "yesno", branching_logic="[number] < 0"),
    ],
    "concept codes of a cohort": [
        field("gad7_1", "radio", "ehh_8, Not at all | ehh_9, Several days | ehh_10, Nearly every day"),
        field("pmi", "radio", "PMI_Yes, Yes | PMI_No, No | PMI_Skip, Prefer not to answer"),
        field(
            "other",
            "radio",
            "c_1, Very (really, very) | c_2, Not very",
            branching_logic="[pmi]='PMI_Yes'",
        ),
    ],
    "rich texts and action tags": [
        field(
            "agree", "truefalse", field_label='<div class="rich-text-field-label"><p>Ready?</p></div>'
        ),
        field("when", "text", field_annotation="@TODAY @READONLY"),
        field("group", "dropdown", "1, Control | 2, Treatment", field_annotation="@HIDDEN"),
        field("none", "checkbox", "0, None | 1, Some | 2, All", field_annotation="@NONEOFTHEABOVE='0'"),
        field("pages", "sql", "select value, label from x"),
        field("photo", "file", text_validation_type_or_show_slider_number="signature"),
    ],
}

YES_NO = [
    {"list_name": "yn", "name": "yes", "label": "Yes"},
    {"list_name": "yn", "name": "no", "label": "No"},
]
XLSFORMS = {
    "household survey with groups and a repeat": {
        "survey": [
            {"type": "start", "name": "start"},
            {"type": "begin_group", "name": "person", "label": "About you"},
            {"type": "select_one sex", "name": "sex", "label": "What is your sex?"},
            {"type": "integer", "name": "age", "label": "Age (years)", "constraint": ". >= 15 and . <= 110"},
            {"type": "select_one yn", "name": "birth", "label": "Births?",
             "relevant": "${sex}='female' and ${age}>=15 and ${age}<=49"},
            {"type": "end_group"},
            {"type": "begin_repeat", "name": "child", "label": "Child", "repeat_count": "${age}"},
            {"type": "integer", "name": "child_age", "label": "Age of the child"},
            {"type": "end_repeat"},
            {"type": "geopoint", "name": "gps", "label": "Where?"},
        ],
        "choices": [*YES_NO, {"list_name": "sex", "name": "female", "label": "Female"},
                    {"list_name": "sex", "name": "male", "label": "Male"}],
    },
    "old spellings and typographic quotes": {
        "survey": [
            {"type": "select one from yn", "name": "trees", "label:English": "Are there trees?"},
            {"type": "int", "name": "cbh", "label:English": "G", "relevance": "${trees} = \u2018yes\u2019"},
            {"type": "decimal", "name": "h", "label:English": "Height (m)", "relevance": "${cbh} >= 200"},
        ],
        "choices": [{"list name": row["list_name"], "name": row["name"], "label:English": row["label"]}
                    for row in YES_NO],
    },
    "widgets in two languages": {
        "survey": [
            {"type": "select_multiple yn", "name": "many", EN: "Many", FR: "P"},
            {"type": "range", "name": "r", "parameters": "start=0 end=10 step=1", EN: "R",
             "hint::Fran\u00e7ais (fr)": "Glisser"},
            {"type": "select_one yn", "name": "q", EN: "Q", "appearance": "likert",
             "relevant": "selected(${many}, 'yes') and not(selected(${many}, 'no'))"},
            {"type": "acknowledge", "name": "ok", EN: "OK"},
        ],
        "choices": [{"list_name": "yn", "name": "yes", EN: "Yes", FR: "Oui"},
                    {"list_name": "yn", "name": "no", EN: "No", FR: "Non"}],
        "settings": [{"default_language": "English (en)"}],
    },
    "cascading selects": {
        "survey": [
            {"type": "select_one state", "name": "state", "label": "State"},
            {"type": "select_one town", "name": "town", "label": "Town", "choice_filter": "state=${state}"},
            {"type": "select_one yn or_other", "name": "o", "label": "O", "bind:relevant": "${state} != ''"},
            {"type": "calculate", "name": "c", "calculation": "${state}"},
            {"type": "note", "name": "n", "label": "You chose ${state}"},
        ],
        "choices": [*YES_NO, *({"list_name": "state", "name": f"{n}_NW", "label": f"Z{n}"} for n in "123"),
                    *({"list_name": "town", "name": f"t{n}", "label": f"T{n}", "state": f"{n}_NW"}
                      for n in "123")],
    },
}  # fmt: skip

SCORE = "http://hl7.org/fhir/StructureDefinition/ordinalValue"
LIKERT = [
    {
        "valueCoding": {
            "code": f"LA{n}",
            "display": text,
            "extension": [{"url": SCORE, "valueDecimal": n}],
        }
    }
    for n, text in enumerate(["Not at all", "Several days", "Nearly every day"])
]
FHIR = {
    "depression scale": [
        *(
            {"linkId": f"/4425{n}", "type": "choice", "text": f"Item {n}", "answerOption": LIKERT}
            for n in range(3)
        ),
        {
            "linkId": "/difficult",
            "type": "choice",
            "text": "How difficult?",
            "answerOption": LIKERT,
            "enableWhen": [{"question": "/44250", "operator": "!=", "answerCoding": {"code": "LA0"}}],
        },
    ],
    "intake with groups": [
        {
            "linkId": "g",
            "type": "group",
            "text": "Habits",
            "item": [
                {"linkId": "smoker", "type": "boolean", "text": "Do you smoke?"},
                {
                    "linkId": "packs",
                    "type": "quantity",
                    "text": "How many packs?",
                    "enableWhen": [{"question": "smoker", "operator": "=", "answerBoolean": True}],
                    "extension": [
                        {
                            "url": "http://hl7.org/fhir/StructureDefinition/questionnaire-unit",
                            "valueCoding": {"code": "1/d", "display": "packs per day"},
                        },
                        {"url": "http://hl7.org/fhir/StructureDefinition/minValue", "valueInteger": 0},
                    ],
                },
            ],
        }
    ],
}


@pytest.fixture(params=[*REDCAP, *XLSFORMS, *FHIR])
def look_alike(request, write_redcap, write_workbook, write_json):
    """The path of a codebook."""
    name = request.param
    if name in REDCAP:
        header = API_HEADER if len(name) % 2 else REDCAP_HEADER
        return write_redcap(*REDCAP[name], header=header)
    if name in XLSFORMS:
        return write_workbook(**XLSFORMS[name])
    return write_json({"resourceType": "Questionnaire", "item": FHIR[name]})


@pytest.mark.parametrize("name", XLSFORMS)
def test_the_forms_are_valid_for_the_converter_of_odk(write_workbook, name):
    xls2xform = pytest.importorskip("pyxform.xls2xform")
    path = write_workbook(**XLSFORMS[name])
    names = [entry.name for entry in read_codebook(path).entries]
    converted = xls2xform.convert(path, form_name="form").xform
    assert all(f'/{name}"' in converted for name in names)


def test_nothing_that_a_schema_can_represent_is_lost(look_alike, tmp_path):
    codebook = read_codebook(look_alike)
    path = tmp_path / "table.parquet"
    pq.write_table(make_table(codebook), path)
    schema = Schema.infer(path, codebook=look_alike)
    notes = " ".join(f"{note.column}: {note.message}" for note in schema.notes)
    set_aside = {column.name: column for column in schema.set_aside}
    for entry in codebook.entries:
        check_entry(entry, schema, set_aside, notes)
    assert Schema.from_toml(schema.to_toml()) == schema
    assert json.dumps(schema.to_document())


def check_entry(entry, schema, set_aside, notes):
    if entry.identifier or entry.reason:
        assert set_aside[entry.name].reason == (entry.identifier or entry.reason)
        return
    if entry.type is EntryType.TEXT:
        return
    question = next(q for q in schema.questions if entry.name in (q.name, *q.reveals))
    assert (question.text, question.help) == (entry.text or entry.name, entry.help)
    assert question.never == entry.is_hidden
    if entry.condition is not None:
        assert question.requires or entry.name in notes
    if entry.type is EntryType.CHOICES:
        assert list(schema.options(question).values()) == [choice.code for choice in entry.choices]
        assert [schema[name].title for name in question.reveals] == [c.label for c in entry.choices]
    else:
        check_variable(entry, schema[entry.name])


def check_variable(entry, variable):
    if entry.type is EntryType.CHOICE:
        codes = {str(code) for code in (*variable.levels, *variable.missing, *variable.declined)}
        assert codes == {choice.code for choice in entry.choices}
        labels = dict(zip(map(str, variable.levels), variable.labels or variable.levels, strict=True))
        by_code = {choice.code: choice.label for choice in entry.choices}
        assert all(by_code[code] == label for code, label in labels.items())
        return
    assert variable.unit == entry.unit
    if variable.kind.has_levels:
        assert (variable.levels[0], variable.levels[-1]) == (entry.low, entry.high)
    elif entry.low is not None or entry.high is not None:
        assert (variable.low, variable.high) == (entry.low, entry.high)
