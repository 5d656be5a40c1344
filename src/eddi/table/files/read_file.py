"""Read a table from a file of any supported format. Whatever a file contains, the error is a `TableError`."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from eddi.errors import EddiError, TableError
from eddi.table.cell_arrays import cells_to_array
from eddi.table.files import delimited, parquet, spreadsheet
from eddi.table.files.limits import ReadLimits

SUPPORTED_FORMATS = "CSV, TSV, Parquet or Excel (.csv, .tsv, .txt, .parquet, .xlsx, .xls; .gz too)"

COMPRESSED = (".gz", ".bz2", ".zst")
TEXT = (".csv", ".tsv", ".txt")
PARQUET = (".parquet", ".pq")
EXCEL = (".xlsx", ".xls")

Columns = tuple[list[Any], list[object]]
"""Arrow arrays and the labels of the columns, which may be repeated or empty."""


def read_file(path: Path, limits: ReadLimits) -> Columns:
    """Return the columns of the table in a file.

    Raises:
        TableError: the file is missing, damaged, not a table, or larger than the limits.
    """
    extension = find_extension(path)
    try:
        arrays, labels = _read(path, extension, limits)
        limits.check_size(len(arrays[0]) if arrays else 0, len(arrays))
        return arrays, labels
    except EddiError:
        raise
    except MemoryError as error:
        raise TableError(
            f"{path.name!r} does not fit into memory: {summarize_error(error)} "
            "Use fewer rows or columns."
        ) from None
    except OSError as error:
        if error.errno is None:  # Arrow raises it for damaged content, too
            raise _make_damage_error(path, extension, error) from error
        raise TableError(f"cannot read {str(path)!r}: {summarize_error(error)}") from None
    except Exception as error:  # readers of other projects raise anything for a damaged file
        raise _make_damage_error(path, extension, error) from error


def find_extension(path: Path) -> str:
    """Return the extension of a file, without that of a compression."""
    stem = path.with_suffix("") if path.suffix.lower() in COMPRESSED else path
    return stem.suffix.lower()


def summarize_error(error: BaseException) -> str:
    """Return the first line of an error message from Arrow or the operating system."""
    text = (error.strerror if isinstance(error, OSError) else None) or str(error)
    lines = text.strip().splitlines() or [type(error).__name__]
    return f"{lines[0].rstrip('.')}."


def _make_damage_error(path: Path, extension: str, error: Exception) -> TableError:
    return TableError(
        f"{path.name!r} is damaged or not a {extension} file: {summarize_error(error)} "
        "Open it in the program that wrote it, and save it again."
    )


def _read(path: Path, extension: str, limits: ReadLimits) -> Columns:
    if path.is_dir():
        raise TableError(f"{str(path)!r} is a folder, not a table. Name a file: {SUPPORTED_FORMATS}.")
    if not path.exists():
        raise TableError(f"there is no file {str(path)!r}. Check the name and the folder.")
    if extension in TEXT:
        return _read_text(path, "\t" if extension == ".tsv" else None, limits)
    if extension in PARQUET:
        table = parquet.read(path, limits)
        return table.columns, table.column_names
    if extension in EXCEL:
        return _read_excel(path, limits)
    raise TableError(f"{path.name!r} is not in a supported format. Expected {SUPPORTED_FORMATS}.")


def _read_excel(path: Path, limits: ReadLimits) -> Columns:
    header, body = spreadsheet.read(path, limits)
    _check_not_empty(path, header, body)
    return [cells_to_array(list(column)) for column in zip(*body, strict=True)], list(header)


def _read_text(path: Path, delimiter: str | None, limits: ReadLimits) -> Columns:
    table = delimited.read(path, delimiter, limits=limits)
    _check_not_empty(path, table.column_names, range(table.num_rows))
    return table.columns, [name.strip() for name in table.column_names]


def _check_not_empty(path: Path, header: Sequence[object], body: Sequence[object]) -> None:
    if not header:
        raise TableError(f"{path.name!r} is empty. Expected a line of column names, then rows.")
    if not body:
        raise TableError(f"{path.name!r} has column names and no rows. Add at least one row.")
