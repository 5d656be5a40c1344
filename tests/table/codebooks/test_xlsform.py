"""XLSForms: types of questions, groups, conditions, constraints and languages."""

import pytest

from eddi.table.codebooks.codebook import Choice, CodebookError, EntryType, Translation
from eddi.table.codebooks.condition import All, Test
from eddi.table.codebooks.read_codebook import read_codebook

CHOICES = [
    {"list_name": "yn", "name": "yes", "label": "Yes"},
    {"list_name": "yn", "name": "no", "label": "No"},
    {"list_name": "fruit", "name": "1", "label": "Apple"},
    {"list_name": "fruit", "name": "2", "label": "Pear"},
]


@pytest.fixture
def read_rows(write_workbook):
    """A function that reads a form with these rows of its survey."""

    def read(*rows, choices=CHOICES, **settings):
        sheets = {"survey": rows, "choices": choices, "settings": [{"form_title": "T", **settings}]}
        return read_codebook(write_workbook(**sheets))

    return read


@pytest.fixture
def read_row(read_rows):
    """A function that reads a form with one question, and returns its entry and what was lost."""

    def read(kind, **properties):
        codebook = read_rows({"type": kind, "name": "x", "label": "X", **properties})
        return codebook.entries[0], [loss.reason for loss in codebook.losses]

    return read


@pytest.mark.parametrize(
    "kind", ["select_one yn", "select one yn", "select one from yn", "Select_One yn"]
)
def test_a_question_with_one_answer_is_a_choice(read_row, kind):
    entry, _ = read_row(kind)
    assert entry.type is EntryType.CHOICE
    assert entry.choices == (Choice("yes", "Yes"), Choice("no", "No"))


@pytest.mark.parametrize("kind", ["select_multiple fruit", "select all that apply from fruit"])
def test_a_question_with_several_answers_lists_codes_in_a_cell(read_row, kind):
    entry, _ = read_row(kind)
    assert (entry.type, entry.separator) == (EntryType.CHOICES, " ")
    assert "x/1" in entry.option_columns["1"]


def test_a_choice_of_one_s_own_is_other(read_row):
    entry, losses = read_row("select_one yn or_other")
    assert entry.choices[-1] == Choice("other", "Other")
    assert "'other'" in losses[0]


@pytest.mark.parametrize(
    ("properties", "bounds"),
    [
        ({"constraint": ". >= 18 and . <= 90"}, (18, 90)),
        ({"constraint": ".>17 and .<91"}, (18, 90)),
        ({"constraint": "0 <= ."}, (0, None)),
        ({"parameters": "start=1 end=7 step=1", "kind": "range"}, (1, 7)),
        ({"kind": "range"}, (1, 10)),
    ],
)
def test_a_range_comes_from_the_constraint_or_the_parameters(read_row, properties, bounds):
    entry, losses = read_row(**{"kind": "integer", **properties})
    assert (entry.type, entry.low, entry.high) == (EntryType.INTEGER, *bounds)
    assert losses == []


def test_a_range_with_a_fraction_is_decimal(read_row):
    assert read_row("range", parameters="start=0 end=1 step=0.5")[0].type is EntryType.DECIMAL


@pytest.mark.parametrize("constraint", [". < ${y}", "regex(., '[0-9]+')", ". > 9 and . < 3"])
def test_a_constraint_without_a_range_is_listed(read_row, constraint):
    entry, losses = read_row("integer", constraint=constraint)
    assert "constraint" in losses[0]
    assert not (entry.low == 9 and entry.high == 3)


@pytest.mark.parametrize(
    ("kind", "reason"),
    [
        ("note", "without an answer"),
        ("calculate", "calculated"),
        ("date", "dates and times"),
        ("geopoint", "map"),
        ("image", "file"),
        ("start", "program"),
        ("rank fruit", "ranking"),
        ("acknowledge", "acknowledgement"),
        ("holograph", "'holograph'"),
    ],
)
def test_other_questions_are_not_modelled(read_row, kind, reason):
    assert reason in read_row(kind)[0].reason


def test_text_is_read_as_the_table_has_it(read_row):
    assert read_row("text")[0].type is EntryType.TEXT


@pytest.mark.parametrize(
    "column", ["relevant", "bind:relevant", "bind::relevant", "relevance", "Relevant"]
)
def test_a_condition_has_several_spellings(read_row, column):
    entry, _ = read_row("integer", **{column: "${a} = 'yes'"})
    assert entry.condition == Test("a", "=", "yes")


