"""The header of an Excel sheet is found below a title, and joined if it has merged cells."""

import openpyxl
import pytest

from eddi.errors import EddiWarning
from eddi.table import formats
from eddi.table.files.spreadsheet import split_header
from eddi.table.schema import Schema


@pytest.fixture
def sheet(tmp_path):
    """A function that writes rows with merged cells to an Excel file and returns its path."""

    def write(rows, *merged):
        book = openpyxl.Workbook()
        for row in rows:
            book.active.append(row)
        for cells in merged:
            book.active.merge_cells(cells)
        book.save(tmp_path / "t.xlsx")
        return tmp_path / "t.xlsx"

    return write


BODY = [[1, 120, 80, "no"], [2, 135, 85, "yes"], [3, 128, 82, "no"]]


def test_a_header_with_merged_cells_is_joined(sheet):
    header = [["id", "Blood pressure", None, "Smoker"], [None, "systolic", "diastolic", None]]
    path = sheet([*header, *BODY], "A1:A2", "B1:C1", "D1:D2")
    with pytest.warns(
        EddiWarning, match=r"'t.xlsx' has several rows; they are joined, as in 'Blood pressure sys"
    ):
        table = formats.read(path)
    assert table.column_names == ["id", "Blood pressure systolic", "Blood pressure diastolic", "Smoker"]
    assert table["Blood pressure systolic"].to_pylist() == [120, 135, 128]


def test_a_header_of_two_rows_without_merged_cells_is_joined():
    rows = [["id", "Pressure", None, "Smoker"], ["", "sys", "dia", ""], *BODY]
    rows = [[None if cell == "" else cell for cell in row] for row in rows]
    names, body = split_header(rows)
    assert names == ["id", "Pressure sys", "dia", "Smoker"]
    assert body == BODY


def test_a_title_above_the_header_is_left_out(sheet):
    path = sheet(
        [["Results 2024", None, None, None], [], ["id", "sys", "dia", "smoker"], *BODY], "A1:D1"
    )
    assert formats.read(path).column_names == ["id", "sys", "dia", "smoker"]


def test_a_plain_header_has_one_row_even_if_the_first_row_is_text(sheet):
    table = formats.read(sheet([["name", "town"], ["Ann", "Rome"], ["Bo", "Oslo"]]))
    assert table.to_pydict() == {"name": ["Ann", "Bo"], "town": ["Rome", "Oslo"]}


def test_merged_cells_in_the_body_hold_their_value_in_every_row(sheet):
    table = formats.read(sheet([["ward", "age"], ["A", 61], [None, 40], ["B", 22]], "A2:A3"))
    assert table["ward"].to_pylist() == ["A", "A", "B"]


def test_empty_rows_and_columns_around_a_table_are_left_out(sheet):
    table = formats.read(sheet([[], [None, "a", "b"], [None, 1, "x"], [], [None, 2, "y"]]))
    assert table.to_pydict() == {"a": [1, 2], "b": ["x", "y"]}


def test_numbers_in_cells_of_text_get_their_format(sheet):
    rows = [["price", "n"], ["$1,200", 1], ["$80", 2], ["$95", 3]]
    assert Schema.infer(sheet(rows))["price"].format.example == "$1,234"
