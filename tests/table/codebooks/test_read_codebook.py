"""The format of a codebook is detected by its content, and damaged files are declared errors."""

import contextlib
import json
import random

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from eddi.table.codebooks.codebook import Codebook, CodebookError
from eddi.table.codebooks.read_codebook import read_codebook

from .conftest import API_HEADER


@pytest.mark.parametrize("name", ["x.csv", "x.json", "x.xlsx", "x"])
def test_the_name_of_a_file_does_not_matter(write_redcap, write_workbook, write_json, tmp_path, name):
    sources = {
        "REDCap data dictionary": write_redcap({"field_name": "x", "field_type": "yesno"}),
        "XLSForm": write_workbook(survey=[{"type": "text", "name": "x"}]),
        "FHIR Questionnaire": write_json({"resourceType": "Questionnaire", "item": [{"linkId": "x"}]}),
    }
    for expected, source in sources.items():
        copy = tmp_path / name
        copy.write_bytes(source.read_bytes())
        assert read_codebook(copy).format == expected


def test_a_codebook_may_be_a_sheet_below_a_title(write_workbook):
    path = write_workbook(
        cover=[{"Our study": "2020"}],
        variables=[{"variable": "x", "label": "X"}, {"variable": "y", "label": "Y"}],
    )
    assert len(read_codebook(path).entries) == 2


def test_the_header_may_come_after_a_title(tmp_path):
    path = tmp_path / "c.csv"
    path.write_text("Codebook of our study,,\n\nvariable,label,codes\nx,X,1=a; 2=b\n")
    assert read_codebook(path).entries[0].text == "X"


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "is not a codebook"),
        (b"{", "not valid JSON"),
        (b'{"resourceType": "Patient"}', "is not a codebook"),
        (b"[" * 100_000, "not valid JSON"),
        (b"a,b\n1,2\n", "is not a codebook"),
        (b"PK\x03\x04 broken", "is not a codebook"),
        (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1 broken", "cannot be read as Excel"),
        (b"\xff\xfea", "not a text file"),
        (b'variable,label\n"' + b"x" * 200_000, "not a valid CSV file"),
    ],
)
def test_a_file_that_is_not_a_codebook_is_an_error(tmp_path, content, message):
    path = tmp_path / "c"
    path.write_bytes(content)
    with pytest.raises(CodebookError, match=message):
        read_codebook(path)


def test_a_missing_file_is_an_error(tmp_path):
    with pytest.raises(CodebookError, match="cannot read the codebook"):
        read_codebook(tmp_path / "none.csv")


def check_any_content(path, content):
    path.write_bytes(content)
    with contextlib.suppress(CodebookError):
        assert isinstance(read_codebook(path), Codebook)


ANY = settings(
    max_examples=50, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
CELLS = st.sampled_from(
    [
        *(
            "radio",
            "checkbox",
            "text",
            "slider",
            "yesno",
            "calc",
            "1, A | 2, B",
            "1",
            "-1",
            "integer",
            "x",
            "y",
        ),
        *(
            "[x] = '1'",
            "[x(1)] or (",
            "NA",
            "",
            "@HIDDEN",
            "<b",
            "&#x110000;",
            "nan",
            "inf",
            "1e999",
            "\u0000",
        ),
    ]
)


@ANY
@given(st.lists(st.lists(CELLS, min_size=3, max_size=18), max_size=6))
def test_any_data_dictionary_is_read_or_a_declared_error(tmp_path, rows):
    lines = [",".join(API_HEADER), *(",".join(json.dumps(cell) for cell in row) for row in rows)]
    check_any_content(tmp_path / "c.csv", "\n".join(lines).encode())


KEYS = st.sampled_from(
    [
        *(
            "linkId",
            "type",
            "text",
            "item",
            "answerOption",
            "enableWhen",
            "extension",
            "url",
            "repeats",
            "initial",
        ),
        *(
            "valueCoding",
            "code",
            "display",
            "_text",
            "operator",
            "question",
            "answerInteger",
            "contained",
        ),
    ]
)
SCALARS = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8)
DOCUMENTS = st.recursive(
    SCALARS | st.sampled_from(["choice", "integer", "group", "x", "=", "exists"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=4),
    max_leaves=25,
)


@ANY
@given(st.lists(DOCUMENTS | st.dictionaries(KEYS, DOCUMENTS, min_size=1, max_size=5), max_size=4))
def test_any_questionnaire_is_read_or_a_declared_error(tmp_path, items):
    document = {"resourceType": "Questionnaire", "item": items, "contained": items}
    check_any_content(tmp_path / "c.json", json.dumps(document).encode())


@ANY
@given(st.binary(max_size=200))
def test_any_bytes_are_read_or_a_declared_error(tmp_path, content):
    check_any_content(tmp_path / "c", content)


def test_a_damaged_workbook_is_read_or_a_declared_error(write_workbook, tmp_path):
    choices = [{"list_name": "l", "name": str(n), "label": f"L{n}"} for n in range(5)]
    content = write_workbook(
        survey=[{"type": "select_one l", "name": "x"}], choices=choices
    ).read_bytes()
    draw = random.Random(0)  # noqa: S311  # not a secret
    for _ in range(60):
        damaged = bytearray(content)
        for _ in range(draw.randint(1, 8)):
            damaged[draw.randrange(len(damaged))] = draw.randrange(256)
        check_any_content(tmp_path / "damaged.xlsx", bytes(damaged))
