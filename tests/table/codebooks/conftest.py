"""Codebooks in files, and tables that fit them."""

import csv
import json
import random

import openpyxl
import pyarrow as pa
import pytest

from eddi.table import formats
from eddi.table.codebooks.codebook import EntryType
from eddi.table.schema import Schema

REDCAP_HEADER = (
    *("Variable / Field Name", "Form Name", "Section Header", "Field Type", "Field Label"),
    *("Choices, Calculations, OR Slider Labels", "Field Note"),
    *("Text Validation Type OR Show Slider Number", "Text Validation Min", "Text Validation Max"),
    *("Identifier?", "Branching Logic (Show field only if...)", "Required Field?", "Custom Alignment"),
    *("Question Number (surveys only)", "Matrix Group Name", "Matrix Ranking?", "Field Annotation"),
)
API_HEADER = (
    *("field_name", "form_name", "section_header", "field_type", "field_label"),
    *("select_choices_or_calculations", "field_note", "text_validation_type_or_show_slider_number"),
    *("text_validation_min", "text_validation_max", "identifier", "branching_logic", "required_field"),
    *("custom_alignment", "question_number", "matrix_group_name", "matrix_ranking", "field_annotation"),
)


@pytest.fixture
def write_redcap(tmp_path):
    """A function that writes a data dictionary from fields by the names of the API."""

    def write(*fields, header=REDCAP_HEADER, empty=""):
        path = tmp_path / "dictionary.csv"
        with path.open("w", encoding="utf-8", newline="") as file:
            writer = csv.writer(file)
            writer.writerow(header)
            for field in [{"field_name": "record_id", "field_type": "text"}, *fields]:
                given = {"form_name": "form", **field}
                writer.writerow([given.get(name) or empty for name in API_HEADER])
        return path

    return write


@pytest.fixture
def write_workbook(tmp_path):
    """A function that writes sheets, each a list of rows by column."""

    def write(**sheets):
        book = openpyxl.Workbook()
        book.remove(book.active)
        for name, rows in sheets.items():
            sheet = book.create_sheet(name)
            header = list(dict.fromkeys(key for row in rows for key in row))
            sheet.append(header)
            for row in rows:
                sheet.append([row.get(key) for key in header])
        path = tmp_path / "form.xlsx"
        book.save(path)
        return path

    return write


@pytest.fixture
def write_json(tmp_path):
    """A function that writes a document as JSON."""

    def write(document):
        path = tmp_path / "questionnaire.json"
        path.write_text(json.dumps(document), encoding="utf-8")
        return path

    return write


@pytest.fixture
def infer_with(tmp_path):
    """A function that infers the schema of a table, given by column, with a codebook."""

    def infer(columns, codebook, **options):
        path = tmp_path / "table.csv"
        formats.write(pa.table(columns), path)
        return Schema.infer(path, codebook=codebook, **options)

    return infer


def make_table(codebook, *, n_rows=60, seed=0):
    """A table that fits a codebook, with a column for every entry or option."""
    draw = random.Random(seed)  # noqa: S311  # not a secret
    drawn = (_draw_columns(entry, n_rows, draw) for entry in codebook.entries)
    return pa.table({name: cells for columns in drawn for name, cells in columns.items()})


def _draw_columns(entry, n_rows, draw):
    codes = [choice.code for choice in entry.choices]
    if entry.type is EntryType.CHOICE:
        cells = [draw.choice([*codes, None]) for _ in range(n_rows)]
        cells[: len(codes)] = codes  # every code occurs
        return {entry.name: cells}
    if entry.type is EntryType.CHOICES and "___" in str(entry.option_columns):
        return {names[0]: draw.choices([0, 1], k=n_rows) for names in entry.option_columns.values()}
    if entry.type is EntryType.CHOICES:
        lists = [draw.sample(codes, draw.randint(1, min(3, len(codes)))) for _ in range(n_rows)]
        return {entry.name: [entry.separator.join(cell) for cell in lists]}
    if entry.type in (EntryType.INTEGER, EntryType.DECIMAL):
        low = entry.low if entry.low is not None else (entry.high or 100) - 100
        high = entry.high if entry.high is not None else low + 100
        numbers = [low + (high - low) * draw.random() for _ in range(n_rows)]
        is_whole = entry.type is EntryType.INTEGER
        return {entry.name: [round(n) if is_whole else round(n, 2) for n in numbers]}
    return {entry.name: [f"text {n}" for n in range(n_rows)]}
