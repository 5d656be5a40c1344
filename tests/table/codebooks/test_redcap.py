"""REDCap data dictionaries: both headers, all field types, and what has no equivalent."""

import json

import pytest

from eddi.table.codebooks.codebook import Choice, CodebookError, EntryType
from eddi.table.codebooks.condition import Opaque, Test
from eddi.table.codebooks.read_codebook import read_codebook

from .conftest import API_HEADER, REDCAP_HEADER


def make_field(kind, **properties):
    return {"field_name": "x", "field_type": kind, "field_label": "X", **properties}


@pytest.fixture
def read_field(write_redcap):
    """A function that returns the entry of one field, and what was lost."""

    def read(kind, **properties):
        codebook = read_codebook(write_redcap(make_field(kind, **properties)))
        return codebook.entries[1], [loss.reason for loss in codebook.losses]

    return read


@pytest.mark.parametrize("header", [REDCAP_HEADER, API_HEADER])
def test_both_headers_are_read(write_redcap, header):
    fields = make_field("radio", select_choices_or_calculations="1, Yes | 2, No", field_note="Think.")
    entry = read_codebook(write_redcap(fields, header=header)).entries[1]
    assert (entry.name, entry.text, entry.help) == ("x", "X", "Think.")
    assert entry.choices == (Choice("1", "Yes"), Choice("2", "No"))


def test_metadata_that_r_exported_has_na_for_empty_cells(write_redcap):
    path = write_redcap(make_field("text"), header=API_HEADER, empty="NA")
    assert read_codebook(path).entries[1].help == ""


def test_metadata_of_the_api_as_json_is_read(write_json):
    codebook = read_codebook(write_json([make_field("yesno"), make_field("calc", field_name="y")]))
    assert [entry.name for entry in codebook.entries] == ["x", "y"]
    assert codebook.format == "REDCap data dictionary"


@pytest.mark.parametrize(
    ("kind", "choices"),
    [
        ("yesno", [("0", "No"), ("1", "Yes")]),
        ("truefalse", [("0", "False"), ("1", "True")]),
        ("dropdown", [("a", "A"), ("b", "B")]),
        ("radio", [("a", "A"), ("b", "B")]),
    ],
)
def test_a_field_with_one_answer_is_a_choice(read_field, kind, choices):
    entry, _ = read_field(kind, select_choices_or_calculations="a, A | b, B")
    assert entry.type is EntryType.CHOICE
    assert entry.choices == tuple(Choice(*choice) for choice in choices)


def test_a_checkbox_has_a_column_for_each_choice(read_field):
    entry, _ = read_field("checkbox", select_choices_or_calculations="1, A | -9, B | ABC, C")
    assert entry.type is EntryType.CHOICES
    assert [names[0] for names in entry.option_columns.values()] == ["x___1", "x____9", "x___abc"]
    assert entry.option_columns["1"][1] == "X (choice=A)"


@pytest.mark.parametrize(
    ("validation", "kind"),
    [("integer", EntryType.INTEGER), ("number", EntryType.DECIMAL), ("number_2dp", EntryType.DECIMAL),
     ("number_1dp_comma_decimal", EntryType.DECIMAL), ("", EntryType.TEXT)],
)  # fmt: skip
def test_the_validation_of_a_text_gives_its_type(read_field, validation, kind):
    entry, _ = read_field(
        "text",
        text_validation_type_or_show_slider_number=validation,
        text_validation_min="18",
        text_validation_max="90",
    )
    assert entry.type is kind
    assert (entry.low, entry.high) == ((18, 90) if validation else (None, None))


@pytest.mark.parametrize(
    "validation", ["email", "phone", "ssn", "mrn_10d", "zipcode", "phone_australia"]
)
def test_contact_details_are_identifiers(read_field, validation):
    entry, _ = read_field("text", text_validation_type_or_show_slider_number=validation)
    assert validation in entry.identifier


@pytest.mark.parametrize(
    ("kind", "reason"),
    [("calc", "calculated"), ("file", "file"), ("descriptive", "without an answer"), ("notes", "long text"),
     ("sql", "'sql'")],
)  # fmt: skip
def test_other_fields_are_not_modelled(read_field, kind, reason):
    assert reason in read_field(kind)[0].reason


@pytest.mark.parametrize("validation", ["date_ymd", "datetime_seconds_dmy", "time_mm_ss", "time"])
def test_dates_and_times_are_not_modelled(read_field, validation):
    entry, _ = read_field("text", text_validation_type_or_show_slider_number=validation)
    assert entry.reason == "dates and times are not modelled"


