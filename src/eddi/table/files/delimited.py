"""CSV and other delimited text files: detect the delimiter and encoding, read and write tables."""

import codecs
import csv
import io
import itertools
import re
import warnings
from collections.abc import Iterable, Sequence
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv as pa_csv

from eddi.errors import EddiWarning, TableError
from eddi.table.cell_arrays import is_text
from eddi.table.cells.formulas import neutralize, neutralize_column, restore, restore_column
from eddi.table.cells.missing import MISSING_MARKERS
from eddi.table.columns import clean
from eddi.table.files.limits import DEFAULT_LIMITS, ReadLimits, make_expansion_error

DELIMITERS = ",;\t|"
N_SNIFFED_LINES = 50  # lines from which the delimiter is detected
N_SNIFFED_CHARACTERS = 1_000_000  # upper limit, in case the lines are very long
MAX_LINES_ABOVE_HEADER = 5  # a title, groups of columns, and empty lines
NUMBER = re.compile(r"[\W\d_]*\d[\W\d_]*")  # also with a currency sign, a percent sign or as a date
BOOLEANS = ("true", "True", "TRUE", "false", "False", "FALSE")


def read(path: Path, delimiter: str | None = None, *, limits: ReadLimits = DEFAULT_LIMITS) -> pa.Table:
    """Read a text file. An empty file has no columns.

    A column of plain numbers or of true and false is typed. Other columns remain text: their numbers
    are read by the number format of the variable.

    Args:
        path: the file, compressed or not.
        delimiter: the character between cells; None to detect it.
        limits: the largest table that is read.

    Raises:
        TableError: a line has more or fewer cells than the header, the header is not the first line, a
            cell is too long, or the file is larger than the limits.
    """
    text, encoding = _decode_file(path, _read_bytes(path, limits.find_max_bytes(path)))
    if encoding == "cp1252":
        message = f"{path.name!r} is not UTF-8; read as Windows-1252. Save it as UTF-8 to be sure."
        warnings.warn(message, EddiWarning, stacklevel=5)
    try:
        return _parse_text(path, text, delimiter, limits)
    except csv.Error:
        raise _make_long_cell_error(path, text) from None


def _read_bytes(path: Path, max_bytes: int) -> bytes:
    """Return the content of a file that may be compressed, unless it is larger than ``max_bytes``."""
    with pa.input_stream(path, compression="detect") as stream:
        content: bytes = stream.read(max_bytes + 1)
    if len(content) > max_bytes:
        raise make_expansion_error(path, max_bytes)
    return content


def _decode_file(path: Path, content: bytes) -> tuple[str, str]:
    try:
        return decode(content)
    except UnicodeError as error:
        raise TableError(
            f"{path.name!r} starts as UTF-16 text but is not: {error}. It may be incomplete. Save it again "
            "as UTF-8."
        ) from None


def _parse_text(path: Path, text: str, delimiter: str | None, limits: ReadLimits) -> pa.Table:
    lines = list(io.StringIO(text[:N_SNIFFED_CHARACTERS], newline=""))[:N_SNIFFED_LINES]
    delimiter = delimiter or _detect_delimiter(lines)
    header = next(filter(None, csv.reader(lines, delimiter=delimiter)), [])
    if not header:
        return pa.table({})
    limits.check_size(0, len(header))
    _check_header(path, header, csv.reader(lines, delimiter=delimiter))
    try:
        return _parse(text.encode(), delimiter, header)
    except pa.ArrowInvalid:
        _check_line_lengths(path, text, delimiter)
        raise


def _make_long_cell_error(path: Path, text: str) -> TableError:
    limit = csv.field_size_limit()
    has_odd_quotes = text.count('"') % 2 == 1
    reason = "A quotation mark is not closed" if has_odd_quotes else "Cells of a table are short"
    return TableError(
        f"{path.name!r} has a cell of more than {limit:,} characters. {reason}: check the cells in quotes, "
        "or remove the column with the long texts."
    )


def write(table: pa.Table, path: Path, delimiter: str) -> None:
    """Write the table as text. A missing value is an empty cell, and no spreadsheet evaluates a cell."""
    columns = [neutralize_column(_decode_dictionary(column)) for column in table.columns]
    plain = pa.Table.from_arrays(columns, [neutralize(name) for name in table.column_names])
    try:
        _write(plain, path, delimiter, quotes="none")
    except pa.ArrowInvalid:  # some text contains a delimiter, a quote or a line break
        _write(plain, path, delimiter, quotes="needed")


def _write(table: pa.Table, path: Path, delimiter: str, *, quotes: str) -> None:
    header = io.StringIO()  # written separately, because Arrow would quote every name
    csv.writer(header, delimiter=delimiter, lineterminator="\n").writerow(table.column_names)
    options = pa_csv.WriteOptions(include_header=False, delimiter=delimiter, quoting_style=quotes)
    with pa.output_stream(path, compression="detect") as stream:
        stream.write(header.getvalue().encode())
        pa_csv.write_csv(table, stream, options)


