"""Imputation keeps the text of the observed cells."""

from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from eddi.cli.csv_cells import _read_cells, restore_observed_text, to_csv
from eddi.table import formats
from eddi.table.fill import fill_missing
from eddi.table.schema import Schema
from eddi.table.variable import Kind, Variable


def impute(path: Path, **columns: list[object]) -> list[str]:
    """Return the lines of the file at ``path`` with these columns as imputed values."""
    table = formats.read(path)
    filled = table
    for name, values in columns.items():
        filled = filled.set_column(filled.column_names.index(name), name, pa.array(values))
    return to_csv(restore_observed_text(path, table, filled)).splitlines()


def test_observed_cells_keep_their_text_and_imputed_cells_adopt_its_spelling(tmp_path: Path) -> None:
    path = tmp_path / "incomplete.csv"
    path.write_text('zip,ok,x\n01234,True,1.50\n,?,\n"0,9",False,2e3\n')
    lines = impute(path, zip=["a", "b", "c"], ok=[True, False, False], x=[1.5, 7.25, 2000.0])
    assert lines == ["zip,ok,x", "01234,True,1.50", "b,False,7.25", '"0,9",False,2e3']


def test_empty_lines_of_a_single_column_are_missing_values(tmp_path: Path) -> None:
    path = tmp_path / "one.csv"
    path.write_text("x\n1.0\n\n3.50\n")
    assert impute(path, x=[1.0, 2.0, 3.5]) == ["x", "1.0", "2", "3.50"]


def test_numbers_with_decimal_commas_keep_them(tmp_path: Path) -> None:
    path = tmp_path / "comma.csv"
    path.write_text("x;y\n1,50;a\n;b\n")
    assert impute(path, x=["1,5", "2,25"]) == ["x,y", '"1,50",a', '"2,25",b']


def test_codes_for_missing_values_are_replaced_and_declined_answers_kept(tmp_path: Path) -> None:
    path = tmp_path / "codes.csv"
    path.write_text("x\n1.50\n-99\n-98\n")
    table = formats.read(path)
    schema = Schema((Variable("x", Kind.REAL, missing=(-99,), declined=(-98,)),))
    filled = fill_missing(table, schema, np.full((3, 1), 2.25))
    assert to_csv(restore_observed_text(path, table, filled, schema)).split() == [
        "x",
        "1.50",
        "2.25",
        "-98",
    ]


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "cp1252"])
@pytest.mark.filterwarnings("ignore:.*Windows-1252")
def test_cells_are_read_in_any_encoding(tmp_path: Path, encoding: str) -> None:
    path = tmp_path / "encoded.csv"
    path.write_text("où,x\né,1.0\nè,\n", encoding=encoding)
    assert impute(path, x=[1.0, 2.0]) == ["où,x", "é,1.0", "è,2"]


def test_a_line_longer_than_the_limit_of_a_cell_is_no_error(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    cells = [f"{'x' * 1000} {n}" for n in range(200)]
    path.write_text("\n".join(";".join(cells) for _ in range(3)))
    assert _read_cells(path, formats.read(path)) == [cells, cells]


def test_no_spreadsheet_evaluates_a_cell() -> None:
    text = to_csv(pa.table({"a": ["=1+1", "-5", None], "@b": [-1.5, 2.0, 3.0]}))
    assert text == "a,'@b\n'=1+1,-1.5\n-5,2\n,3\n"


def test_an_observed_formula_stays_neutralised_once(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text("a,b\n'=1+1,1\n,2\n")
    table = formats.read(path)
    filled = pa.table({"a": ["=1+1", "=1+1"], "b": [1, 2]})
    assert to_csv(restore_observed_text(path, table, filled)) == "a,b\n'=1+1,1\n'=1+1,2\n"