def test_a_group_gives_its_section_and_its_condition(read_rows):
    codebook = read_rows(
        {"type": "begin_group", "name": "g", "label": "Health", "relevant": "${a} = 'yes'"},
        {"type": "begin group", "name": "h"},
        {"type": "integer", "name": "x", "relevant": "${b} > 3"},
        {"type": "end group"},
        {"type": "end_group"},
        {"type": "integer", "name": "y"},
    )
    x, y = codebook.entries
    assert (x.section, y.section) == ("h", "")
    assert x.condition == All((Test("a", "=", "yes"), Test("b", ">", "3")))
    assert y.condition is None


def test_questions_in_a_repeat_are_not_modelled(read_rows):
    codebook = read_rows(
        {"type": "begin_repeat", "name": "children", "label": "Children"},
        {"type": "integer", "name": "age"},
        {"type": "end_repeat"},
    )
    assert codebook.entries[0].reason == "inside a repeat"
    assert "one value per person" in codebook.losses[0].reason


def test_languages_are_read_by_their_codes(read_rows):
    row = {
        "type": "select_one c",
        "name": "x",
        "label::English (en)": "Sex",
        "label::Deutsch (de)": "Geschlecht",
        "hint::English (en)": "At birth",
        "hint::Deutsch (de)": "Bei der Geburt",
    }
    choices = [
        {
            "list_name": "c",
            "name": "f",
            "label::English (en)": "Female",
            "label::Deutsch (de)": "Weiblich",
        },
        {
            "list_name": "c",
            "name": "m",
            "label::English (en)": "Male",
            "label::Deutsch (de)": "M\u00e4nnlich",
        },
    ]
    codebook = read_rows(row, choices=choices)
    entry = codebook.entries[0]
    assert (codebook.language, entry.text, entry.help) == ("en", "Sex", "At birth")
    assert entry.translations == {"de": Translation("Geschlecht", "Bei der Geburt")}
    assert [choice.translations["de"] for choice in entry.choices] == ["Weiblich", "M\u00e4nnlich"]


def test_the_default_language_comes_first(read_rows):
    row = {"type": "integer", "name": "x", "label::English (en)": "Age", "label::Deutsch (de)": "Alter"}
    codebook = read_rows(row, default_language="Deutsch (de)")
    assert (codebook.language, codebook.entries[0].text) == ("de", "Alter")


def test_a_language_without_a_code_is_listed(read_rows):
    row = {"type": "integer", "name": "x", "label::english": "Age", "label::klingon": "qaStaH"}
    codebook = read_rows(row)
    assert codebook.language == "en"
    assert "klingon" in codebook.losses[-1].reason


@pytest.mark.parametrize(
    ("properties", "loss"),
    [
        ({"required": "yes"}, "required questions"),
        ({"appearance": "minimal"}, "appearance"),
        ({"default": "3"}, "default answers"),
        ({"choice_filter": "region=${r}"}, "depend on other answers"),
        ({"label": "Hello ${name}"}, "the answer to another question"),
        ({"constraint_message": "Too small"}, "messages of constraints"),
        ({"image": "a.png"}, "pictures"),
    ],
)
def test_what_has_no_equivalent_is_listed(read_row, properties, loss):
    _, losses = read_row("integer", **properties)
    assert any(loss in text for text in losses), losses


def test_a_list_in_another_file_is_listed(read_row):
    entry, losses = read_row("select_one_from_file fruits.csv")
    assert entry.type is EntryType.TEXT
    assert losses == ["its choices are in another file"]


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ([{"type": "end_group"}], "has not begun"),
        ([{"type": "begin_group", "name": "g"}, {"type": "text", "name": "x"}], "'g' has no end"),
        ([{"type": "begin_group", "name": "g"}] * 60, "nested more than 50"),
    ],
)
def test_groups_that_do_not_match_are_an_error(read_rows, rows, message):
    with pytest.raises(CodebookError, match=message):
        read_rows(*rows)


def test_a_form_as_csv_names_its_sheets_in_the_first_column(tmp_path):
    path = tmp_path / "form.csv"
    path.write_text(
        '"survey",,,\n,"type","name","label"\n,"select_one yn","x","Ready?"\n'
        '"choices",,,\n,"list_name","name","label"\n,"yn","1","Yes"\n,"yn","0","No"\n'
    )
    entry = read_codebook(path).entries[0]
    assert (entry.text, entry.choices) == ("Ready?", (Choice("1", "Yes"), Choice("0", "No")))
