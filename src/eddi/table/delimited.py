"""CSV and its relatives: find the delimiter and the encoding, read the cells, write them."""

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
from eddi.table.columns import MISSING_WORDS

DELIMITERS = ",;\t|"
N_SNIFFED = 50  # lines looked at to find the delimiter: enough to see a habit
N_SNIFFED_CHARACTERS = 1_000_000  # and never more than this, however long the lines

_DECIMAL_COMMA = re.compile(r"(?:^|;)\s*-?\d+,\d+\s*(?=;|$)", re.MULTILINE)
_DECIMAL_POINT = re.compile(r"(?:^|;)\s*-?\d+\.\d+\s*(?=;|$)", re.MULTILINE)


def read(path: Path, delimiter: str | None = None) -> pa.Table:
    """The cells of a text file, typed where a whole column agrees; no columns if it is empty.

    Args:
        path: the file, compressed or not.
        delimiter: what stands between cells; None to find out.

    Raises:
        TableError: a line has more or fewer cells than the header.
    """
    with pa.input_stream(path, compression="detect") as stream:
        text, raw = _decode(path, stream.read())
    lines = list(io.StringIO(text[:N_SNIFFED_CHARACTERS], newline=""))[:N_SNIFFED]
    mark = delimiter or _sniff(lines)
    header = next(filter(None, csv.reader(lines, delimiter=mark)), [])
    if not header:
        return pa.table({})
    try:
        return _parse(raw, mark, decimal=_decimal("".join(lines), mark), wide=len(header) > 1)
    except pa.ArrowInvalid:
        _refuse_ragged(path, text, mark)
        raise


def write(table: pa.Table, path: Path, delimiter: str) -> None:
    """Write the table as text; a hole is an empty cell."""
    plain = [_decoded(column) for column in table.columns]
    body = pa.Table.from_arrays(plain, table.column_names)
    try:
        _write(body, path, delimiter, quotes="none")
    except pa.ArrowInvalid:  # a word holds a delimiter, a quote or a line break
        _write(body, path, delimiter, quotes="needed")


def _write(table: pa.Table, path: Path, delimiter: str, *, quotes: str) -> None:
    header = io.StringIO()  # Arrow would put every name in quotes
    csv.writer(header, delimiter=delimiter, lineterminator="\n").writerow(table.column_names)
    options = pa_csv.WriteOptions(include_header=False, delimiter=delimiter, quoting_style=quotes)
    with pa.output_stream(path, compression="detect") as stream:
        stream.write(header.getvalue().encode())
        pa_csv.write_csv(table, stream, options)


def _decoded(column: pa.ChunkedArray) -> pa.ChunkedArray:
    dictionary = pa.types.is_dictionary(column.type)
    return column.cast(column.type.value_type) if dictionary else column


def _decode(path: Path, raw: bytes) -> tuple[str, bytes]:
    """A file's text, and the same as UTF-8 without a byte-order mark."""
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


def _sniff(lines: Sequence[str]) -> str:
    """The delimiter that cuts the first lines into the most columns, preferably all alike."""

    def merit(delimiter: str) -> tuple[bool, int]:
        widths = [len(row) for row in csv.reader(lines, delimiter=delimiter) if row]
        widths = widths[:-1] if len(widths) > 2 else widths  # the last may be cut in a quotation
        return len(set(widths)) == 1 and widths[0] > 1, widths[0] if widths else 0

    return max(DELIMITERS, key=merit)


def _decimal(sample: str, delimiter: str) -> str:
    """The decimal mark: a comma in the files of those who write 3,14 and so put ; between cells."""
    comma = _DECIMAL_COMMA.search(sample) and not _DECIMAL_POINT.search(sample)
    return "," if delimiter == ";" and comma else "."


def _parse(raw: bytes, delimiter: str, *, decimal: str, wide: bool) -> pa.Table:
    # One thread: Arrow's pool, still winding down when a short command exits, can abort the process.
    return pa_csv.read_csv(
        pa.BufferReader(raw.lstrip(b"\r\n")),
        read_options=pa_csv.ReadOptions(use_threads=False),
        # In a file of one column an empty line is a hole, not an empty line.
        parse_options=pa_csv.ParseOptions(
            delimiter=delimiter, newlines_in_values=True, ignore_empty_lines=wide
        ),
        convert_options=pa_csv.ConvertOptions(
            null_values=sorted(MISSING_WORDS), strings_can_be_null=True, decimal_point=decimal
        ),
    )


def _refuse_ragged(path: Path, text: str, delimiter: str) -> None:
    """Name the first line whose number of cells is not that of the header, if there is one."""
    rows = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter)
    width = len(next(filter(None, rows)))
    for row in rows:
        if row and len(row) != width:
            raise TableError(
                f"line {rows.line_num} of {path.name!r} has {len(row)} cells where the header has "
                f"{width}. Correct that line; text that contains {delimiter!r} goes in quotes."
            )
