"""Plain codebooks: one row per variable, or one row per variable and code."""

import pytest

from eddi.table.codebooks.codebook import Choice, CodebookError, EntryType
from eddi.table.codebooks.read_codebook import read_codebook


@pytest.fixture
def read_text(tmp_path):
    """A function that reads a codebook from the text of a CSV file."""

    def read(text):
        path = tmp_path / "codebook.csv"
        path.write_text(text, encoding="utf-8")
        return read_codebook(path)

    return read


def test_a_row_describes_a_variable(read_text):
    codebook = read_text(
        "Variable,Label,Codes,Units,Section,Notes\n"
        'sex,Sex at birth,"1=Male; 2=Female",,Person,Ask first\nldl,LDL cholesterol,,mg/dL,Lab,\n'
    )
    sex, ldl = codebook.entries
    assert (sex.text, sex.section, sex.help) == ("Sex at birth", "Person", "Ask first")
    assert sex.choices == (Choice("1", "Male"), Choice("2", "Female"))
    assert (ldl.unit, ldl.type) == ("mg/dL", EntryType.TEXT)


@pytest.mark.parametrize(
    "header", ["variable;label;type", "Name\tDescription\tData type", "Column|Question|Kind"]
)
def test_headers_and_delimiters_have_several_spellings(read_text, header):
    delimiter = next(mark for mark in ";\t|" if mark in header)
    codebook = read_text(f"{header}\n" + delimiter.join(("age", "Age", "integer")))
    assert (codebook.entries[0].text, codebook.entries[0].type) == ("Age", EntryType.INTEGER)


@pytest.mark.parametrize(
    ("row", "bounds"),
    [("age,integer,18-90", (18, 90)), ("age,real,0.5 to 3", (0.5, 3)), ("age,,18..90", (18, 90))],
)
def test_codes_may_be_a_range(read_text, row, bounds):
    entry = read_text(f"variable,type,values\n{row}\n").entries[0]
    assert (entry.low, entry.high) == bounds


def test_a_range_may_have_columns_of_its_own(read_text):
    entry = read_text("variable,min,max\nage,18,90\n").entries[0]
    assert (entry.type, entry.low, entry.high) == (EntryType.DECIMAL, 18, 90)


def test_codes_for_missing_values_are_read(read_text):
    assert read_text("variable,type,missing\nage,real,-99; -88\n").entries[0].missing == ("-99", "-88")


def test_a_variable_may_have_one_row_per_code(read_text):
    codebook = read_text(
        "variable,name,question,kind,unit,level,label\n"
        "sex,Sex,What is your sex?,binary,,1,Male\nsex,Sex,What is your sex?,binary,,2,Female\n"
        "age,Age,How old are you?,real,years,,\n"
    )
    sex, age = codebook.entries
    assert (sex.text, sex.choices) == ("What is your sex?", (Choice("1", "Male"), Choice("2", "Female")))
    assert (age.unit, age.type) == ("years", EntryType.DECIMAL)


def test_an_ordinal_variable_has_an_order(read_text):
    entry = read_text('variable,type,codes\nx,ordinal,"1=A; 2=B; 3=C"\n').entries[0]
    assert entry.is_ordered


def test_an_identifier_may_be_marked(read_text):
    assert read_text("variable,label,identifier\nname,Name,yes\n").entries[0].identifier


@pytest.mark.parametrize(
    ("text", "loss"),
    [
        ("variable,label,editor\nx,X,me\n", "'editor' has no equivalent"),
        ("variable,type\nx,quaternion\n", "'quaternion' is not known"),
        ("variable,type,values\nx,real,see manual\n", "'see manual' are neither codes nor a range"),
        ("variable,min,max\nx,9,3\n", "is empty"),
    ],
)
def test_what_is_not_understood_is_listed(read_text, text, loss):
    assert any(loss in item.reason for item in read_text(text).losses)


def test_a_table_of_data_is_not_a_codebook(read_text):
    with pytest.raises(CodebookError, match="Expected a REDCap data dictionary"):
        read_text("age,sex\n61,1\n")
