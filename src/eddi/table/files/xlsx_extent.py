"""The size of an Excel workbook (.xlsx), measured before it is read.

A reader allocates every cell from the first to the last one of a sheet, empty or not. Two cells in a
file of 1 kB can thus need hundreds of gigabytes. A workbook is a zip archive, whose members can also
unpack to much more than their size.
"""

import re
import zipfile
from collections.abc import Iterator
from pathlib import Path

from eddi.errors import TableError
from eddi.table.files.limits import ReadLimits, make_expansion_error

CHUNK_BYTES = 1 << 20
MAX_COLUMN_LETTERS, MAX_ROW_DIGITS = 3, 7  # XFD1048576 is the last cell

# Elements of a sheet, and the attribute r, such as r="7" of a row and r="C7" of a cell. Matching too much
# is harmless: a text that looks like an element can only make the sheet appear larger.
TOKEN = re.compile(rb"<(?:[^\s<>/:]+:)?(row|c|v|is|f)(?=[\s/>])|\sr\s*=\s*[\"']\s*([A-Za-z]*)([0-9]*)")
Extent = tuple[int, int]
"""Row and column of the last cell with a value, counted from 1."""


def check_workbook(path: Path, limits: ReadLimits) -> None:
    """Raise an error if a workbook unpacks to too much, or if a sheet has too many cells.

    Raises:
        TableError: the workbook is larger than the limits.
        zipfile.BadZipFile: the file is damaged.
    """
    max_bytes = limits.find_max_bytes(path)
    with zipfile.ZipFile(path) as archive:
        for member in archive.infolist():
            n_bytes, (n_rows, n_columns) = _measure(archive, member, max_bytes)
            max_bytes -= n_bytes
            if max_bytes < 0:
                raise make_expansion_error(path, limits.find_max_bytes(path))
            limits.check_sheet(n_rows, n_columns)


def _measure(archive: zipfile.ZipFile, member: zipfile.ZipInfo, max_bytes: int) -> tuple[int, Extent]:
    """Return the unpacked size of a member, as far as it is within the limit, and its extent."""
    if member.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        raise zipfile.BadZipFile(f"unknown compression method {member.compress_type}")
    member.file_size = max_bytes + 2 * CHUNK_BYTES  # the declared size may be a lie
    extent = _Extent()
    with archive.open(member) as file:
        for tags in split_chunks(iter(lambda: file.read(CHUNK_BYTES), b"")):
            if file.tell() > max_bytes:
                break
            extent.update(tags)
        return file.tell(), (extent.last_row, extent.last_column)


def split_chunks(chunks: Iterator[bytes]) -> Iterator[bytes]:
    """Yield the same bytes in parts that do not end inside a tag."""
    rest = b""
    for chunk in chunks:
        rest += chunk
        end = rest.rfind(b"<")
        if end < 0 or b">" in rest[end:]:  # a text, or the start of one
            end = len(rest)
        elif len(rest) - end > CHUNK_BYTES:
            raise TableError("a sheet has a tag of more than 1 MB. Save the table as CSV.")
        if end > 0:
            yield rest[:end]
            rest = rest[end:]
    yield rest


class _Extent:
    """The last cell with a value, as far as a sheet has been read."""

    def __init__(self) -> None:
        self.row, self.column = 0, 0  # the present cell, counted from 1
        self.last_row, self.last_column = 0, 0

    def update(self, tags: bytes) -> None:
        """Continue with the next part of the sheet."""
        for match in TOKEN.finditer(tags):
            element = match[1]
            if element is None:
                self._move(match[2], match[3])
            elif element == b"c":
                self.column += 1
            elif element == b"row":
                self.row, self.column = self.row + 1, 0
            else:
                self.last_row = max(self.last_row, self.row)
                self.last_column = max(self.last_column, self.column)

    def _move(self, letters: bytes, digits: bytes) -> None:
        if len(letters) > MAX_COLUMN_LETTERS or len(digits.lstrip(b"0")) > MAX_ROW_DIGITS:
            return  # not a cell; readers reject it, too
        if letters:
            self.column = _parse_column(letters)
        if digits:
            self.row = int(digits)


def _parse_column(letters: bytes) -> int:
    """Return the number of a column: 1 for A, 27 for AA."""
    number = 0
    for letter in letters.upper():
        number = number * 26 + letter - 64
    return number
