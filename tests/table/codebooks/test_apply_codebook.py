"""A codebook and a table give one schema: nothing that a schema can represent is lost."""

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from eddi.table import streaming
from eddi.table.languages.translations import QuestionTexts
from eddi.table.question import Comparison
from eddi.table.schema import Schema
from eddi.table.variable import Kind

N = 40


def field(name, kind, **properties):
    return {"field_name": name, "field_type": kind, "field_label": name.upper(), **properties}


def choices(text):
    return {"select_choices_or_calculations": text}


def integer(low="", high=""):
    return {
        "text_validation_type_or_show_slider_number": "integer",
        "text_validation_min": low,
        "text_validation_max": high,
    }


def test_levels_have_labels_and_their_order(write_redcap, infer_with):
    path = write_redcap(
        field("sex", "radio", **choices("1, Male | 2, Female")),
        field("well", "radio", **choices("1, Yes | 2, No")),
        field("often", "radio", **choices("3, Always | 1, Never | 2, Sometimes")),
        field("race", "radio", **choices("1, Asian | 2, White | 3, Other")),
    )
    columns = {"sex": [1, 2], "well": [1, 2], "often": [1, 2], "race": [1, 3]}
    schema = infer_with({name: cells * N for name, cells in columns.items()}, path)
    found = {v.name: (v.kind, v.levels, v.labels) for v in schema.variables}
    assert found == {
        "sex": (Kind.BINARY, (1, 2), ("Male", "Female")),
        "well": (Kind.BINARY, (2, 1), ("No", "Yes")),
        "often": (Kind.ORDINAL, (1, 2, 3), ("Never", "Sometimes", "Always")),
        "race": (Kind.CATEGORY, (1, 2, 3), ("Asian", "White", "Other")),
    }


def test_a_table_may_hold_labels_instead_of_codes(write_redcap, infer_with):
    path = write_redcap(
        field("sex", "radio", **choices("1, Male | 2, Female")),
        field("pregnant", "yesno", branching_logic="[sex] = '2'"),
    )
    schema = infer_with({"sex": ["Male", "Female"] * N, "pregnant": ["No", "Yes"] * N}, path)
    assert schema["sex"].levels == ("Male", "Female")
    assert schema.question("pregnant").requires == {"sex": ("Female",)}


def test_choices_without_an_answer_are_codes_for_missing_values(write_redcap, infer_with):
    path = write_redcap(field("x", "radio", **choices("1, A | 2, B | 3, C | 8, Unknown | 9, Refused")))
    schema = infer_with({"x": [1, 2, 3, 8, 9] * N}, path)
    x = schema["x"]
    assert (x.levels, x.missing, x.declined) == ((1, 2, 3), (8,), (9,))
    assert "8 (Unknown), 9 (Refused)" in schema.notes[0].message


def test_values_that_the_codebook_does_not_list_are_levels_with_a_note(write_redcap, infer_with):
    path = write_redcap(field("x", "radio", **choices("1, A | 2, B")))
    schema = infer_with({"x": [1, 2, 7] * N}, path)
    assert (schema["x"].kind, schema["x"].levels) == (Kind.CATEGORY, (1, 2, 7))
    assert "does not list: 7" in schema.notes[0].message


