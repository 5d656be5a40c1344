"""Rows of a codebook in a text file: every cell is text, and lines may have different lengths."""

import csv
import io
from collections.abc import Iterable, Sequence
from pathlib import Path

from eddi.errors import TableError
from eddi.table.codebooks.codebook import CodebookError
from eddi.table.files.delimited import DELIMITERS, decode

MAX_BYTES = 50_000_000
MAX_CELLS = 10_000_000
EMPTY = ("NA", "NaN", "NULL")  # how R and pandas write an empty cell

Row = dict[str, str]


def read_bytes(path: Path) -> bytes:
    """Return the content of a file, which must not be large."""
    try:
        if path.stat().st_size > MAX_BYTES:
            size = path.stat().st_size
            raise CodebookError(f"{path.name!r} has {size:,} bytes; at most {MAX_BYTES:,} are read.")
        return path.read_bytes()
    except OSError as error:
        reason = error.strerror or error
        raise CodebookError(f"cannot read the codebook {str(path)!r}: {reason}.") from None


def read_lines(content: bytes, name: str) -> list[list[str]]:
    """Return the cells of each line that is not empty.

    Raises:
        CodebookError: the content is not text with cells.
    """
    try:
        text = decode(content)[0]
    except (UnicodeError, TableError):
        raise CodebookError(f"{name!r} is not a text file. Save it as CSV in UTF-8.") from None
    delimiter = _find_delimiter(text)
    lines: list[list[str]] = []
    n_cells = 0
    try:
        for line in csv.reader(io.StringIO(text.replace("\0", ""), newline=""), delimiter=delimiter):
            n_cells += len(line)
            if n_cells > MAX_CELLS:
                raise CodebookError(f"{name!r} has more than {MAX_CELLS:,} cells.")
            if any(cell.strip() for cell in line):
                lines.append([cell.strip() for cell in line])
    except csv.Error as error:
        raise CodebookError(f"{name!r} is not a valid CSV file: {error}. Save it again.") from None
    return lines


def to_rows(header: Sequence[str], lines: Iterable[Sequence[object]]) -> list[Row]:
    """Return the rows below a header. The first of two columns of the same name counts."""
    rows = []
    for line in lines:
        row: Row = {}
        for name, cell in zip(header, line, strict=False):
            text = format_cell(cell)
            if name and not row.get(name):
                row[name] = "" if text in EMPTY else text
        if any(row.values()):
            rows.append(row)
    return rows


def format_cell(cell: object) -> str:
    """Return a cell as text: 7 rather than 7.0."""
    if cell is None:
        return ""
    if isinstance(cell, bool):
        return str(cell).lower()
    is_whole = isinstance(cell, float) and cell.is_integer() and abs(cell) < 1e15
    return str(int(cell)) if is_whole else str(cell).strip()  # type: ignore[call-overload]


def _find_delimiter(text: str) -> str:
    first = next((line for line in text[:100_000].splitlines() if line.strip()), "")
    return max(DELIMITERS, key=first.count)
