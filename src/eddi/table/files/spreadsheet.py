"""Excel sheets: find the header, which may have a title above it and merged cells in it."""

import warnings
import zipfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, TypeVar

from eddi.errors import EddiError, EddiWarning, MissingExtraError, TableError
from eddi.table.files import xls_extent, xlsx_extent
from eddi.table.files.limits import ReadLimits

MAX_HEADER_ROWS = 3

Content = TypeVar("Content")
Row = list[Any]
Range = tuple[tuple[int, int], tuple[int, int]]  # first and last cell, as (row, column)


def read(path: Path, limits: ReadLimits) -> tuple[list[str | None], list[Row]]:
    """Return the column names and the rows of the first sheet. An empty cell is None.

    Raises:
        TableError: the file is not an Excel file, or it is larger than the limits.
        MissingExtraError: the library that reads Excel files is not installed.
    """
    rows, merged = _read_workbook(path, limits, lambda workbook: _read_sheet(workbook, 0))
    names, body = split_header(rows, merged)
    if joined := _find_joined_name(rows, names):
        message = f"the header of {path.name!r} has several rows; they are joined, as in {joined!r}."
        warnings.warn(message, EddiWarning, stacklevel=5)
    return names, body


def read_sheets(path: Path, limits: ReadLimits) -> dict[str, list[Row]]:
    """Return the rows of every sheet, by its name. An empty cell is None.

    Raises:
        TableError: the file is not an Excel file, or it is larger than the limits.
        MissingExtraError: the library that reads Excel files is not installed.
    """

    def read_all(workbook: Any) -> dict[str, list[Row]]:
        names = enumerate(workbook.sheet_names)
        return {name: _read_sheet(workbook, index)[0] for index, name in names}

    return _read_workbook(path, limits, read_all)


def _read_workbook(path: Path, limits: ReadLimits, read: Callable[[Any], Content]) -> Content:
    """Return what ``read`` finds in a workbook. Whatever the file contains, the error is a `TableError`."""
    try:
        import python_calamine
    except ImportError:
        raise MissingExtraError(
            f"reading {path.name!r} needs python-calamine. Install it with `pip install "
            "eddi-ml[excel]`, or save the sheet as CSV."
        ) from None
    try:
        _check_size(path, limits)
        return read(python_calamine.CalamineWorkbook.from_path(path))
    except (EddiError, OSError):
        raise
    except BaseException as error:
        # A failure inside the library is a PanicException, which is not an Exception.
        if not isinstance(error, Exception) and type(error).__name__ != "PanicException":
            raise
        raise _make_damage_error(path, error) from None


def _read_sheet(workbook: Any, index: int) -> tuple[list[Row], list[Range]]:
    sheet = workbook.get_sheet_by_index(index)
    rows = [
        [None if cell == "" else cell for cell in row] for row in sheet.to_python(skip_empty_area=False)
    ]
    return rows, list(sheet.merged_cell_ranges or ())


def _check_size(path: Path, limits: ReadLimits) -> None:
    if xls_extent.is_compound_file(path):
        xls_extent.check_workbook(path, limits)
    elif zipfile.is_zipfile(path):
        xlsx_extent.check_workbook(path, limits)


def _make_damage_error(path: Path, error: BaseException) -> TableError:
    lines = str(error).strip().splitlines() or [type(error).__name__]
    return TableError(
        f"{path.name!r} cannot be read as Excel: {lines[0].rstrip('.')}. "
        "Open it in Excel and save it again, or save the sheet as CSV."
    )


def split_header(
    rows: Sequence[Row], merged: Sequence[Range] = ()
) -> tuple[list[str | None], list[Row]]:
    """Return the column names and the other rows that are not empty.

    A title above the header is left out. The rows of a header with merged cells are joined: "Pressure"
    above "systolic" and "diastolic" gives "Pressure systolic" and "Pressure diastolic".

    Args:
        rows: all rows of a sheet, with None for an empty cell.
        merged: the merged cells.
    """
    rows = _fill_merged([list(row) for row in rows], merged)
    columns = [
        index
        for index in range(len(rows[0]) if rows else 0)
        if any(row[index] is not None for row in rows)
    ]
    first = _find_header(rows, columns)
    n_header = _count_header_rows(rows, columns, first, merged)
    header = rows[first : first + n_header]
    names = [_join_labels([row[index] for row in header]) for index in columns]
    body = [[row[index] for index in columns] for row in rows[first + n_header :]]
    return names, [row for row in body if any(cell is not None for cell in row)]


def _fill_merged(rows: list[Row], merged: Sequence[Range]) -> list[Row]:
    """Return the rows with the value of merged cells in each of them."""
    n_rows, n_columns = len(rows), len(rows[0]) if rows else 0
    areas = [
        (range(top, min(bottom + 1, n_rows)), range(left, min(right + 1, n_columns)))
        for (top, left), (bottom, right) in merged
    ]
    if sum(len(height) * len(width) for height, width in areas) > n_rows * n_columns:
        raise TableError("merged cells of the sheet overlap. Unmerge them, or save the sheet as CSV.")
    for height, width in areas:
        for row in height:
            for column in width:
                rows[row][column] = rows[height.start][width.start]
    return rows


def _find_header(rows: list[Row], columns: list[int]) -> int:
    """Return the first row that is neither empty nor a title, that is, a single text."""
    for index, row in enumerate(rows):
        labels = {str(row[column]) for column in columns if row[column] is not None}
        if len(labels) > 1 or (labels and len(columns) == 1):
            return index
    return 0


def _count_header_rows(rows: list[Row], columns: list[int], first: int, merged: Sequence[Range]) -> int:
    """Return how many rows the header has: as many as merged cells or gaps in it show."""
    n_rows = 1
    while n_rows < MAX_HEADER_ROWS and first + n_rows < len(rows) - 1:
        last = first + n_rows - 1
        below = rows[last + 1]
        is_merged = any(top == last and left < right for (top, left), (_, right) in merged)
        is_merged = is_merged or any(top <= last < bottom for (top, _), (bottom, _) in merged)
        has_gaps = _has_gaps(rows[last], below, columns) and _have_numbers(rows[last + 2 :], columns)
        if not (is_merged or has_gaps) or not _are_labels(below, columns):
            break
        n_rows += 1
    return n_rows


def _has_gaps(row: Row, below: Row, columns: list[int]) -> bool:
    """Whether a label is followed by empty cells, and all cells below them have labels."""
    gaps = [column for column in columns if row[column] is None]
    has_label_before = bool(gaps) and any(
        row[column] is not None for column in columns if column < gaps[0]
    )
    return has_label_before and all(below[column] is not None for column in gaps)


def _are_labels(row: Row, columns: list[int]) -> bool:
    cells = [row[column] for column in columns if row[column] is not None]
    return bool(cells) and all(isinstance(cell, str) for cell in cells)


def _have_numbers(rows: list[Row], columns: list[int]) -> bool:
    return any(isinstance(row[column], int | float) for row in rows for column in columns)


def _join_labels(labels: Sequence[Any]) -> str | None:
    """Return the labels of one column from top to bottom, without repetitions."""
    texts = dict.fromkeys(str(label).strip() for label in labels if label is not None)
    return " ".join(texts) or None


def _find_joined_name(rows: Sequence[Row], names: Sequence[str | None]) -> str:
    """Return a name that is not the text of a single cell, or '' if there is none."""
    cells = {
        str(cell).strip() for row in rows[: 2 * MAX_HEADER_ROWS] for cell in row if cell is not None
    }
    return next((name for name in names if name is not None and name not in cells), "")