def test_a_codebook_that_does_not_fit_the_values_leaves_what_was_inferred(write_redcap, infer_with):
    path = write_redcap(field("x", "text", **integer()), field("y", "radio", **choices("1, A | 2, B")))
    schema = infer_with({"x": ["a", "b"] * N, "y": list("cdefghij") * (N // 4)}, path)
    assert schema["x"].levels == ("a", "b")
    assert [note.column for note in schema.notes] == ["x", "y"]
    assert "does not fit" in schema.notes[0].message


def test_a_number_has_its_range_and_unit(write_redcap, infer_with):
    path = write_redcap(
        field("age", "text", **{**integer("18", "90"), "field_label": "Present age (years)"}),
        field("pain", "text", **integer("0", "10")),
    )
    schema = infer_with({"age": list(range(20, 60)), "pain": [n % 9 for n in range(40)]}, path)
    age = schema["age"]
    assert (age.low, age.high, age.unit, age.title) == (18, 90, "years", "Present age")
    assert (schema["pain"].kind, schema["pain"].levels) == (Kind.ORDINAL, tuple(range(11)))


def test_values_beyond_the_range_are_noted_with_the_variable_to_use(write_redcap, infer_with):
    path = write_redcap(field("age", "text", **integer("18", "90")))
    schema = infer_with({"age": [*range(20, 60), 999]}, path)
    assert schema.notes[0].alternative.missing == (999,)


def test_checkboxes_are_a_multi_select_question(write_redcap, infer_with):
    path = write_redcap(field("s", "checkbox", **choices("1, Cough | -9, None | A, Fever")))
    schema = infer_with(
        {"s___1": [0, 1] * N, "s____9": [1, 0] * N, "s___a": [0, 0, 1, 1] * (N // 2)}, path
    )
    question = schema.question("s")
    assert schema.options(question) == {"s___1": "1", "s____9": "-9", "s___a": "A"}
    assert [schema[name].title for name in question.reveals] == ["Cough", "None", "Fever"]


def test_a_list_of_codes_in_a_cell_is_a_multi_select_question(write_workbook, infer_with):
    path = write_workbook(
        survey=[{"type": "select_multiple l", "name": "s", "label": "S"}],
        choices=[{"list_name": "l", "name": code, "label": code.upper()} for code in ("a", "b")],
    )
    cells = ["a", "a b", "b"] * N
    schema = infer_with({"g/s": cells, "g/s/a": [1, 1, 0] * N, "g/s/b": [0, 1, 1] * N}, path)
    assert schema.options(schema.question("g/s")) == {"g/s: a": "a", "g/s: b": "b"}
    assert {column.name: column.reason for column in schema.set_aside} == {
        "g/s/a": "repeats another column",
        "g/s/b": "repeats another column",
    }


def test_conditions_become_prerequisites(write_redcap, infer_with):
    path = write_redcap(
        field("sex", "radio", **choices("1, Male | 2, Female")),
        field("age", "text", **integer()),
        field("s", "checkbox", **choices("1, Cough | 2, Fever")),
        field("x", "yesno", branching_logic="[sex] = '2' and [age] < 50 and [s(1)] = '1'"),
    )
    columns = {"sex": [1, 2] * N, "age": list(range(2 * N)), "x": [0, 1] * N}
    options = {"s___1": [0, 1] * N, "s___2": [1, 0] * N}
    schema = infer_with({**columns, **options}, path)
    assert schema.question("x").requires == {"sex": (2,), "age": (Comparison("<", 50),), "s___1": (1,)}


def test_a_part_of_a_condition_that_is_lost_is_noted(write_redcap, infer_with):
    path = write_redcap(field("x", "yesno", branching_logic="[gone] = '1'"))
    schema = infer_with({"x": [0, 1] * N}, path)
    assert schema.question("x").requires == {}
    assert "gone is not a variable of the schema" in schema.notes[0].message


def test_identifiers_and_columns_of_the_program_are_set_aside(write_redcap, infer_with):
    path = write_redcap(field("mail", "text", identifier="y"), field("x", "yesno"), field("bmi", "calc"))
    columns = {
        "record_id": list(range(2 * N)),
        "redcap_event_name": ["a", "b"] * N,
        "mail": ["a", "b"] * N,
        "x": [0, 1] * N,
        "bmi": [n + 0.5 for n in range(2 * N)],
        "form_complete": [0, 2] * N,
    }
    schema = infer_with(columns, path)
    assert schema.names == ("x",)
    roles = {column.name: column.role for column in schema.set_aside}
    assert [name for name, role in roles.items() if role == "identifier"] == ["record_id", "mail"]
    assert set(roles) == set(columns) - {"x"}


def test_a_calculated_target_is_modelled_and_never_asked(write_redcap, infer_with):
    path = write_redcap(field("x", "yesno"), field("score", "calc"))
    columns = {"x": [0, 1] * N, "score": [n + 0.5 for n in range(2 * N)]}
    schema = infer_with(columns, path, targets=["score"])
    assert schema.targets == ("score",)
    assert schema.question("score").never


def test_hidden_fields_are_never_asked(write_redcap, infer_with):
    schema = infer_with({"x": [0, 1] * N}, write_redcap(field("x", "yesno", field_annotation="@HIDDEN")))
    assert schema.question("x").never


def test_entries_and_columns_without_a_counterpart_are_noted(write_redcap, infer_with):
    schema = infer_with(
        {"x": [0, 1] * N, "y": [0, 1] * N}, write_redcap(field("x", "yesno"), field("z", "yesno"))
    )
    messages = [note.message for note in schema.notes]
    assert messages == [
        "the table has no column for: z.",
        "the codebook does not describe: y.",
    ]


def test_texts_are_in_all_languages(write_workbook, infer_with):
    path = write_workbook(
        survey=[
            {
                "type": "select_one l",
                "name": "x",
                "label::English (en)": "How often?",
                "hint::English (en)": "Per week",
                "label::Deutsch (de)": "Wie oft?",
                "hint::Deutsch (de)": "Pro Woche",
            }
        ],
        choices=[
            {
                "list_name": "l",
                "name": "1",
                "label::English (en)": "Never",
                "label::Deutsch (de)": "Nie",
            },
            {
                "list_name": "l",
                "name": "2",
                "label::English (en)": "Always",
                "label::Deutsch (de)": "Immer",
            },
        ],
    )
    schema = infer_with({"x": [1, 2] * N}, path)
    question = schema.question("x")
    assert (schema.language, question.text, question.help) == ("en", "How often?", "Per week")
    assert question.translations == {"de": QuestionTexts("Wie oft?", "Pro Woche")}
    assert schema["x"].translations["de"].labels == ("Nie", "Immer")
    assert Schema.from_toml(schema.to_toml()) == schema


@pytest.mark.parametrize("column", ["X", "group/x", "group-x", "What is it?"])
def test_a_column_is_found_by_name_path_or_label(write_redcap, infer_with, column):
    path = write_redcap(field("x", "yesno", field_label="What is it?"))
    schema = infer_with({column: [0, 1] * N}, path)
    assert schema[column].labels == ("No", "Yes")


def test_the_notes_are_comments_in_the_file(write_redcap, infer_with):
    path = write_redcap(field("x", "yesno", branching_logic="[gone] = 1"), field("z", "yesno"))
    toml = infer_with({"x": [0, 1] * N}, path).to_toml()
    assert "# Note: the table has no column for: z." in toml
    assert "# Check x: a part of its condition is not represented: gone = 1" in toml


def test_a_large_parquet_file_is_read_in_batches(write_redcap, monkeypatch, tmp_path):
    pq.write_table(pa.table({"x": [0, 1] * N}), tmp_path / "t.parquet")
    monkeypatch.setattr(streaming, "MAX_CELLS_IN_MEMORY", 1)
    schema = Schema.infer(tmp_path / "t.parquet", codebook=write_redcap(field("x", "yesno")))
    assert schema["x"].labels == ("No", "Yes")