def _decode_dictionary(column: pa.ChunkedArray) -> pa.ChunkedArray:
    is_dictionary = pa.types.is_dictionary(column.type)
    return column.cast(column.type.value_type) if is_dictionary else column


def decode(content: bytes) -> tuple[str, str]:
    """Return the content of a file as text without a byte-order mark, and its encoding.

    The encoding is UTF-16 if there is a mark, UTF-8 if possible, and otherwise Windows-1252.
    """
    if content.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return content.decode("utf-16"), "utf-16"
    try:
        return content.decode("utf-8-sig"), "utf-8"
    except UnicodeDecodeError:
        # Five bytes have no character in Windows-1252. They become the control characters of Latin-1.
        return content.decode("cp1252", "eddi.latin1"), "cp1252"


def _decode_latin1(error: UnicodeError) -> tuple[str, int]:
    if not isinstance(error, UnicodeDecodeError):
        raise error
    return error.object[error.start : error.end].decode("latin-1"), error.end


codecs.register_error("eddi.latin1", _decode_latin1)


def _detect_delimiter(lines: Sequence[str]) -> str:
    """Return the delimiter with the most columns, preferring one that splits all lines equally."""

    def rank(delimiter: str) -> tuple[bool, int]:
        try:
            widths = [len(row) for row in csv.reader(lines, delimiter=delimiter) if row]
        except csv.Error:  # a very long cell, perhaps because the delimiter is another one
            return False, 0
        widths = widths[:-1] if len(widths) > 2 else widths  # the last row may end inside a quotation
        return len(set(widths)) == 1 and widths[0] > 1, widths[0] if widths else 0

    return max(DELIMITERS, key=rank)


def _parse(raw: bytes, delimiter: str, header: Sequence[str]) -> pa.Table:
    # Arrow would guess types from the first rows only, and read the code 02139 as a number.
    names = [f"{index}" for index in range(len(header))]
    table = pa_csv.read_csv(
        pa.BufferReader(raw.lstrip(b"\r\n")),
        # One thread: Arrow's thread pool can abort a short process that exits while the pool stops.
        read_options=pa_csv.ReadOptions(use_threads=False, column_names=names, skip_rows=0),
        # In a file with one column, an empty line is a missing value.
        parse_options=pa_csv.ParseOptions(
            delimiter=delimiter, newlines_in_values=True, ignore_empty_lines=len(header) > 1
        ),
        convert_options=pa_csv.ConvertOptions(
            column_types=dict.fromkeys(names, pa.string()),
            null_values=sorted(MISSING_MARKERS),
            strings_can_be_null=True,
        ),
    ).slice(1)
    if max((_find_longest(column) for column in table.columns), default=0) > csv.field_size_limit():
        raise csv.Error("a cell is too long")
    columns = [_type_column(restore_column(column)) for column in table.columns]
    return pa.Table.from_arrays(columns, [restore(name) for name in header])


def _find_longest(column: pa.ChunkedArray) -> int:
    return pc.max(pc.utf8_length(column)).as_py() or 0


def _type_column(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Return a text column as numbers or booleans if all its cells are."""
    if column.null_count == len(column):
        return pa.chunked_array([pa.nulls(len(column))])
    cleaned = clean(column)
    if not is_text(cleaned.type):
        return cleaned
    distinct = cleaned.unique().drop_null()
    if pc.all(pc.is_in(distinct, value_set=pa.array(BOOLEANS, distinct.type))).as_py():
        return pc.equal(pc.utf8_lower(cleaned), "true")
    return column


def _check_header(path: Path, header: Sequence[str], rows: Iterable[Sequence[str]]) -> None:
    """Raise an error if the columns are named further down, below a title or merged cells."""
    n_unnamed = sum(not name.strip() for name in header)
    if n_unnamed < max(2, len(header) / 2):
        return
    for number, row in enumerate(itertools.islice(rows, MAX_LINES_ABOVE_HEADER + 1), start=1):
        if len(row) == len(header) and all(map(_is_label, row)):
            raise TableError(
                f"the header of {path.name!r} has no name for {n_unnamed} of {len(header)} columns. Line "
                f"{number} seems to have the names: delete what is above it, so that it is the first line."
            )


def _is_label(cell: str) -> bool:
    return bool(cell.strip()) and NUMBER.fullmatch(cell) is None


def _check_line_lengths(path: Path, text: str, delimiter: str) -> None:
    """Raise an error for the first line that does not have as many cells as the header."""
    rows = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter)
    width = len(next(filter(None, rows)))
    for row in rows:
        if row and len(row) != width:
            raise TableError(
                f"line {rows.line_num} of {path.name!r} has {len(row)} cells, but the header has "
                f"{width}. Correct that line; text that contains {delimiter!r} must be in quotes. The "
                "header must be the first line: delete a title above it."
            )
