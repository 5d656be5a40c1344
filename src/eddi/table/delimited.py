"""CSV and other delimited text files: detect the delimiter and encoding, read and write tables."""

import codecs
import csv
import io
import re
import warnings
from collections.abc import Sequence
from pathlib import Path

import pyarrow as pa
import pyarrow.csv as pa_csv

from eddi.errors import EddiWarning, TableError
from eddi.table.columns import MISSING_MARKERS

DELIMITERS = ",;\t|"
N_SNIFFED_LINES = 50  # lines from which the delimiter is detected
N_SNIFFED_CHARACTERS = 1_000_000  # upper limit, in case the lines are very long

_DECIMAL_COMMA = re.compile(r"(?:^|;)\s*-?\d+,\d+\s*(?=;|$)", re.MULTILINE)
_DECIMAL_POINT = re.compile(r"(?:^|;)\s*-?\d+\.\d+\s*(?=;|$)", re.MULTILINE)


def read(path: Path, delimiter: str | None = None) -> pa.Table:
    """Read a text file. A column is typed if all its cells agree. An empty file has no columns.

    Args:
        path: the file, compressed or not.
        delimiter: the character between cells; None to detect it.

    Raises:
        TableError: a line has more or fewer cells than the header.
    """
    with pa.input_stream(path, compression="detect") as stream:
        text, raw = _decode(path, stream.read())
    lines = list(io.StringIO(text[:N_SNIFFED_CHARACTERS], newline=""))[:N_SNIFFED_LINES]
    delimiter = delimiter or _detect_delimiter(lines)
    header = next(filter(None, csv.reader(lines, delimiter=delimiter)), [])
    if not header:
        return pa.table({})
    decimal_mark = _detect_decimal_mark("".join(lines), delimiter)
    try:
        return _parse(raw, delimiter, decimal_mark=decimal_mark, has_one_column=len(header) == 1)
    except pa.ArrowInvalid:
        _check_line_lengths(path, text, delimiter)
        raise


def write(table: pa.Table, path: Path, delimiter: str) -> None:
    """Write the table as text. A missing value is an empty cell."""
    columns = [_decode_dictionary(column) for column in table.columns]
    plain = pa.Table.from_arrays(columns, table.column_names)
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


def _decode(path: Path, raw: bytes) -> tuple[str, bytes]:
    """Return a file's content as text and as UTF-8 without a byte-order mark."""
    if raw.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        text = raw.decode("utf-16")
        return text, text.encode()
    try:
        return raw.decode("utf-8-sig"), raw.removeprefix(codecs.BOM_UTF8)
    except UnicodeDecodeError:
        message = f"{path.name!r} is not UTF-8; read as Latin-1. Save it as UTF-8 to be sure."
        warnings.warn(message, EddiWarning, stacklevel=6)
        text = raw.decode("latin-1")
        return text, text.encode()


def _detect_delimiter(lines: Sequence[str]) -> str:
    """Return the delimiter with the most columns, preferring one that splits all lines equally."""

    def rank(delimiter: str) -> tuple[bool, int]:
        widths = [len(row) for row in csv.reader(lines, delimiter=delimiter) if row]
        widths = widths[:-1] if len(widths) > 2 else widths  # the last row may end inside a quotation
        return len(set(widths)) == 1 and widths[0] > 1, widths[0] if widths else 0

    return max(DELIMITERS, key=rank)


def _detect_decimal_mark(sample: str, delimiter: str) -> str:
    """Return "," if numbers look like 3,14, as in countries where ";" separates cells; else "."."""
    has_commas = _DECIMAL_COMMA.search(sample) and not _DECIMAL_POINT.search(sample)
    return "," if delimiter == ";" and has_commas else "."


def _parse(raw: bytes, delimiter: str, *, decimal_mark: str, has_one_column: bool) -> pa.Table:
    return pa_csv.read_csv(
        pa.BufferReader(raw.lstrip(b"\r\n")),
        # One thread: Arrow's thread pool can abort a short process that exits while the pool stops.
        read_options=pa_csv.ReadOptions(use_threads=False),
        # In a file with one column, an empty line is a missing value.
        parse_options=pa_csv.ParseOptions(
            delimiter=delimiter, newlines_in_values=True, ignore_empty_lines=not has_one_column
        ),
        convert_options=pa_csv.ConvertOptions(
            null_values=sorted(MISSING_MARKERS), strings_can_be_null=True, decimal_point=decimal_mark
        ),
    )


def _check_line_lengths(path: Path, text: str, delimiter: str) -> None:
    """Raise an error for the first line that does not have as many cells as the header."""
    rows = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter)
    width = len(next(filter(None, rows)))
    for row in rows:
        if row and len(row) != width:
            raise TableError(
                f"line {rows.line_num} of {path.name!r} has {len(row)} cells, but the header has "
                f"{width}. Correct that line; text that contains {delimiter!r} must be in quotes."
            )
