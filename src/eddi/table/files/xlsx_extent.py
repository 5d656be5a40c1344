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
MAX_CHARACTERS = 9  # of a row or column that are read; the last cell is XFD1048576
N_COPIES = 3  # of a text while a sheet is read: of the reader, as a Python object, and in the table

# Elements of a sheet or of shared strings, and the attribute r, such as r="7" of a row and r="C7" of a cell.
# Matching too much is harmless: a text that looks like an element can only make a sheet appear larger.
TOKEN = re.compile(
    rb"<(?:[^\s<>/:]+:)?(row|c|v|is|f|si)(?=[\s/>])|\sr\s*=\s*[\"']\s*([A-Za-z]*)([0-9]*)"
)
INDEX = re.compile(rb"<(?:[^\s<>/:]+:)?v[^<>]*>\s*([0-9]{1,9})\s*<")  # of a shared string, or a number


def check_workbook(path: Path, limits: ReadLimits) -> None:
    """Raise an error if a workbook unpacks to too much, or if a sheet has too many cells.

    Raises:
        TableError: the workbook is larger than the limits.
        zipfile.BadZipFile: the file is damaged.
    """
    max_bytes = limits.find_max_bytes(path)
    n_bytes = 0
    with zipfile.ZipFile(path) as archive:
        contents = []
        for member in archive.infolist():
            content = _measure(archive, member, max_bytes - n_bytes)
            n_bytes += content.n_bytes
            if n_bytes > max_bytes:
                raise make_expansion_error(path, max_bytes)
            limits.check_sheet(content.last_row, content.last_column)
            contents.append(content)
        if N_COPIES * _sum_strings(archive, contents, max_bytes) > max_bytes:
            raise make_expansion_error(path, max_bytes)


def _measure(archive: zipfile.ZipFile, member: zipfile.ZipInfo, max_bytes: int) -> "_Content":
    """Return the size and extent of a member, as far as it is within the limit."""
    content = _Content()
    for tags in _read_tags(archive, member, max_bytes):
        content.update(tags)
        if content.n_bytes > max_bytes:
            break
    content.finish()
    return content


def _read_tags(archive: zipfile.ZipFile, member: zipfile.ZipInfo, max_bytes: int) -> Iterator[bytes]:
    if member.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        raise zipfile.BadZipFile(f"unknown compression method {member.compress_type}")
    member.file_size = max_bytes + 4 * CHUNK_BYTES  # the declared size may be a lie
    with archive.open(member) as file:
        yield from split_chunks(iter(lambda: file.read(CHUNK_BYTES), b""))


def _sum_strings(archive: zipfile.ZipFile, contents: "list[_Content]", max_bytes: int) -> int:
    """Return the size of all texts in cells. A shared string counts in every cell that has it."""
    tables = [content.lengths for content in contents]
    lengths = max(tables, key=lambda table: max(table, default=0), default=[])
    bound = sum(content.n_values for content in contents) * max(lengths, default=0)
    if N_COPIES * bound <= max_bytes:
        return bound
    total = 0
    for member in archive.infolist():
        for tags in _read_tags(archive, member, max_bytes):
            indices = (int(digits) for digits in INDEX.findall(tags))
            total += sum(lengths[index] for index in indices if index < len(lengths))
    return total


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


class _Content:
    """What a member contains, as far as it has been read."""

    def __init__(self) -> None:
        self.row, self.column = 0, 0  # the present cell, counted from 1
        self.last_row, self.last_column = 0, 0  # of the last cell with a value
        self.n_bytes, self.n_values = 0, 0
        self.lengths: list[int] = []  # of shared strings, in bytes
        self.start = -1  # of the present shared string

    def update(self, tags: bytes) -> None:
        """Continue with the next part of the member."""
        for match in TOKEN.finditer(tags):
            element = match[1]
            if element is None:
                self._move(match[2], match[3])
            elif element == b"c":
                self.column += 1
            elif element == b"row":
                self.row, self.column = self.row + 1, 0
            elif element == b"si":
                self._add_string(self.n_bytes + match.start())
            else:
                self.n_values += 1
                self.last_row = max(self.last_row, self.row)
                self.last_column = max(self.last_column, self.column)
        self.n_bytes += len(tags)

    def finish(self) -> None:
        """End the last shared string."""
        self._add_string(self.n_bytes)

    def _add_string(self, end: int) -> None:
        if self.start >= 0:
            self.lengths.append(end - self.start)
        self.start = end

    def _move(self, letters: bytes, digits: bytes) -> None:
        # A reference that is too long for any cell is one far away: readers compute with it, too.
        if letters:
            self.column = _parse_column(letters[:MAX_CHARACTERS])
        if digits:
            self.row = int(digits.lstrip(b"0")[:MAX_CHARACTERS] or 0)


def _parse_column(letters: bytes) -> int:
    """Return the number of a column: 1 for A, 27 for AA."""
    number = 0
    for letter in letters.upper():
        number = number * 26 + letter - 64
    return number