def test_a_slider_has_a_range_and_labels_at_its_ends(read_field):
    entry, _ = read_field(
        "slider", select_choices_or_calculations="Never | | Always", field_note="Drag."
    )
    assert (entry.type, entry.low, entry.high) == (EntryType.DECIMAL, 0, 100)
    assert entry.help == "Drag. 0 = Never, 100 = Always"


def test_a_slider_may_have_its_own_range(read_field):
    entry, _ = read_field("slider", text_validation_min="1", text_validation_max="7")
    assert (entry.low, entry.high) == (1, 7)


@pytest.mark.parametrize(
    "properties",
    [{"field_note": "kg"}, {"field_label": "Weight (kg)"}, {"field_annotation": 'units={"kg"}'}],
)
def test_a_unit_is_found_in_the_note_the_label_or_the_annotation(read_field, properties):
    entry, _ = read_field("text", text_validation_type_or_show_slider_number="number", **properties)
    assert (entry.unit, entry.help) == ("kg", "")


def test_the_first_field_and_marked_fields_are_identifiers(write_redcap):
    codebook = read_codebook(write_redcap(make_field("text", identifier="y")))
    assert [entry.identifier for entry in codebook.entries] == [
        "the record ID of REDCap",
        "marked as an identifier in REDCap",
    ]


def test_branching_logic_is_a_condition(read_field):
    entry, _ = read_field("yesno", branching_logic="[a] = '1'")
    assert entry.condition == Test("a", "=", "1")


def test_broken_branching_logic_is_reported_with_its_text(read_field):
    entry, _ = read_field("yesno", branching_logic="[a] = ")
    assert entry.condition == Opaque("[a] =", "it ends too early")


def test_a_section_continues_until_the_next_section_or_form(write_redcap):
    fields = [
        make_field("yesno", section_header="Mood"),
        make_field("yesno", field_name="y"),
        make_field("yesno", field_name="z", form_name="lab_tests"),
    ]
    sections = [entry.section for entry in read_codebook(write_redcap(*fields)).entries]
    assert sections == ["form", "Mood", "Mood", "lab tests"]


def test_items_of_a_matrix_are_ordered(read_field):
    entry, _ = read_field(
        "radio", select_choices_or_calculations="1, A | 2, B | 3, C", matrix_group_name="m"
    )
    assert entry.is_ordered


@pytest.mark.parametrize("tag", ["@HIDDEN", "@HIDDEN-SURVEY", "@READONLY"])
def test_a_hidden_field_is_never_asked(read_field, tag):
    entry, losses = read_field("yesno", field_annotation=f"{tag} see protocol")
    assert entry.is_hidden
    assert losses == [f"the action tag {tag}, so it is never asked"]


@pytest.mark.parametrize("tag", ["@TODAY", "@CALCTEXT(if([a]=1,'x','y'))", "@NOW"])
def test_a_field_that_a_tag_fills_in_is_calculated(read_field, tag):
    assert "calculated" in read_field("text", field_annotation=tag)[0].reason


@pytest.mark.parametrize(
    ("properties", "loss"),
    [
        ({"field_annotation": "@NONEOFTHEABOVE"}, "@NONEOFTHEABOVE has no equivalent"),
        ({"required_field": "y"}, "required fields"),
        ({"custom_alignment": "RH"}, "custom alignment"),
        ({"question_number": "7a"}, "question numbers"),
        ({"matrix_ranking": "y"}, "a ranking"),
        ({"field_label": "Hello [name_first], how are you?"}, "the answer to another question"),
    ],
)
def test_what_has_no_equivalent_is_listed(read_field, properties, loss):
    _, losses = read_field("yesno", **properties)
    assert any(loss in text for text in losses), losses


def test_choices_without_a_code_or_twice_are_listed(read_field):
    entry, losses = read_field("radio", select_choices_or_calculations="1, A | other | 1, B")
    assert entry.choices == (Choice("1", "A"),)
    assert losses == ["some of its choices have no code or repeat one"]


def test_a_dictionary_without_fields_is_an_error(tmp_path):
    path = tmp_path / "d.csv"
    path.write_text(",".join(json.dumps(name) for name in REDCAP_HEADER) + "\n")
    with pytest.raises(CodebookError, match="describes no variables"):
        read_codebook(path)
