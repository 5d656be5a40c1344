"""Formulas in cells are neutralised for spreadsheets, numbers stay numbers, and reading restores the text."""

from pathlib import Path

import pyarrow as pa
import pytest

from eddi.table import formats
from eddi.table.cells.formulas import (
    is_formula,
    neutralize,
    neutralize_column,
    restore,
    restore_column,
)

FORMULAS = [
    '=HYPERLINK("http://evil.example","click")',
    "=1+1",
    "+cmd|' /C calc'!A0",
    "-1+2",
    "-2+3+cmd",
    "@SUM(A1)",
    "\t=1+1",
    "\r=1+1",
    "＝1+1",  # noqa: RUF001
    "- none -",
    "-5 kg",
    "'=1+1",
    "''-5",
]
PLAIN = [
    "",
    "-5",
    "+5",
    "-1.5e-3",
    "-1,234.50",
    "-1.234,50 €",
    "-5 %",
    "- 5",
    "-",
    "--",
    "+",
    "a=b",
    "'",
    "'a",
]


@pytest.mark.parametrize("text", FORMULAS)
def test_a_formula_gets_an_apostrophe(text: str) -> None:
    assert is_formula(text)
    assert neutralize(text) == "'" + text


@pytest.mark.parametrize("text", PLAIN)
def test_numbers_and_other_text_stay_as_they_are(text: str) -> None:
    assert neutralize(text) == text
    assert restore(text) == text


@pytest.mark.parametrize("text", [*FORMULAS, *PLAIN, "'-5", "5"])
def test_restoring_gives_the_original_text(text: str) -> None:
    assert restore(neutralize(text)) == text


def test_columns_are_treated_like_their_cells() -> None:
    texts = [*FORMULAS, *PLAIN, "'-5", None]
    column = pa.chunked_array([texts])
    written = neutralize_column(column)
    assert written.to_pylist() == [None if text is None else neutralize(text) for text in texts]
    assert restore_column(written).to_pylist() == texts


def test_numbers_are_not_touched() -> None:
    column = pa.chunked_array([[-1.5, None]])
    assert neutralize_column(column) is column


@pytest.mark.parametrize("name", ["a.csv", "a.tsv"])
def test_a_file_has_no_formula_and_reads_back_unchanged(tmp_path: Path, name: str) -> None:
    levels = ["=1+1", "@home", "plain, with a comma"]
    table = pa.table(
        {"=evil()": levels, "n": [-1.5, 2.0, None], "d": pa.array(levels).dictionary_encode()}
    )
    formats.write(table, tmp_path / name)
    lines = (tmp_path / name).read_text().splitlines()
    cells = [cell.strip('"') for line in lines for cell in line.replace("\t", ",").split(",")]
    assert not [cell for cell in cells if cell.startswith(("=", "@"))]
    assert "-1.5" in cells
    again = formats.read(tmp_path / name)
    assert again.to_pydict() == {"=evil()": levels, "n": [-1.5, 2.0, None], "d": levels}


def test_parquet_files_keep_the_text(tmp_path: Path) -> None:
    formats.write(pa.table({"a": ["=1+1"]}), tmp_path / "a.parquet")
    assert formats.read(tmp_path / "a.parquet").to_pydict() == {"a": ["=1+1"]}
