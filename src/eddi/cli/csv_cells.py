"""Fill the missing cells of a text file and leave the text of all other cells unchanged.

Reading a CSV file parses its values: 1.50 becomes 1.5, and the postcode 01234 becomes the number 1234.
A user who imputes a table expects the observed cells back as they were, so their text is copied from
the file.
"""

import csv
import io
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from eddi.table.cells.formulas import neutralize, restore
from eddi.table.columns import find_missing
from eddi.table.files.delimited import DELIMITERS, decode
from eddi.table.schema import Schema
from eddi.table.text import format_value

TEXT_SUFFIXES = (".csv", ".tsv", ".txt")

Cells = list[list[str]]  # [rows][columns]


def restore_observed_text(
    path: Path, table: pa.Table, filled: pa.Table, schema: Schema | None = None
) -> pa.Table:
    """Return ``filled`` with the text of every observed cell as in the file at ``path``.

    Args:
        path: the file that ``table`` was read from. If it is not a text file, ``filled`` is returned.
        table: the table with missing values.
        filled: the same table without missing values.
        schema: declares the codes for missing values, which are replaced, too.
    """
    rows = _read_cells(path, table)
    if rows is None:
        return filled
    columns = []
    for index, name in enumerate(table.column_names):
        original = table.column(index)
        texts = [row[index] for row in rows]
        variable = next((v for v in schema.variables if v.column == name), None) if schema else None
        filled_codes = replace(variable, declined=()) if variable is not None else None
        is_missing = find_missing(original, filled_codes)
        columns.append(_fill_missing(texts, is_missing, filled.column(name)))
    return pa.Table.from_arrays(
        [pa.array(column, pa.string()) for column in columns], table.column_names
    )


def _fill_missing(texts: list[str], is_missing: NDArray[np.bool_], filled: pa.ChunkedArray) -> list[str]:
    """Return the cell texts with imputed values in place of missing ones and of their codes.

    An imputed value that also occurs among the observed cells is spelled as it is there.
    """
    if not is_missing.any():
        return texts
    observed = (text for text, missing in zip(texts, is_missing, strict=True) if not missing)
    spellings = {text.strip().casefold(): text for text in observed}
    cells = list(texts)
    for row in is_missing.nonzero()[0].tolist():
        text = _format_cell(filled[row].as_py())
        cells[row] = spellings.get(text.casefold(), text)
    return cells


def _read_cells(path: Path, table: pa.Table) -> Cells | None:
    """Return the cells of a text file, or None if no delimiter gives the shape of ``table``."""
    if not set(TEXT_SUFFIXES) & {suffix.lower() for suffix in path.suffixes}:
        return None
    with pa.input_stream(path, compression="detect") as stream:
        text, _ = decode(stream.read())
    for delimiter in DELIMITERS:
        lines = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter)
        try:
            # In a file with a single column, an empty line is a missing value.
            rows = [[*map(restore, row)] or [""] for row in lines if row or table.num_columns == 1]
        except csv.Error:  # without the right delimiter, a long line is a single cell
            continue
        if len(rows) == table.num_rows + 1 and {*map(len, rows)} == {table.num_columns}:
            return rows[1:]
    return None


def to_csv(table: pa.Table) -> str:
    """Return the table as CSV with missing values as empty cells; no spreadsheet evaluates a cell."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(map(neutralize, table.column_names))
    columns = [[neutralize(_format_cell(v)) for v in column.to_pylist()] for column in table.columns]
    writer.writerows(zip(*columns, strict=True))
    return out.getvalue()


def _format_cell(value: Any) -> str:
    if value is None:
        return ""
    return str(value).lower() if isinstance(value, bool) else format_value(value)
